"""One migrated database that the xdist workers of a session copy: migrations take each 9 s of processor time."""

from contextlib import suppress

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import sql


def template_name(run):
    """Return the database that the workers of a run copy; runs at once on one server have their own."""
    return f"drivecert_template_{run}"


def copy_template(name):
    """Let the test database be made as a copy of a migrated one, which whoever comes first makes."""
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtext(%s))", [name])  # until this connection closes
        if not connection.creation._database_exists(cursor, name):
            try:
                migrate_into(name)
            except BaseException:  # also an interrupt: the next worker would copy half of it
                drop_template(name)
                raise
    connection.settings_dict["TEST"]["TEMPLATE"] = name


def migrate_into(name):
    """Make a migrated database, and leave no connection to it: none may be open where it is copied."""
    named = connection.settings_dict
    before, own = named["NAME"], named["TEST"]["NAME"]
    named["TEST"]["NAME"] = name
    try:
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    finally:
        connection.close()
        named["NAME"], named["TEST"]["NAME"] = before, own


def drop_template(name):
    """Take the template away; where no server answers there is none, and the tests have said what is wrong."""
    with (
        suppress(psycopg.OperationalError),
        psycopg.connect(settings.DATABASE_URL, dbname="postgres", autocommit=True) as maintenance,
    ):
        maintenance.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
