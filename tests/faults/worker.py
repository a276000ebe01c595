"""A real Celery worker with its scheduler, in a separate process group that can be killed as a whole."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

ROOT = Path(__file__).parent.parent.parent
KILLING_WRAPPER = """#!/bin/sh
# Wraps the real program and kills the calling worker once, at one moment.
read group < {group}
once() {{ ( set -C; : > {fired} ) 2>/dev/null; }}
if [ "{moment}" = "before $1" ] && once; then kill -9 "-$group"; fi
if [ "{moment}" = "after $1" ] && once; then {program} "$@"; kill -9 "-$group"; fi
exec {program} "$@"
"""


class Worker:
    """One worker at a time on the test's database; `data_dir` is the register's data directory."""

    def __init__(self, data_dir):
        self.data_dir = data_dir
        self.group = data_dir / "group"
        self.fired = data_dir / "fired"
        self.program = Path(settings.DRIVETEST)
        self.process: Any = None  # before the first start

    def kill_at(self, moment):
        """Kill the worker once around a command of drivetest: "before start", "after start", "before read"."""
        wrapper = self.data_dir / "drivetest"
        places = {"group": self.group, "fired": self.fired, "program": self.program, "moment": moment}
        wrapper.write_text(KILLING_WRAPPER.format(**places))
        wrapper.chmod(0o700)
        self.program = wrapper

    def start(self):
        command = [sys.executable, "-m", "celery", "-A", "webapp", "worker", "--concurrency", "1", "--beat",
                   "--scheduler", "webapp.deployment.beat:SteadyScheduler", "--loglevel", "INFO"]  # fmt: skip
        with (self.data_dir / "worker.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self._environment(), stdout=log, stderr=log, start_new_session=True
            )
        self.group.write_text(f"{self.process.pid}\n")

    def kill(self):
        """Kill the worker, its pool and its scheduler with SIGKILL if they run."""
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        finally:
            self.process.wait()

    def is_alive(self):
        return self.process.poll() is None

    def log(self):
        return (self.data_dir / "worker.log").read_text()

    def _environment(self):
        database = connection.settings_dict
        url = f"postgresql://{database['USER']}:{database['PASSWORD']}@/{database['NAME']}?host={database['HOST']}"
        own = {
            "DATABASE_URL": url,
            "REDIS_URL": settings.REDIS_URL,
            "DRIVECERT_DATA": str(self.data_dir),
            "DRIVETEST": str(self.program),
            "WATCH_PERIOD_S": "1",
            "SWEEP_PERIOD_S": "1",
            "DJANGO_SETTINGS_MODULE": "webapp.settings",
        }
        return os.environ | own
