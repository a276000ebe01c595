"""Backup and restore of a register with many submissions, and the faults that a restore must name.

    python -m benchmarks.restore [--submissions 10000]

A register of its own reads the logs; a second data directory gets the restored one. The result is in
benchmarks/results/restore.md.
"""

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT, ROOT / "benchmarks"):
    sys.path.insert(0, str(folder))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

import django  # noqa: E402

django.setup()

from account_measures.site import Row  # noqa: E402
from django.db import connection  # noqa: E402

from results.ingest.queue import sweep  # noqa: E402
from results.intake.submissions import accept_submission  # noqa: E402
from results.models import Organisation, Reading  # noqa: E402
from tests.register import WITHOUT_SNAPSHOTS, Register  # noqa: E402
from tests.results.builders import FACTS, log_bytes  # noqa: E402
from webapp.embedded import Postgres  # noqa: E402
from webapp.supervisor.data_directory import DataDirectory  # noqa: E402

RESULT = ROOT / "benchmarks/results/restore.md"
CASES = ("four-us", "commit-us", "burst-cmp-disk-t10")  # of tests/data/act/6.6
ORGANISATIONS = 10
FAULTS = {
    "flipped bit": "objects/.*: damaged: expected",
    "missing file": "objects/.*: missing: expected",
    "truncated dump": "database.dump: damaged: expected",
}
DONE = re.compile(r"done in ([\d.]+) minutes.*?([\d.]+) MB/s")


def load(submissions: int) -> None:
    """Send logs to the register of this process's environment, and read them."""
    columns = {"kind": Organisation.Kind.VENDOR, "confirmed_at": "2026-01-01T00:00Z"}
    names = [f"sender-{number}" for number in range(ORGANISATIONS)]
    senders = [Organisation.objects.create(slug=name, name=name, **columns) for name in names]
    logs = [log_bytes(case) for case in CASES]
    for number in range(submissions):
        content = logs[number % len(logs)] + b"\n" * (number // len(logs))  # each log has bytes of its own
        sender = senders[number % len(senders)]
        accept_submission(sender, io.BytesIO(content), f"{number}.log", FACTS, "form", None)
    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as threads:
        list(threads.map(lambda _: read_all(), range(len(os.sched_getaffinity(0)))))


def read_all() -> None:
    """Read logs until none waits. Several threads share them by the locks of the queue."""
    while Reading.objects.unfinished().exists():
        sweep()
    connection.close()


def measure(register: Any, directory: Path, submissions: int) -> Iterator[Row]:
    """Fill a register that is stopped, with its PostgreSQL alone; back it up, and restore it elsewhere."""
    repository = directory / "repository"
    server = Postgres(DataDirectory(register.data_dir))
    try:
        server.start()
        served = {"DATABASE_URL": server.url, "REDIS_URL": "redis+socket:///nowhere/redis.sock"}
        command = [sys.executable, "-m", "benchmarks.restore", "--load", str(submissions)]
        subprocess.run(command, cwd=ROOT, env=register.environment() | served, check=True, stderr=subprocess.DEVNULL)
        backup = register.run_command("backup", str(repository), **served)
    finally:
        server.child.stop()
        server.directory.remove_sockets()
    minutes, rate = _done(backup)
    megabytes = sum(path.stat().st_size for path in repository.rglob("*") if path.is_file()) / 1e6
    found = f"{minutes} minutes for {megabytes:.0f} MB, evidence at {rate} MB/s"
    yield Row(f"backup of {submissions} submissions", "exit status 0", found, backup.returncode == 0)

    def restore(to: str, *options: str) -> Any:
        return register.run_command("restore", str(repository), *options, DRIVECERT_DATA=str(directory / to))

    restored = restore("restored")
    minutes, rate = _done(restored)
    counts = re.search(r"read again: .*", restored.stdout)
    is_equal = restored.returncode == 0 and f"read again: {submissions:,} logs" in restored.stdout
    found = f"{minutes} minutes, evidence at {rate} MB/s; {counts.group() if counts else restored.stderr[-500:]}"
    yield Row(f"restore of {submissions} submissions", "every hash and verdict equal", found, is_equal)
    damage(repository)
    checked = restore("checked", "--check")
    for name, words in FAULTS.items():
        line = next((line for line in checked.stdout.splitlines() if re.search(words, line)), "nothing")
        found = line.replace(str(directory), "")
        yield Row(name, "named, exit status 1", found, checked.returncode == 1 and line != "nothing")


def damage(repository: Path) -> None:
    """Flip a bit of one file of evidence, remove another one, and cut off half of the dump."""
    flipped, gone = sorted(repository.glob("objects/plain/??/??/*"))[:2]
    content = bytearray(flipped.read_bytes())
    content[len(content) // 2] ^= 1
    flipped.write_bytes(content)
    gone.unlink()
    dump = next(repository.glob("backups/*/database.dump"))
    os.truncate(dump, dump.stat().st_size // 2)


def _done(done: Any) -> tuple[str, str]:
    match = DONE.search(done.stdout)
    if match is None:
        raise RuntimeError(f"expected the end of a backup or restore, got {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return match.group(1), match.group(2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=10_000)
    parser.add_argument("--load", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.load:
        load(options.load)
        return
    from accounts import conditions, write  # noqa: PLC0415 - it needs Playwright, which a test of this file does not

    stated = conditions()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o711)
        register: Any = Register(directory / "var", **WITHOUT_SNAPSHOTS)  # type: ignore[no-untyped-call]
        try:
            register.start_and_wait()
            register.stop()
            rows = list(measure(register, directory, options.submissions))
        finally:
            register.end()
            shutil.rmtree(directory / "restored", ignore_errors=True)
    for row in rows:
        print(f"{row.measure}: {row.found} ({'met' if row.is_met else 'NOT MET'})")
    write(rows, stated, RESULT)
    sys.exit(not all(row.is_met for row in rows))


if __name__ == "__main__":
    main()
