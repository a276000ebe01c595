"""The register's own programs during a benchmark: lab workers, a worker that reads logs, and Celery's scheduler."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

from webapp.supervisor.address import Address
from webapp.supervisor.supervisor import register_programs

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def workers() -> Iterator[None]:
    """Run two workers that poll dispatches, one that reads logs, and the scheduler, on the benchmark's database."""
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}:{database['PASSWORD']}@/{database['NAME']}?host={database['HOST']}"
    own = os.environ | {"DATABASE_URL": url, "PYTHONWARNINGS": "ignore"}  # Celery's, of being root
    address = Address("127.0.0.1", 8000)
    by_name = {program.name: program for program in register_programs(address, address, own)}
    programs = [by_name[name] for name in ("lab", "lab", "worker", "beat")]
    running = []
    for number, program in enumerate(programs):
        command = [word.replace("lab@%h", f"lab{number}@%h") for word in program.command]
        running.append(
            subprocess.Popen(
                command, cwd=ROOT, env=program.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
        )
    try:
        yield
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(30)
