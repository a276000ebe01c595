"""Migrations: complete, and each can be reversed and applied again."""

import subprocess

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from results.models import Profile
from tests.quick_states import as_django_does
from webapp.backup.database import server_version
from webapp.embedded import find_program


@pytest.mark.django_db
def test_every_model_change_has_its_migration():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_all_tables_can_be_dropped_and_created_again_with_one_profile():
    """The step that adds the profile runs again over the row that its reversal left.

    The tables are created as a register does it, and are the same as those that tests/quick_states.py made.
    """
    before = schema()
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()  # also of the apps that depend on these
    for step in ("0002_append_only", "0003_operational_database_1"):
        MigrationExecutor(connection).migrate([("results", step)])
        assert profiles_count() == 1
    MigrationExecutor(connection).migrate([("runners", None), ("accounts", "0001_user"), ("results", None)])
    assert "results_run" not in connection.introspection.table_names()
    with as_django_does():
        MigrationExecutor(connection).migrate(newest)
    assert schema() == before
    assert Profile.objects.filter(name="operational-database", rule_version=1).count() == profiles_count() == 1


def profiles_count():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM results_profile")
        return cursor.fetchone()[0]


def schema():
    """Return the lines of the database's schema that describe tables, constraints, indexes and triggers."""
    stated = connection.settings_dict
    command = [find_program("pg_dump", server_version().split()[0]), "--schema-only", stated["NAME"]]
    environment = {"PGHOST": stated["HOST"], "PGPORT": str(stated["PORT"]), "PATH": "/usr/bin:/bin"}
    environment |= {"PGUSER": stated["USER"], "PGPASSWORD": stated["PASSWORD"]}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if not line.startswith(("--", "\\"))]
