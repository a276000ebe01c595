"""What `manage.py doctor` looks at: each part of this machine's register, and what to do where one is not well."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from kombu.exceptions import KombuError
from redis import RedisError

from webapp.celery import app, is_worker_heard, redis_of

# The variables of docs/operations.md whose setting has another name.
ATTRIBUTES = {"DRIVECERT_DATA": "DATA_DIR"}
SECRETS = {"SECRET_KEY"}
PASSWORD_IN_URL = re.compile(r"(?<=:)[^:@/]+(?=@)")
VARIABLE = re.compile(r"env\.read_\w+\(\s*\"(\w+)\"")
LEAST_FREE_BYTES = 5 * 1024**3  # two of the largest uploads, and PostgreSQL needs room to work


@dataclass(frozen=True)
class Check:
    """One part: what was found, and the remedy where it is not well (empty where it is)."""

    part: str
    found: str
    remedy: str = ""


def effective_settings() -> Iterator[tuple[str, str]]:
    """Yield each variable that the settings read, with the value in force, secrets masked."""
    source = (settings.BASE_DIR / "webapp" / "settings.py").read_text()
    for name in dict.fromkeys(VARIABLE.findall(source)):
        value = getattr(settings, ATTRIBUTES.get(name, name))
        yield name, mask(name, value)


def mask(name: str, value: object) -> str:
    """Return a value as it may be shown to somebody looking over the operator's shoulder."""
    if name in SECRETS:
        return "set" if value != settings.DEVELOPMENT_SECRET_KEY else "the development key"
    return PASSWORD_IN_URL.sub("***", str(value))


def examine() -> Iterator[Check]:
    """Yield every check, in the order in which the parts need each other."""
    yield examine_data_dir()
    yield examine_drivetest()
    yield from examine_database()
    yield from examine_broker()


def examine_data_dir() -> Check:
    """The data directory exists and has room."""
    directory = settings.DATA_DIR
    if not directory.is_dir():
        return Check("data directory", f"{directory} is missing", "run `make run`, or set DRIVECERT_DATA")
    free_bytes = shutil.disk_usage(directory).free
    found = f"{directory}, {free_bytes / 1e9:.1f} GB free"
    return Check(
        "data directory", found, "" if free_bytes >= LEAST_FREE_BYTES else "make room: uploads may be 2 GB each"
    )


def examine_drivetest() -> Check:
    """The native program runs."""
    remedy = "run `make drivetest`, or set DRIVETEST to the program"
    try:
        told = subprocess.run([settings.DRIVETEST, "--version"], capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError) as error:
        return Check("drivetest", f"does not run: {error}", remedy)
    return Check("drivetest", told.stdout.strip())


def examine_database() -> Iterator[Check]:
    """PostgreSQL answers, and knows all tables."""
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


def examine_broker() -> Iterator[Check]:
    """Redis answers, and a worker was heard through it."""
    try:
        with app.connection_for_read() as broker:
            version = redis_of(broker).info("server")["redis_version"]
            heard = is_worker_heard(broker)
    except (RedisError, KombuError, OSError) as error:
        yield Check("Redis", f"does not answer: {error}", "start it: `make run`, or set REDIS_URL")
        return
    yield Check("Redis", version)
    remedy = "" if heard else "start it; see var/log/worker.log and var/log/lab.log"
    yield Check("worker", "heard" if heard else "not heard lately", remedy)
