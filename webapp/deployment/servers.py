"""The commands of the register's processes: the same for `manage.py up`, for containers and for services of systemd."""

import sys
import tempfile
import time
from pathlib import Path

from django.conf import settings

from webapp.supervisor.address import Address

WEB_THREADS = 8  # each may hold a database connection; PostgreSQL allows 100 in all
LIVE_CONNECTIONS = 4200  # more than the clients that may wait (webapp/live/server.py): the others get an answer
WEB, LIVE, WORKER, LAB, BEAT = PARTS = ("web", "live", "worker", "lab", "beat")
# Celery's programs run no checks of Django: `prepare` has run them.
WITHOUT_CHECKS = {"CELERY_SKIP_CHECKS": "1"}
# After SIGHUP, the time from the start of a new process to the end of the one that it replaces: longer than its start.
RESPAWN_INTERVAL_S = 10
# After SIGHUP or SIGTERM, the time that a process has for its present requests. Clients of `live` ask again.
REQUESTS_END_S, WAITS_END_S = 25, 3
SPOOLED_UPLOADS = "*.upload*"  # as Django names them
SPOOL_AGE_MAX_S = 86_400


def command_of(part: str, address: Address | None = None) -> list[str]:
    """Return the command of a part. The web servers `web` and `live` need the address at which they listen."""
    celery = [sys.executable, "-m", "celery", "--app", "webapp.celery"]
    if part == BEAT:
        # Its schedule is in memory: the periods are seconds, so no file is needed.
        return [*celery, "beat", "--scheduler=webapp.deployment.beat:SteadyScheduler", "--pidfile="]
    worker = [*celery, "worker", "--without-gossip", "--without-mingle"]
    if part == WORKER:
        return [*worker, "--queues=drivecert", f"--concurrency={settings.WORKER_PROCESSES}", "--hostname=drivecert@%h"]
    if part == LAB:
        return [*worker, "--queues=lab", "--concurrency=1", "--hostname=lab@%h"]  # one dispatch after the other
    if address is None:
        raise ValueError(f"{part}: expected an address for a web server, got none")
    listening = [f"--host={address.host}", f"--port={address.port}"]
    server = [sys.executable, "-m", "granian", *listening, "--respawn-failed-workers"]
    server.append(f"--respawn-interval={RESPAWN_INTERVAL_S}")
    server.append(f"--workers-kill-timeout={WAITS_END_S if part == LIVE else REQUESTS_END_S}")
    if part == LIVE:
        waiting = ["--interface=asgi", "--workers=1", f"--backpressure={LIVE_CONNECTIONS}"]
        return [*server, *waiting, "webapp.asgi:application"]
    serving = ["--interface=wsgi", f"--workers={settings.WEB_PROCESSES}", f"--blocking-threads={WEB_THREADS}"]
    return [*server, *serving, "webapp.wsgi:application"]


def remove_old_spool(directory: Path | None = None) -> list[Path]:
    """Remove uploads that a killed web server left in the directory of temporary files. Return them."""
    spool = directory or Path(tempfile.gettempdir())
    oldest = time.time() - SPOOL_AGE_MAX_S
    found = [path for path in spool.glob(SPOOLED_UPLOADS) if path.is_file() and path.stat().st_mtime < oldest]
    for path in found:
        path.unlink(missing_ok=True)
    return found
