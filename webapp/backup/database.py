"""The dump of the database at one snapshot, and its restore, by the programs of PostgreSQL."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Any

from django.db import connection, connections
from django.db.migrations.loader import MigrationLoader
from psycopg.conninfo import make_conninfo

from results.evidence.references import references_query
from webapp.backup.errors import BackupError
from webapp.embedded import find_program

COUNTED = {"submissions": "results_submission", "runs": "results_run", "verdicts": "results_verdict",
           "organisations": "results_organisation", "users": "accounts_user"}  # fmt: skip


@dataclass(frozen=True)
class Snapshot:
    """One moment of the database: its exported name, and what the rows of that moment refer to."""

    name: str
    references: list[tuple[str, int]]
    rows: dict[str, int]


@contextmanager
def snapshot() -> Iterator[Snapshot]:
    """Export a snapshot in a session of its own. Every session that imports it sees exactly the same rows."""
    session = connections["default"].copy()
    try:
        with session.cursor() as cursor:
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            (name,) = cursor.fetchone()
            cursor.execute(references_query())
            references = [(str(sha256), int(size_bytes)) for sha256, size_bytes in cursor.fetchall()]
            rows = {}
            for label, table in COUNTED.items():
                cursor.execute(f"SELECT count(*) FROM {table}")  # noqa: S608 - names of own tables
                rows[label] = int(cursor.fetchone()[0])
            yield Snapshot(name, references, rows)
    finally:
        session.close()


@contextmanager
def dump_of(snapshot_name: str) -> Iterator[IO[bytes]]:
    """Yield the output of pg_dump at a snapshot. Raises BackupError at the end if it is not complete."""
    program = find_program("pg_dump", server_version().split()[0])
    command = [str(program), "--format=custom", f"--snapshot={snapshot_name}", "--no-owner"]
    with tempfile.TemporaryFile() as problems:
        dump = subprocess.Popen([*command, _conninfo()], stdout=subprocess.PIPE, stderr=problems, env=_environment())
        assert dump.stdout is not None  # noqa: S101 - for the type checker
        with ExitStack() as unless_read:
            unless_read.callback(dump.wait)
            unless_read.callback(dump.kill)  # before the wait
            with dump.stdout:
                yield dump.stdout
            unless_read.pop_all()
        if dump.wait() != 0:
            raise BackupError(f"pg_dump failed with status {dump.returncode}: {_text(problems)}")


def restore_dump(dump: IO[bytes]) -> None:
    """Restore a dump into the empty database in one transaction: whole or not at all."""
    command = [str(find_program("pg_restore")), "--single-transaction", "--exit-on-error", "--no-owner"]
    command += ["--no-privileges", f"--dbname={_conninfo()}"]
    done = subprocess.run(command, stdin=dump, stderr=subprocess.PIPE, env=_environment(), check=False)
    if done.returncode != 0:
        problem = done.stderr.decode(errors="replace").strip()
        raise BackupError(f"pg_restore failed with status {done.returncode}; the database is still empty: {problem}")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def tables_count() -> int:
    """Return how many tables the database has."""
    return len(connection.introspection.table_names())


def migrations() -> list[str]:
    """Return the migrations that the database has applied."""
    loader = MigrationLoader(connection)
    return sorted(f"{app}.{name}" for app, name in loader.applied_migrations)


def unknown_migrations(applied: list[str]) -> list[str]:
    """Return those that this release does not have. Replaced migrations may be missing for good: their app is known."""
    known = {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}
    own = {name.partition(".")[0] for name in known}
    return [name for name in applied if name not in known and name.partition(".")[0] in own]


def server_version() -> str:
    """Return the version of PostgreSQL that serves the database."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        return str(cursor.fetchone()[0])


def _conninfo() -> str:
    """Return the address without the password, which every user could read in the list of processes."""
    settings: dict[str, Any] = connection.settings_dict
    names = {"dbname": "NAME", "user": "USER", "host": "HOST", "port": "PORT"}
    stated = {name: str(settings[key]) for name, key in names.items() if settings[key]}
    options = {name: value for name, value in settings["OPTIONS"].items() if isinstance(value, str)}
    return make_conninfo("", **stated, **options)


def _environment() -> dict[str, str]:
    password = connection.settings_dict["PASSWORD"]
    return os.environ | ({"PGPASSWORD": password} if password else {})


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace").strip()
