"""The Celery app: the register's alarm clock. PostgreSQL is the queue (docs/decisions)."""

import os
from typing import Any

from celery import Celery
from celery.signals import heartbeat_sent
from kombu import Connection
from redis import Redis

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

app = Celery("drivecert")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["runners"])

HEARD_KEY = "drivecert:worker-heard"
HEARD_S = 15  # Celery's heart beats every 2 s; several beats may be late on a busy machine


@heartbeat_sent.connect
def note_heartbeat(**_: Any) -> None:
    """Leave a key in the broker that fades unless the worker's main loop goes on."""
    with app.connection_for_write() as broker:
        redis_of(broker).set(HEARD_KEY, "1", ex=HEARD_S)


def is_worker_heard(broker: Connection) -> bool:
    """Tell whether a worker's heart beat lately. Raises redis' and kombu's errors where the broker is silent."""
    return bool(redis_of(broker).exists(HEARD_KEY))


def redis_of(broker: Connection) -> Redis:
    """Return the client that Celery itself uses, so that REDIS_URL is read in one way only."""
    channel: Any = broker.channel()  # kombu's type knows no transport; ours is always Redis
    client: Redis = channel.client
    return client
