"""Run pytest, and what few tests failed there once more by themselves: see docs/decisions/0010."""

import json
import subprocess
import sys
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")  # as pytest's own cache keeps it, below where pytest is started
MOST = 3  # more than that are no accident


def pytest(*arguments: str) -> int:
    """Return the exit status of a pytest of this interpreter: 0 all passed, 1 some failed, others see pytest."""
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


def without_group(name: str) -> str:
    """Return a test's name as it is typed; xdist puts `@` and the group behind it, and parameters may hold an `@`."""
    test, at, group = name.rpartition("@")
    return test if at and "]" not in group else name


def run_twice(arguments: list[str]) -> int:
    """Return 0 if all tests passed, or if each that failed passed by itself; these are named at the very end."""
    FAILED.unlink(missing_ok=True)
    status = pytest(*arguments)
    if status != 1 or not FAILED.exists():  # nothing failed, or it was no test that did
        return status
    failed = [without_group(name) for name in json.loads(FAILED.read_text())]
    if len(failed) > MOST:
        print(f"{len(failed)} tests failed, more than the {MOST} that are tried once more", flush=True)
        return status
    print(f"once more, with nothing beside: {' '.join(failed)}", flush=True)
    status = pytest(*failed)
    for name in failed if status == 0 else []:
        print(f"UNSTEADY {name}: failed beside others and passed by itself; find out why", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(run_twice(sys.argv[1:]))
