"""Databases that the workers of a session copy: a migrated one, and one that also has the published catalogue.

Migrations take 9 s of processor time, and an import of the catalogue 0.2 s.
"""

from contextlib import contextmanager, suppress
from functools import cache

import psycopg
from django.conf import settings
from django.db import connection, connections, transaction
from psycopg import sql

from results.catalogue.importer import import_catalogue


def template_name(run):
    """Return the database that the workers of a run copy; concurrent runs on one server have separate ones."""
    return f"drivecert_template_{run}"


def catalogue_name(template):
    """Return the name of the session's database with the catalogue."""
    return f"{template}_catalogue"


def copy_template(name):
    """Make the test database a copy of a migrated one, which the first worker makes."""
    with lock(name) as cursor:
        if not connection.creation._database_exists(cursor, name):
            try:
                migrate_into(name)
            except BaseException:  # also an interrupt: the next worker would copy half of it
                drop_template(name)
                raise
    connection.settings_dict["TEST"]["TEMPLATE"] = name


@contextmanager
def lock(name):
    """Yield a cursor that no other worker of the session has at the same time."""
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtext(%s))", [name])  # until this connection closes
        yield cursor


def copy(cursor, source, name):
    """Copy a database, to which no connection may be open."""
    cursor.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(source)))


class CatalogueDatabase:
    """A worker's database with the catalogue: a copy of the session's one, made when the first test needs it.

    Each test works in a transaction that is rolled back. Meanwhile its connection replaces that of the test database.
    """

    def __init__(self, template, worker):
        self.imported, self.name = catalogue_name(template), f"{template}_cat_{worker}"
        self.connection = connections.create_connection("default")
        self.connection.settings_dict = self.connection.settings_dict | {"NAME": self.name}
        with lock(self.imported) as cursor:
            if not connection.creation._database_exists(cursor, self.imported):
                self._import(cursor, template)
            copy(cursor, self.imported, self.name)

    def _import(self, cursor, template):
        """Make the session's database; a session without workers has no template and copies its test database."""
        if not connection.creation._database_exists(cursor, template):
            connection.close()
            template = connection.settings_dict["NAME"]
        copy(cursor, template, self.name)
        with self._used():
            import_catalogue()
        self.connection.close()
        names = map(sql.Identifier, (self.name, self.imported))
        cursor.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(*names))

    @contextmanager
    def in_transaction(self):
        """Make Django use this database, and roll back all changes at the end."""
        with self._used():
            atomic = transaction.atomic()
            atomic._from_testcase = True  # as in TestCase, because the code under test may open a durable transaction
            with atomic:
                with self.connection.cursor() as cursor:
                    # The column store recognises unchanged data by the snapshot; two databases may have the same.
                    cursor.execute("SELECT pg_current_xact_id()")
                yield
                self.connection.check_constraints()
                transaction.set_rollback(True)

    @contextmanager
    def _used(self):
        usual = connections["default"]
        connections["default"] = self.connection
        try:
            yield
        finally:
            connections["default"] = usual

    def drop(self):
        """Close the connection and drop the worker's copy."""
        self.connection.close()
        drop_template(self.name)


# Their rows depend only on the models. Django's flush creates them anew each time.
KEPT_TABLES = {"django_migrations", "django_content_type", "auth_permission"}


def delete_committed_rows():
    """Delete all rows that a test committed.

    Django's flush truncates every table, which makes new files for each of them and for each of their indexes.
    """
    with connection.cursor() as cursor:
        tables = set(connection.introspection.django_table_names(only_existing=True, include_views=False)) - KEPT_TABLES
        cursor.execute(_query_for_filled(frozenset(tables)))
        filled = [name for (name,) in cursor.fetchall()]
        # Without triggers: neither foreign keys nor append-only tables refuse.
        cursor.execute("SET session_replication_role = replica")
        try:
            for name in filled:
                cursor.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))
        finally:
            cursor.execute("SET session_replication_role = DEFAULT")


@cache
def _query_for_filled(tables):
    """Return the query for those of the tables that have rows; making it takes longer than asking it."""
    one = sql.SQL("SELECT {} WHERE EXISTS (SELECT 1 FROM {})")
    return sql.SQL(" UNION ALL ").join(one.format(name, sql.Identifier(name)) for name in sorted(tables)).as_string()


def migrate_into(name):
    """Make a migrated database, and close all connections to it, because it is copied later."""
    named = connection.settings_dict
    before, own = named["NAME"], named["TEST"]["NAME"]
    named["TEST"]["NAME"] = name
    try:
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    finally:
        connection.close()
        named["NAME"], named["TEST"]["NAME"] = before, own


def drop_template(name):
    """Drop the template. Without a server there is none, and the tests have already reported the error."""
    with (
        suppress(psycopg.OperationalError),
        psycopg.connect(settings.DATABASE_URL, dbname="postgres", autocommit=True) as maintenance,
    ):
        maintenance.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def rows_read(work):
    """Return the rows of tables that PostgreSQL reads for some work, as it counts them in this transaction."""
    before = _rows_read()
    work()
    return _rows_read() - before


def _rows_read():
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables")
        return cursor.fetchone()[0]
