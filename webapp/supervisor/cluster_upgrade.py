"""Continued use of a PostgreSQL cluster that an earlier release of the register created.

Before the start, `check_cluster` compares the cluster's format with the installed binaries and changes nothing.
After the start, `refresh_collations` rebuilds the indexes whose sort order may have changed.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import psycopg
from psycopg import sql

from webapp.supervisor.errors import CannotStartError

# What pg_controldata prints for every cluster that PostgreSQL 18 of the wheel can serve. "Default char data
# signedness" is absent: PostgreSQL 18 reads clusters of both kinds.
EXPECTED_FORMAT = {
    "pg_control version number": ("1800",),
    "Catalog version number": ("202506291",),
    "Maximum data alignment": ("8",),
    "Database block size": ("8192",),
    "Blocks per segment of large relation": ("131072",),
    "WAL block size": ("8192",),
    "Maximum length of identifiers": ("64",),
    "Maximum columns in an index": ("32",),
    "Maximum size of a TOAST chunk": ("1996",),
    "Size of a large-object chunk": ("2048",),
    "Date/time type storage": ("64-bit integers",),
    "Float8 argument passing": ("by value",),
    "Data page checksum version": ("0", "1"),  # both are served: 0 is a cluster without checksums
}
MOVE_REMEDY = (
    "The cluster is unchanged. Start the release that created it, dump the database with pg_dump, move the directory "
    "away, start this release and restore the dump (docs/how-to/upgrade-the-register.md)"
)
RESTORE_REMEDY = (
    "The cluster is unchanged. Restore the directory from a backup, or move it away to begin with an empty one"
)

# A collation without a version (null) never counts as different.
OUTDATED_DATABASES = """
    SELECT datname FROM pg_database
    WHERE datallowconn AND datcollversion <> pg_database_collation_actual_version(oid)
    ORDER BY datname
"""


def check_cluster(binaries: Path, cluster: Path) -> None:
    """Raise CannotStartError if the binaries cannot serve the cluster. Change nothing in it."""
    _check_major_version(binaries, cluster)
    found = read_control_data(binaries, cluster)
    differences = [
        f"{name}: expected {' or '.join(expected)}, found {found.get(name, 'nothing')}"
        for name, expected in EXPECTED_FORMAT.items()
        if found.get(name) not in expected
    ]
    if differences:
        raise CannotStartError(
            f"{cluster}: the installed PostgreSQL cannot serve this cluster. {'; '.join(differences)}. {MOVE_REMEDY}"
        )


def refresh_collations(connect: Callable[[str], psycopg.Connection], report: Callable[[str], None]) -> None:
    """Rebuild the indexes of each database whose collation version changed, then record the new version.

    `connect` opens an autocommit connection to the named database. An interrupted rebuild is repeated at the next
    start, because the version is recorded last.
    """
    with connect("postgres") as connection:
        databases = [name for (name,) in connection.execute(OUTDATED_DATABASES)]
    for database in databases:
        report(f"rebuilding the indexes of database {database}: the version of its collation changed")
        name = sql.Identifier(database)
        try:
            with connect(database) as connection:
                connection.execute(sql.SQL("REINDEX DATABASE {}").format(name))
                connection.execute(sql.SQL("ALTER DATABASE {} REFRESH COLLATION VERSION").format(name))
        except psycopg.Error as error:
            raise CannotStartError(
                f"database {database}: its indexes could not be rebuilt: {error}. No row was changed. "
                "Fix this cause and start again: the rebuild is repeated"
            ) from error


def _check_major_version(binaries: Path, cluster: Path) -> None:
    version_file = cluster / "PG_VERSION"
    if not version_file.exists():
        raise CannotStartError(f"{cluster}: PG_VERSION is missing, so this is no complete cluster. {RESTORE_REMEDY}")
    output = subprocess.run([binaries / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    expected = output.split()[2].split(".")[0]  # of "postgres (PostgreSQL) 18.1"
    found = version_file.read_text().strip()
    if found != expected:
        raise CannotStartError(
            f"{cluster}: created by PostgreSQL {found}, but PostgreSQL {expected} is installed. {MOVE_REMEDY}"
        )


def read_control_data(binaries: Path, cluster: Path) -> dict[str, str]:
    """Return what pg_controldata prints about a cluster, by name."""
    done = subprocess.run(
        [binaries / "pg_controldata", "-D", cluster],
        env=os.environ | {"LC_ALL": "C"},  # the names below are the untranslated ones
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 or done.stderr:  # a damaged file is a warning, with exit status 0
        problem = "; ".join(done.stderr.splitlines()).removesuffix(".")
        raise CannotStartError(f"{cluster}: global/pg_control cannot be read: {problem}. {RESTORE_REMEDY}")
    pairs = (line.partition(":") for line in done.stdout.splitlines())
    return {name: value.strip() for name, _, value in pairs}
