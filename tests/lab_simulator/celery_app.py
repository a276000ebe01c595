"""The register's Celery app with one more way to a host: `celery --app tests.lab_simulator.celery_app worker`.

SIMULATED_LAB is the socket of the lab's process. STATEMENTS_DIR, where it is set, gets a file for each process with
the number of statements that it has sent to the database.
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

TOLD_EVERY = 100
statements = itertools.count(1)


def count_statements(connection, **_):
    if _count not in connection.execute_wrappers:  # a connection that is opened again keeps its wrappers
        connection.execute_wrappers.append(_count)


def _count(execute, *told):
    number = next(statements)
    if number % TOLD_EVERY == 0:
        told_in = Path(os.environ["STATEMENTS_DIR"]) / str(os.getpid())
        beside = told_in.with_name(f".{os.getpid()}.{threading.get_ident()}")
        beside.write_text(str(number))
        beside.replace(told_in)  # who reads it sees a number, never half of one
    return execute(*told)


reach_simulated_hosts(os.environ["SIMULATED_LAB"])
if "STATEMENTS_DIR" in os.environ:
    connection_created.connect(count_statements)
