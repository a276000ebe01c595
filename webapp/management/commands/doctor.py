"""`manage.py doctor`: the register's settings and problems.

Its exit status is about the register: 1 if a part of it has a problem, else 0. Lab hosts do not count.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from kombu.exceptions import KombuError
from redis import RedisError

from results.evidence.store import DIRECTORY, StoreError, UnsafeStoreError, check_store, free_bytes
from results.models import Evidence, Scrub, ScrubFault
from runners.hosts.machine import is_this_machine, known_machine_id, machine_id_error
from runners.inventory import health
from runners.models import Agent, Host
from webapp.backup.models import Backup
from webapp.celery import app, living_parts, redis_of
from webapp.notices.providers import FOLDER, SMTP
from webapp.templatetags import units

# The variables of docs/reference/settings.md whose setting has another name.
ATTRIBUTES = {"DRIVECERT_DATA": "DATA_DIR"}
SECRETS = {
    "SECRET_KEY", "ENCRYPTION_KEYS", "DATABASE_PASSWORD", "REDIS_PASSWORD", "EMAIL_HOST_PASSWORD", "MAIL_PROVIDER_KEY",
    "S3_SECRET_ACCESS_KEY", "METRICS_TOKEN", "OTEL_EXPORTER_OTLP_HEADERS",
}  # fmt: skip
PASSWORD_IN_URL = re.compile(r"(?<=:)[^:@/]+(?=@)")
VARIABLE = re.compile(r"env\.read_\w+\(\s*\"(\w+)\"")
MINUTE_S = 60
LEAST_FREE_BYTES = 5 * 1024**3  # two of the largest uploads, and PostgreSQL needs room to work


@dataclass(frozen=True)
class Check:
    """One part: what was found, and the remedy if it has a problem (else empty).

    `is_working`: the register works in spite of the problem, as with a lab host that gets no work. It is a warning.
    """

    part: str
    found: str
    remedy: str = ""
    is_working: bool = False

    @property
    def word(self) -> str:
        """Return the status word."""
        if not self.remedy:
            return "OK"
        return "WARNING" if self.is_working else "ERROR"


class Command(BaseCommand):
    help = (
        "Show the settings in force and whether each part answers, with a remedy if one does not. Exit status: 1 "
        "if a part of the register has a problem, else 0. Only warnings: a lab host that gets no work, an unset "
        "number of proxies, a missing mail server."
    )
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        for name, value in effective_settings():
            self.stdout.write(f"{name:<24} {value}")
        self.stdout.write("")
        checks = list(examine())
        for check in checks:
            self.stdout.write(f"{check.word:<7} {check.part}: {check.found}")
            if check.remedy:
                self.stdout.write(f"        -> {check.remedy}")
        sys.exit(any(check.word == "ERROR" for check in checks))


def effective_settings() -> Iterator[tuple[str, str]]:
    """Yield each variable that the settings read, with the value in force, secrets masked."""
    source = (settings.BASE_DIR / "webapp" / "settings.py").read_text()
    for name in dict.fromkeys(VARIABLE.findall(source)):
        value = getattr(settings, ATTRIBUTES.get(name, name))
        yield name, mask(name, value)


def mask(name: str, value: object) -> str:
    """Return a value without secrets, safe to show on a screen."""
    if value in (settings.DEVELOPMENT_SECRET_KEY, [settings.DEVELOPMENT_SECRET_KEY]):
        return "the development key"
    if name in SECRETS:
        return "set" if value else "not set"
    return PASSWORD_IN_URL.sub("***", str(value))


def examine() -> Iterator[Check]:
    """Yield every check, in the order in which the parts need each other."""
    yield examine_data_dir()
    yield examine_machine()
    yield examine_drivetest()
    yield examine_store()
    yield examine_proxies()
    yield examine_mail()
    database = list(examine_database())
    yield from database
    yield from examine_broker()
    if not any(check.remedy for check in database):
        yield examine_scrub()
        yield from examine_hosts()
        yield examine_backup()
        if settings.WAL_ARCHIVE:
            yield examine_wal_archive()


def examine_data_dir() -> Check:
    """Check that the data directory exists and has free space."""
    directory = settings.DATA_DIR
    if not directory.is_dir():
        return Check("data directory", f"{directory} is missing", "run `make run`, or set DRIVECERT_DATA")
    free = shutil.disk_usage(directory).free
    found = f"{directory}, {free / 1e9:.1f} GB free"
    is_enough = free >= LEAST_FREE_BYTES
    return Check("data directory", found, "" if is_enough else "make room: snapshots, dumps and logs are written there")


def examine_machine() -> Check:
    """Check that this machine has an identity: only this machine polls the runs of the host `local`."""
    if unknown := machine_id_error():
        return Check("machine", "cannot be identified", unknown)
    known = known_machine_id()
    return Check("machine", f"{known[:12]} as the lab knows it" if known else "has no id yet: made at the first start")


def examine_drivetest() -> Check:
    """Check that the native program runs."""
    remedy = "run `make drivetest`, or set DRIVETEST to the program"
    try:
        done = subprocess.run([settings.DRIVETEST, "--version"], capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        return Check("drivetest", f"{settings.DRIVETEST} does not run: {reason or error}", remedy)
    return Check("drivetest", done.stdout.strip())


def examine_proxies() -> Check:
    """Check that the addresses of visitors are known behind a proxy: limits count by them."""
    count, networks = settings.TRUSTED_PROXY_COUNT, settings.TRUSTED_PROXIES
    if settings.BEHIND_TLS_PROXY and not count and not networks:
        found = "BEHIND_TLS_PROXY is set, but TRUSTED_PROXIES is not, so all visitors share the limits of one address"
        remedy = "set TRUSTED_PROXIES to the networks of your own proxies"
        return Check("client address", found, remedy, is_working=True)
    if networks:
        names = ", ".join(str(network) for network in networks)
        return Check("client address", f"the first from the right that is not in {names}")
    found = f"number {count} from the right of X-Forwarded-For" if count else "the peer of the connection"
    return Check("client address", found)


def examine_mail() -> Check:
    """Check that a public register sends its mail: without it, no new user can verify an address."""
    if settings.MAIL_PROVIDER == SMTP:
        return Check("mail", f"sent by {settings.EMAIL_HOST}, port {settings.EMAIL_PORT}")
    if settings.MAIL_PROVIDER != FOLDER:
        return Check("mail", f"sent by {settings.MAIL_PROVIDER}")
    remedy = "set EMAIL_HOST to the mail server, or MAIL_PROVIDER" if settings.PRODUCTION else ""
    return Check("mail", f"not sent; each message is a file in {settings.EMAIL_FILE_PATH}", remedy, is_working=True)


def examine_database() -> Iterator[Check]:
    """Check that PostgreSQL responds and has all tables."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version")
            (version,) = cursor.fetchone()
    except Error as error:
        yield Check("PostgreSQL", f"does not answer: {str(error).strip()}", "start it: `make run`, or set DATABASE_URL")
        return
    yield Check("PostgreSQL", version)
    executor = MigrationExecutor(connection)
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    yield Check("migrations", f"{len(pending)} pending", "run `manage.py prepare`" if pending else "")


def examine_hosts() -> Iterator[Check]:
    """Check that each lab host in service accepts work, and report the reasons if it does not."""
    for host in Host.objects.filter(retired_at=None).order_by("name"):
        reasons = health.no_work_reasons(host)
        work = "gets no work" if reasons else "takes work"
        if is_without_agent(host):
            remedies = ["print a command on its page, and run it on the host"]
        else:
            remedies = ["if it is gone for good, retire it on its page"] if host.silent_checks else []
        remedy = "; ".join([*reasons, *remedies])
        yield Check(f"lab host {host}", f"{_last_check(host)}; {work}", remedy, is_working=True)


def examine_store() -> Check:
    """Check that the evidence store answers, and that it never replaces what is stored."""
    where = settings.EVIDENCE_DIR if settings.EVIDENCE_STORE == DIRECTORY else settings.EVIDENCE_STORE
    try:
        check_store()
        free = free_bytes()
    except UnsafeStoreError as error:
        return Check("evidence store", str(error), "choose another store before any log is received")
    except (StoreError, OSError) as error:
        return Check("evidence store", str(error), "mount or start it, and check EVIDENCE_STORE and the S3_ settings")
    if free is None:
        return Check("evidence store", str(where))
    remedy = "" if free >= LEAST_FREE_BYTES else "make room: uploads may be 2 GB each"
    return Check("evidence store", f"{where}, {free / 1e9:.1f} GB free", remedy)


def examine_scrub() -> Check:
    """Check that the stored files are as they were received, and that a pass of the scrub ended lately."""
    faults_count = ScrubFault.objects.filter(closed_at=None).count()
    if faults_count:
        remedy = "restore the files from a backup: docs/how-to/repair-stored-files.md"
        return Check("stored files", f"{faults_count} damaged or missing, listed at /stored-files/", remedy)
    overdue = timezone.now() - timedelta(days=2 * settings.SCRUB_PERIOD_DAYS)
    last = Scrub.objects.filter(ended_at__isnull=False).order_by("-ended_at").first()
    if last is not None and last.ended_at is not None and last.ended_at > overdue:
        found = f"{last.files_count} files were as received; the pass ended on {units.moment(last.ended_at)}"
        return Check("stored files", found)
    is_late = last is not None or Evidence.objects.filter(received_at__lte=overdue).exists()
    remedy = "check that a worker and beat run, and raise SCRUB_BYTES_PER_S" if is_late else ""
    ended = f"on {units.moment(last.ended_at)}" if last is not None and last.ended_at is not None else "never"
    return Check("stored files", f"the last pass of the scrub ended: {ended}", remedy, is_working=True)


def examine_backup() -> Check:
    """Check that a backup with everything is not older than BACKUP_AGE_MAX_H: its rows are those of its start."""
    remedy = "run `manage.py backup DIRECTORY` daily (docs/how-to/back-up-and-restore.md)"
    backup = Backup.last_good()
    if backup is None:
        return Check("backup", "no complete backup yet", remedy, is_working=True)
    age = timezone.now() - backup.started_at
    shown = units.duration(max(0, int(age.total_seconds())) // MINUTE_S * MINUTE_S)
    found = f"the last complete one began {shown} ago, in {backup.repository}"
    is_old = age > timedelta(hours=settings.BACKUP_AGE_MAX_H)
    return Check("backup", found, remedy if is_old else "", is_working=True)


def examine_wal_archive() -> Check:
    """Check that PostgreSQL's last attempt to archive its log was a success: its disk fills otherwise."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_archived_time, last_failed_time, last_failed_wal FROM pg_stat_archiver")
        return wal_archive_check(*cursor.fetchone())


def wal_archive_check(archived_at: datetime | None, failed_at: datetime | None, failed: str | None) -> Check:
    """Return the check of the archive, given the last success, the last failure, and the segment that failed."""
    since = f"the last segment was archived on {units.moment(archived_at)}" if archived_at else "no segment yet"
    if failed_at is None or (archived_at is not None and failed_at <= archived_at):
        return Check("archive of PostgreSQL's log", since)
    found = f"segment {failed} was not archived on {units.moment(failed_at)}; {since}"
    remedy = "read var/log/postgres.log; a new cluster needs a new, empty directory in WAL_ARCHIVE"
    return Check("archive of PostgreSQL's log", found, remedy, is_working=True)


def is_without_agent(host: Host) -> bool:
    """Return whether a host is reached by an agent, and none has joined or it was revoked."""
    return host.kind == Host.Kind.AGENT and not Agent.objects.exclude(secret_hash="").filter(host=host).exists()


def _last_check(host: Host) -> str:
    if not host.is_remote:
        return (
            "this machine, looked at now"
            if is_this_machine(host.machine_id)
            else "another machine, which its own worker looks at"
        )
    if is_without_agent(host):
        return "no agent has joined"
    if host.checked_at is None:
        return f"not checked yet: `manage.py check_host {host}`"
    age_s = max(0, int((timezone.now() - host.checked_at).total_seconds()))
    age = units.duration(age_s if age_s < MINUTE_S else age_s // MINUTE_S * MINUTE_S)
    return f"last check {age} ago, on {units.moment(host.checked_at)}"


def examine_broker() -> Iterator[Check]:
    """Check that Redis responds, and that the workers and beat reported through it."""
    try:
        with app.connection_for_read() as broker:
            version = redis_of(broker).info("server")["redis_version"]
            living = living_parts(broker)
    except (RedisError, KombuError, OSError) as error:
        yield Check("Redis", f"does not answer: {error}", "start it: `make run`, or set REDIS_URL")
        return
    yield Check("Redis", version)
    for part, is_alive in living.items():
        remedy = "" if is_alive else f"start it; see var/log/{part}.log"
        yield Check(part, "running" if is_alive else "has not reported lately", remedy)
