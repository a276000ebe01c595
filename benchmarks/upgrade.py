"""Upgrade of a large register from the previous release, and its starts: waits for locks, and seconds.

    python -m benchmarks.upgrade [--runs 100000] [--products 10000] [--hosts 1000]

A register of its own is filled, and its database is taken back to the schema of the previous release
(tests/previous_release.py). While the migrations of this release run, a session for each large table takes the locks of
a reader and of a writer, again and again. The result is in benchmarks/results/upgrade.md.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT, ROOT / "benchmarks"):
    sys.path.insert(0, str(folder))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

import django  # noqa: E402

django.setup()

import psycopg  # noqa: E402
from account_measures.site import Row  # noqa: E402
from psycopg.sql import SQL, Identifier  # noqa: E402

from tests import previous_release  # noqa: E402
from tests.register import Register  # noqa: E402
from webapp.embedded import Postgres  # noqa: E402
from webapp.supervisor.data_directory import DataDirectory  # noqa: E402

RESULT = ROOT / "benchmarks/results/upgrade.md"
LOCK_S, SECOND_START_S = 2.0, 8.0
PACKAGES = ("results", "runners", "webapp")
LARGE_ROWS = 1000  # tables from this size on have a session of their own; others take turns
PAUSE_S = 0.02
NAMED = 3  # tables with the longest waits
COUNTS = "SELECT relname, n_live_tup FROM pg_stat_user_tables WHERE schemaname = 'public'"
ROW = SQL("SELECT id FROM {table} WHERE id >= (SELECT max(id) * %s FROM {table}) ORDER BY id LIMIT 1 FOR UPDATE")
WITH_NUMBERS = """
SELECT table_name FROM information_schema.columns
WHERE table_schema = 'public' AND column_name = 'id' AND data_type = 'bigint'
"""


class LockProbe(threading.Thread):
    """A session that takes the locks of a reader and of a writer of some tables, with the longest wait of each."""

    def __init__(self, url: str, tables: Sequence[str], with_rows: frozenset[str]) -> None:
        super().__init__()
        self.url, self.tables, self.with_rows = url, tables, with_rows
        self.longest_s: dict[str, float] = {}
        self.ended = threading.Event()

    def run(self) -> None:
        """Take the locks in turn until the end is set."""
        chosen = random.Random(1)  # noqa: S311 - rows to lock, no secret
        with psycopg.connect(self.url) as session:
            while not self.ended.wait(PAUSE_S):
                for table in self.tables:
                    begun = time.monotonic()
                    self._take(session, table, chosen.random())
                    self.longest_s[table] = max(self.longest_s.get(table, 0.0), time.monotonic() - begun)

    def _take(self, session: psycopg.Connection, table: str, part: float) -> None:
        """Lock a table as a reader and as a writer, and one of its rows; give all locks back."""
        for mode in ("ACCESS SHARE", "ROW EXCLUSIVE"):
            session.execute(SQL("LOCK TABLE {} IN {} MODE").format(Identifier(table), SQL(mode)))
        if table in self.with_rows:
            session.execute(ROW.format(table=Identifier(table)), [part])
        session.rollback()


@contextmanager
def probes(url: str) -> Iterator[dict[str, float]]:
    """Probe every table meanwhile, those that are known as large in sessions of their own.

    Yield the longest wait of each, s, which is filled at the end.
    """
    with psycopg.connect(url) as session:
        counts: dict[str, int] = dict(session.execute(COUNTS).fetchall())
        with_rows = frozenset(name for (name,) in session.execute(WITH_NUMBERS))
    large = [[name] for name, rows in counts.items() if rows >= LARGE_ROWS]
    small = [name for name, rows in counts.items() if rows < LARGE_ROWS]
    threads = [LockProbe(url, tables, with_rows) for tables in [*large, small]]
    longest_s: dict[str, float] = {}
    for thread in threads:
        thread.start()
    try:
        yield longest_s
    finally:
        for thread in threads:
            thread.ended.set()
        for thread in threads:
            thread.join()
            longest_s |= thread.longest_s
        missed = [table for thread in threads for table in thread.tables if table not in longest_s]
        if missed:
            raise RuntimeError(f"expected probes of every table, found none of {', '.join(missed)}")


def last_migrations(tree: Path) -> dict[str, str]:
    """Return the last migration of each of our apps in a source tree."""
    paths = (path for package in PACKAGES for path in (tree / package).glob("**/migrations/[0-9]*.py"))
    return {path.parent.parent.name: path.stem for path in sorted(paths)}


def go_back() -> int:
    """Take the database back to the schema of the previous release; return the number of migrations since."""
    from django.core.management import call_command  # noqa: PLC0415 - only a process of its own uses the database
    from django.db import connection  # noqa: PLC0415
    from django.db.migrations.recorder import MigrationRecorder  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as name:
        previous = last_migrations(previous_release.extract(Path(name)))
    recorder = MigrationRecorder(connection)
    applied = len(recorder.applied_migrations())
    for app, _ in last_migrations(ROOT).items() - previous.items():
        call_command("migrate", app, previous.get(app, "zero"), verbosity=0)
    return applied - len(recorder.applied_migrations())


def upgrade(register: Any, sizes: Sequence[int]) -> Iterator[Row]:
    """Fill a register that is stopped, with its PostgreSQL alone, and upgrade it from the previous release."""
    server = Postgres(DataDirectory(register.data_dir))
    try:
        server.start()
        served = {"DATABASE_URL": server.url, "REDIS_URL": "redis+socket:///nowhere/redis.sock"}
        environment = register.environment() | served
        _printed_by("benchmarks.scale", "--fill", *map(str, sizes), environment=environment)
        migrations = int(_printed_by("benchmarks.upgrade", "--back", environment=environment))
        with psycopg.connect(server.url, autocommit=True) as session:
            session.execute("ANALYZE")
        with probes(server.url) as longest_s:
            begun = time.monotonic()
            done = register.run_command("migrate", **served)
            taken_s = time.monotonic() - begun
    finally:
        server.child.stop()
        server.directory.remove_sockets()
    found = f"{migrations} migrations in {taken_s:.1f} s, exit status {done.returncode}"
    yield Row(f"upgrade with {sizes[0]:,} runs", "exit status 0", found, migrations > 0 and done.returncode == 0)
    waits = sorted(longest_s.items(), key=lambda each: -each[1])
    found = ", ".join(f"{table} {wait_s:.2f} s" for table, wait_s in waits[:NAMED])
    row = f"longest waits for the locks of a reader and a writer, of {len(waits)} tables"
    yield Row(row, f"at most {LOCK_S:.0f} s", found, waits[0][1] <= LOCK_S)


def _printed_by(module: str, *arguments: str, environment: dict[str, str]) -> str:
    """Return what a benchmark prints in a process of its own."""
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def starts(register: Any, runs: int) -> Iterator[Row]:
    """Start the register twice as a user does, and stop it."""
    for name, most_s in (("first start after the upgrade", None), ("second start", SECOND_START_S)):
        begun = time.monotonic()
        register.start_and_wait()
        taken_s = time.monotonic() - begun
        status = register.stop()
        wanted = f"at most {most_s:.0f} s" if most_s else "-"
        found, is_met = f"{taken_s:.1f} s, exit status {status}", status == 0 and taken_s <= (most_s or taken_s)
        yield Row(f"{name} with {runs:,} runs", wanted, found, is_met)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--products", type=int, default=10_000)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--back", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.back:
        print(go_back())
        return
    from accounts import conditions, write  # noqa: PLC0415 - it needs Playwright, which a test of this file does not

    stated = conditions()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o711)
        register: Any = Register(directory / "var")  # type: ignore[no-untyped-call]
        try:
            register.start_and_wait()
            register.stop()
            rows += upgrade(register, (options.runs, options.products, options.hosts))
            rows += starts(register, options.runs)
        finally:
            register.end()
    for row in rows:
        print(f"{row.measure}: {row.found} ({'met' if row.is_met else 'NOT MET'})")
    write(rows, stated, RESULT)
    sys.exit(not all(row.is_met for row in rows))


if __name__ == "__main__":
    main()
