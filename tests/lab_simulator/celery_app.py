"""The register's Celery app with a connector for simulated hosts: `celery --app tests.lab_simulator.celery_app worker`.

SIMULATED_LAB is the socket of the lab's process. If STATEMENTS_DIR is set, each process writes
the number of statements that it sent to the database to a file there.
"""

import itertools
import os
import threading
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
django.setup()

from django.db.backends.signals import connection_created  # noqa: E402

from tests.lab_simulator.worker import reach_simulated_hosts  # noqa: E402
from webapp.celery import app  # noqa: E402

__all__ = ["app"]

WRITE_PERIOD = 100
statements = itertools.count(1)


def count_statements(connection, **_):
    if _count not in connection.execute_wrappers:  # a reopened connection still has its wrappers
        connection.execute_wrappers.append(_count)


def _count(execute, *arguments):
    number = next(statements)
    if number % WRITE_PERIOD == 0:
        counts_file = Path(os.environ["STATEMENTS_DIR"]) / str(os.getpid())
        temporary = counts_file.with_name(f".{os.getpid()}.{threading.get_ident()}")
        temporary.write_text(str(number))
        temporary.replace(counts_file)  # a reader gets a complete number
    return execute(*arguments)


reach_simulated_hosts(os.environ["SIMULATED_LAB"])
if "STATEMENTS_DIR" in os.environ:
    connection_created.connect(count_statements)
