"""The intake of a log, from its last byte to its run page: times, memory of the worker, size in the database.

Needs DATABASE_URL (a PostgreSQL where it may create and drop its own database) and the built drivetest. The
worker is a separate process with the modules of a Celery worker; its peak memory is the kernel's figure.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

import django  # noqa: E402 - the settings are named above, and the models below need them

django.setup()

import zstandard  # noqa: E402
from django.apps import apps  # noqa: E402
from django.conf import settings  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.test import Client  # noqa: E402

import webapp.celery  # noqa: E402, F401 - loaded by every worker
from results import tasks  # noqa: E402, F401 - as above
from results.access.intervals import (  # noqa: E402
    intervals,
    minutes_of,
    seconds_of,
)
from results.access.links import renew_link  # noqa: E402
from results.evidence.store import prepare_store  # noqa: E402
from results.ingest import queue as ingest_queue  # noqa: E402
from results.intake.submissions import SubmissionMetadata, accept_submission  # noqa: E402
from results.models import Organisation, Run  # noqa: E402
from results.reader import process as reader_process  # noqa: E402

RUNS_MANY = 1000


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    answer = work()
    return time.perf_counter() - begin, answer


def worker(reading_id: int) -> None:
    """Read one log as the Celery worker does, and print time and memory."""
    reader_process.reader_version()
    idle_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, _ = timed(lambda: ingest_queue.read_one(reading_id))
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "idle_kib": idle_kib, "peak_kib": peak_kib}))


@contextmanager
def separate_register() -> Iterator[Path]:
    """Set up Django over an empty database and an empty evidence directory."""
    with tempfile.TemporaryDirectory(prefix="drivecert-bench-", dir=os.environ.get("BENCH_DIR")) as directory:
        os.environ["DRIVECERT_DATA"] = directory  # of the workers
        settings.EVIDENCE_DIR = Path(directory) / "evidence"
        prepare_store(is_new=True)
        name = connection.settings_dict["NAME"]
        connection.creation.create_test_db(verbosity=0, autoclobber=True)
        os.environ["DATABASE_URL"] = os.environ["DATABASE_URL"].replace(f"/{name}", f"/test_{name}", 1)
        try:
            yield Path(directory)
        finally:
            connection.creation.destroy_test_db(name, verbosity=0)


def submit_and_read(log: Path, number: int) -> dict[str, Any]:
    """Submit a log as a new organisation, and measure until its run page."""
    vendor = Organisation.objects.create(
        slug=f"bench-{number}", name=f"Bench {number}", kind="vendor", confirmed_at="2026-01-01T00:00Z"
    )
    with log.open("rb") as stream:
        store_s, receipt = timed(
            lambda: accept_submission(vendor, stream, log.name, SubmissionMetadata(), "form", None)
        )
    reading_id = receipt.submission.log.readings.get().pk
    command = [sys.executable, __file__, "--worker", str(reading_id)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    reading: dict[str, Any] = json.loads(output.splitlines()[-1])
    run = Run.objects.filter(submission=receipt.submission).first()
    if run is None:
        sys.exit(f"{log}: not read: {receipt.submission.log.readings.get().error}")
    page = f"/runs/{run.public_id}/?key={renew_link(receipt.submission, None)}"
    page_s, answer = timed(lambda: Client().get(page, headers={"host": "localhost"}))
    if answer.status_code != 200:
        sys.exit(f"{page}: expected 200; got {answer.status_code}")
    return reading | {"store_s": store_s, "page_s": page_s, "run": run, "vendor": vendor}


def sizes(run: Any) -> dict[str, int]:
    """Return the bytes of the run's packed series, as stored and as packed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_column_size(packed), length(packed) FROM results_series WHERE run_id = %s", [run.pk])
        stored, packed = cursor.fetchone() or (0, 0)
    return {"stored": stored, "packed": packed}


def among_many(table: str) -> dict[str, float]:
    """Return the bytes a run of a table's rows and of its indexes, among RUNS_MANY similar runs.

    In a table of a few runs, the fixed pages of the table and its indexes are larger than the rows.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMP TABLE many (LIKE {table} INCLUDING ALL)")
        cursor.execute("SELECT string_agg(attname, ', ') FROM pg_attribute WHERE attrelid = 'many'::regclass "
                       "AND attnum > 0 AND attname NOT IN ('id', 'run_id')")  # fmt: skip
        ((columns,),) = cursor.fetchall()
        cursor.execute(f"SELECT count(DISTINCT run_id) FROM {table}")  # noqa: S608 - named in measure()
        ((runs,),) = cursor.fetchall()
        copies = RUNS_MANY // runs
        cursor.execute(
            f"INSERT INTO many (run_id, {columns}) SELECT run_id + copy * 1000000, {columns} "  # noqa: S608 - as above
            f"FROM {table}, generate_series(1, %s) AS copy",
            [copies],
        )
        cursor.execute("SELECT pg_table_size('many'), pg_indexes_size('many')")
        ((rows, indexes),) = cursor.fetchall()
        cursor.execute("DROP TABLE many")
    return {"rows": rows / copies / runs, "indexes": indexes / copies / runs}


def parts() -> Iterator[tuple[str, int, int]]:
    """Yield the name of each table below a run and of its indexes, with their bytes and the rows of the table."""
    for name in ("slice", "series", "histogram", "share", "finding", "verdict"):
        table = f"results_{name}"
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*), pg_table_size('{table}') FROM {table}")  # noqa: S608 - names of above
            rows, size = cursor.fetchone()
            yield table, size, rows
            cursor.execute(
                "SELECT indexrelid::regclass::text, pg_relation_size(indexrelid) FROM pg_index "
                "WHERE indrelid = %s::regclass ORDER BY 1",
                [table],
            )
            yield from ((f"  {index}", index_size, rows) for index, index_size in cursor.fetchall())


def plain_sizes(run: Any) -> dict[str, int]:
    """Return the sizes of the plain differences in the simplest layouts, compressed with zstd -19."""
    minutes = list(intervals(minutes_of(run), 0, 10**9))
    rows = [counts or [] for minute in minutes for counts in minute.counts]
    layouts = {
        "as text": "\n".join(" ".join(map(str, row)) for row in rows).encode(),
        "as 8-byte numbers": b"".join(count.to_bytes(8, "little") for row in rows for count in row),
        "as varints": b"".join(_varint(count) for row in rows for count in row),
        "by bucket, as varints": _by_bucket([minute.counts for minute in minutes]),
    }
    packer = zstandard.ZstdCompressor(level=19)
    return {name: len(packer.compress(plain)) for name, plain in layouts.items()}


def _by_bucket(minutes: list[list[list[int] | None]]) -> bytes:
    """Return each histogram's counts of one bucket after the other, all minutes of a bucket together."""
    columns = [
        [counts[bucket] if counts and bucket < len(counts) else 0 for counts in histogram]
        for histogram in zip(*minutes, strict=True)
        for bucket in range(max(len(counts or []) for counts in histogram))
    ]
    return b"".join(_varint(count) for column in columns for count in column)


def _varint(number: int) -> bytes:
    groups = [number >> shift & 0x7F for shift in range(0, max(number.bit_length(), 1), 7)]
    return bytes(group | 0x80 for group in groups[:-1]) + bytes([groups[-1]])


def reread_s(run: Any) -> float:
    """Return the time to read the last hour's seconds from the log again and to unpack them."""
    end_s = run.facts["reached_s"]
    return timed(lambda: list(intervals(seconds_of(run, end_s - 3600, end_s), 0, 10**9)))[0]


def measure(log: Path, times: int) -> None:
    with separate_register():
        runs = [submit_and_read(log, number) for number in range(times)]
        run = runs[-1]["run"]
        reread = [reread_s(run) for _ in range(times)]
        stored, plain, tables = sizes(run), plain_sizes(run), list(parts())
        many = {name: among_many(f"results_{name}") for name in ("series", "slice")}
        repeat_s, rows = repeated(log, runs[-1]["vendor"])
    whole = [each["store_s"] + each["seconds"] + each["page_s"] for each in runs]
    print(f"\n{log.name}: {log.stat().st_size / 1e6:.0f} MB, {times} times: median (least - most)")
    for name, values in [
        ("store, hash and sync", [each["store_s"] for each in runs]),
        ("worker: read, judge, write rows", [each["seconds"] for each in runs]),
        ("run page", [each["page_s"] for each in runs]),
        ("received to run page", whole),
        ("an hour of seconds, read again", reread),
    ]:
        print(f"{name:34}{statistics.median(values):8.3f} s ({min(values):.3f} - {max(values):.3f})")
    for name, key in [
        ("worker, idle", "idle_kib"),
        ("worker, peak", "peak_kib"),
    ]:
        print(f"{name:34}{max(each[key] for each in runs) / 1024:8.1f} MiB")
    print(f"{'sent again':34}{repeat_s:8.3f} s, {rows} rows more")
    print(f"{'minutes in the database':34}{stored['stored']:8} bytes in the column, {stored['packed']} packed")
    for name, size in plain.items():
        print(f"{'  zstd -19, ' + name:34}{size:8} bytes, ratio {stored['stored'] / size:.2f}")
    for name, each in many.items():
        print(f"{name + f', a run of {RUNS_MANY}':34}{each['rows']:8.0f} bytes, indexes {each['indexes']:.0f}")
    total = sum(sum(each.values()) for each in many.values())
    print(f"{'both':34}{total:8.0f} bytes, ratio {total / min(plain.values()):.2f} to the least of the above")
    for name, size, rows in tables:
        print(f"  {name:60}{size / times:10.0f} bytes a run, {rows / times:.0f} rows")


def repeated(log: Path, vendor: Any) -> tuple[float, int]:
    """Submit the same bytes again; return the time and the number of new rows."""

    def count() -> int:
        tables: list[type[models.Model]] = list(apps.get_app_config("results").get_models())
        return sum(table._default_manager.count() for table in tables)

    before = count()
    with log.open("rb") as stream:
        seconds, _ = timed(
            lambda: (
                accept_submission(vendor, stream, log.name, SubmissionMetadata(), "form", None),
                ingest_queue.sweep(),
            )
        )
    return seconds, count() - before


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("log", nargs="?", type=Path, help="default: a made-up day of four devices")
    arguments.add_argument("--times", type=int, default=5)
    arguments.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.worker is not None:
        worker(options.worker)
    elif options.log is not None:
        measure(options.log, options.times)
    else:
        with tempfile.NamedTemporaryFile(suffix=".log") as made:
            maker = [sys.executable, str(HERE / "make_log.py"), "--hours", "24", "--devices", "4"]
            subprocess.run(maker, check=True, stdout=made)
            measure(Path(made.name), options.times)


if __name__ == "__main__":
    main()
