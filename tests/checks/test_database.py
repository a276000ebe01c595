"""The migrated database that the workers of a session copy, and its removal."""

import uuid

import pytest
from django.db import connection

from tests import database
from tests.database import copy_template, drop_template, template_name


def is_there(name):
    with connection._nodb_cursor() as cursor:
        return connection.creation._database_exists(cursor, name)


@pytest.mark.django_db
def test_the_first_worker_makes_the_template_and_the_end_drops_it(monkeypatch):
    name, made = template_name(uuid.uuid4().hex), []

    def make_empty(name):
        made.append(name)
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name}")

    monkeypatch.setattr(database, "migrate_into", make_empty)
    monkeypatch.setitem(connection.settings_dict["TEST"], "TEMPLATE", None)
    for _ in range(2):
        copy_template(name)
    assert (made, connection.settings_dict["TEST"]["TEMPLATE"], is_there(name)) == ([name], name, True)
    drop_template(name)
    assert not is_there(name)


@pytest.mark.django_db
def test_failed_migrations_leave_no_template(monkeypatch):
    name = template_name(uuid.uuid4().hex)

    def fail_half_way(name):
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name}")
        raise KeyboardInterrupt

    monkeypatch.setattr(database, "migrate_into", fail_half_way)
    with pytest.raises(KeyboardInterrupt):
        copy_template(name)
    assert not is_there(name)
