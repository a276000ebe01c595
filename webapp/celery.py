"""The Celery app, which schedules tasks and notifies workers. PostgreSQL is the queue (docs/decisions)."""

import os
from typing import Any

from celery import Celery
from celery.signals import heartbeat_sent, worker_process_init
from kombu import Connection
from redis import ConnectionError as RedisConnectionError
from redis import ConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from webapp.supervisor.launch import end_with_main_program

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

app = Celery("drivecert")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(
    ["results", "runners", "webapp.register", "webapp.accounts", "webapp.notices", "webapp.webhooks"]
)

WORKER_KEY = "drivecert:worker-heard:{queue}"
WORKER_TTL_S = 15  # Celery's heart beats every 2 s; several beats may be late on a busy machine


@worker_process_init.connect
def end_with_worker(**_: Any) -> None:
    """End a process of the pool whose worker was killed before Celery could tie it to the worker's life."""
    end_with_main_program()


@heartbeat_sent.connect
def note_heartbeat(**_: Any) -> None:
    """Set a key for each queue of this worker. The keys expire unless the worker's main loop renews them."""
    with app.connection_for_write() as broker:
        for queue in app.amqp.queues.consume_from:
            redis_of(broker).set(WORKER_KEY.format(queue=queue), "1", ex=WORKER_TTL_S)


def is_worker_alive(broker: Connection) -> bool:
    """Return whether every queue has an active worker. Raises redis' and kombu's errors without a broker."""
    keys = [WORKER_KEY.format(queue=queue.name) for queue in app.conf.task_queues]
    return bool(redis_of(broker).exists(*keys) == len(keys))


def redis_of(broker: Connection) -> Redis:
    """Return the client that Celery itself uses, so that REDIS_URL is read in one way only."""
    channel: Any = broker.channel()  # kombu's type knows no transport; ours is always Redis
    client: Redis = channel.client
    return client


def redis_client(timeout_s: float) -> Redis:
    """Return a client of the broker with its own connections, which wait at most `timeout_s`. Those of Celery wait on.

    A server that has restarted closed its connections, so that one more try makes a new one. A silent server gets none.
    Raises redis' and kombu's errors without a broker.
    """
    broker = app.connection_for_write(transport_options={"socket_timeout": timeout_s})
    opened: Any = broker.transport.establish_connection()  # at once; broker.channel() waits 2 s and tries again
    try:
        channel: Any = broker.transport.create_channel(opened)
        pool: ConnectionPool = channel.pool
        once_more = Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,))
        options = pool.connection_kwargs | {"retry": once_more}
        return Redis(connection_pool=ConnectionPool(pool.connection_class, **options))
    finally:
        broker.transport.close_connection(opened)
