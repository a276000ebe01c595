"""The Celery app, which schedules tasks and notifies workers. PostgreSQL is the queue (docs/decisions)."""

import logging
import math
import os
import time
from typing import Any

from celery import Celery
from celery.signals import after_task_publish, beat_init, heartbeat_sent, worker_process_init
from kombu import Connection
from kombu.exceptions import KombuError
from kombu.transport.redis import Channel
from redis import ConnectionError as RedisConnectionError
from redis import ConnectionPool, Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from webapp.logs import task_ids  # noqa: F401 - its receivers add ids to the log of tasks
from webapp.supervisor.launch import end_with_main_program
from webapp.tracing.setup import start_tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

logger = logging.getLogger(__name__)

app = Celery("drivecert")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks([
    "results", "runners", "webapp.register", "webapp.accounts", "webapp.notices", "webapp.webhooks",
    "webapp.monitoring", "webapp.status",
])  # fmt: skip

# The parts of a register that must always run, with the names of their heartbeats: for a worker, that of its queue.
PARTS = {"worker": "drivecert", "lab": "lab", "beat": "beat"}
HEARTBEAT_KEY = "drivecert:worker-heard:{name}"  # as in earlier releases, whose processes read and write it
LAST_KEY = "{key}:last"
WORKER_TTL_S = 15  # Celery's heart beats every 2 s; several beats may be late on a busy machine
REMEMBERED_S = 7 * 86_400  # for so long after the last heartbeat the register knows how long a part has been silent


def can_restore(channel: Any) -> bool:
    """Return whether a channel that closes can give back the messages that it has not acknowledged."""
    return getattr(channel.connection, "client", None) is not None


# Celery 5.7.0 closes a lost connection twice. The second time, it has no address any more, and to give back messages
# would be an AttributeError, which ends the worker. The periodic tasks find the work of the lost messages.
Channel.do_restore = property(can_restore)  # type: ignore[assignment]


@worker_process_init.connect
def end_with_worker(**_: Any) -> None:
    """End a process of the pool whose worker was killed before Celery could tie it to the worker's life.

    Only processes of the pool send traces: they do what requests enqueued.
    """
    end_with_main_program()
    start_tracing()


@heartbeat_sent.connect
def note_heartbeat(**_: Any) -> None:
    """Set a key for each queue of this worker. The keys expire unless the worker's main loop renews them."""
    with app.connection_for_write() as broker:
        for queue in app.amqp.queues.consume_from:
            write_heartbeat(redis_of(broker), queue, WORKER_TTL_S)


class _Beat:
    """Beat, if this process is it: the time of its last heartbeat."""

    is_here = False
    noted_at = float("-inf")


@beat_init.connect
def note_beat_start(**_: Any) -> None:
    """Make this process the one that beat's heartbeats come from."""
    _Beat.is_here = True
    note_beat()


@after_task_publish.connect
def note_beat(**_: Any) -> None:
    """Note that beat sent a task to the broker, at most once a second. Other processes that send tasks note nothing.

    A beat that runs and cannot send is as useless as none, so its own loop is no sign of life.
    """
    now = time.monotonic()
    if not _Beat.is_here or now - _Beat.noted_at < 1:
        return
    _Beat.noted_at = now
    try:
        with app.connection_for_write() as broker:
            write_heartbeat(redis_of(broker), PARTS["beat"], beat_limit_s())
    except (RedisError, KombuError, OSError) as error:  # beat goes on: the next task that it sends is the next chance
        logger.warning("beat: its heartbeat was not stored: %s", error)


def beat_limit_s() -> int:
    """Return how long beat may be silent: three of its shortest periods, and on a busy machine at least 15 s."""
    shortest_s = min((entry["schedule"] for entry in app.conf.beat_schedule.values()), default=0)
    return max(WORKER_TTL_S, math.ceil(3 * shortest_s))


def write_heartbeat(redis: Redis, name: str, limit_s: int) -> None:
    """Set the keys of a heartbeat: one expires at the limit, the other one keeps the time by the clock of Redis."""
    key = HEARTBEAT_KEY.format(name=name)
    with redis.pipeline(transaction=False) as both:
        both.set(key, "1", ex=limit_s)
        both.set(LAST_KEY.format(key=key), "1", ex=REMEMBERED_S)
        both.execute()


def living_parts(broker: Connection) -> dict[str, bool]:
    """Return for each part whether it gave a sign of life. Raises redis' and kombu's errors without a broker."""
    with redis_of(broker).pipeline(transaction=False) as all_parts:
        for name in PARTS.values():
            all_parts.exists(HEARTBEAT_KEY.format(name=name))
        return {part: bool(found) for part, found in zip(PARTS, all_parts.execute(), strict=True)}


def silences_s(redis: Any) -> dict[str, float]:
    """Return how long each part has been silent; a part that was silent for REMEMBERED_S is left out.

    The clock of Redis alone counts, as the clocks of several machines differ.
    """
    with redis.pipeline(transaction=False) as all_parts:
        for name in PARTS.values():
            all_parts.pttl(LAST_KEY.format(key=HEARTBEAT_KEY.format(name=name)))
        remaining_ms = dict(zip(PARTS, all_parts.execute(), strict=True))
    return {part: REMEMBERED_S - left / 1000 for part, left in remaining_ms.items() if left >= 0}


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
