"""Delivery of messages to webhooks: claims, parallel attempts, and the waits between attempts.

A worker's process delivers in a thread of its own, because the same process also reads logs: a reading never waits for
a receiver.

One process delivers at a time. A claim before each attempt is for the case that it ends in the middle of the attempt:
then it is unknown whether the message arrived, and after the claim has expired it is sent again, with the same id.
"""

import logging
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from http import HTTPStatus
from threading import Event

from django.db import connections, transaction
from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from results.errors import contained
from results.locks import WEBHOOKS, try_lock
from webapp.accounts.encryption import UnknownKeyError, decrypt
from webapp.outbound.client import OutboundError, Response, send
from webapp.webhooks.models import RESPONSE_CHARS, Attempt, Delivery, Webhook
from webapp.webhooks.signing import HEADER, signature

PAUSES = tuple(timedelta(seconds=seconds) for seconds in (10, 60, 300, 900, 3600))  # the last one repeats
GIVE_UP = timedelta(days=1)
PARALLEL = 16
PARALLEL_OF_WEBHOOK = 2  # a slow receiver leaves room for others
CLAIM_EVERY_S = 1  # while requests run
logger = logging.getLogger(__name__)
NO_KEY = "no-key"  # the failure of a secret that ENCRYPTION_KEYS no longer decrypts


@dataclass(frozen=True)
class Message:
    """All that a thread needs to send a claimed delivery without a database."""

    pk: int
    webhook: int
    attempt: int
    url: str
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Outcome:
    """The outcome of an attempt: a response, or the code of a failure."""

    status: int | None = None
    failure: str = ""
    duration_ms: int | None = None
    response: str = ""

    @property
    def is_delivered(self) -> bool:
        """Return whether the receiver took the message."""
        return self.status is not None and HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


class DeliveryThread:
    """The thread of this process that delivers. It has a connection to the database only during a sweep."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="webhooks")
        self._sweep: Future[None] | None = None
        self._is_stopping = Event()

    def start_sweep(self) -> None:
        """Start a sweep, unless one is running here or no message is due."""
        is_running = self._sweep is not None and not self._sweep.done()
        if not is_running and Delivery.objects.due(timezone.now()).exists():
            self._sweep = self._pool.submit(self._deliver)

    def stop(self) -> None:
        """Start no more attempts, and wait for the running ones: a message without an outcome would be sent again."""
        self._is_stopping.set()
        self._pool.shutdown()

    def _deliver(self) -> None:
        """Run a sweep in the thread. Log an error instead of raising it: the next sweep repeats what was not done."""
        try:
            with contained(logger, "messages to webhooks were not delivered"):
                deliver(is_stopping=self._is_stopping)
        finally:
            connections.close_all()


# This process's thread, created at the first delivery, after any fork.
delivery_thread = cache(DeliveryThread)


def deliver(now: datetime | None = None, is_stopping: Event | None = None) -> int:
    """Send the due messages, and return the number of attempts. Only one process at a time does it."""
    with try_lock(WEBHOOKS, 0) as is_free:
        return _sweep(now, is_stopping or Event()) if is_free else 0


def replay(deliveries: QuerySet[Delivery]) -> int:
    """Queue those of some messages that have ended again, and return their number."""
    now = timezone.now()
    ended = deliveries.filter(state__in=[Delivery.State.DEAD, Delivery.State.DELIVERED])
    columns = {"state": Delivery.State.PENDING, "queued_at": now, "next_attempt_at": now, "attempts_count": 0}
    return ended.update(**columns, ended_at=None)


def _sweep(now: datetime | None, is_stopping: Event) -> int:
    """Attempt due messages until none is due and none is running, or until the process stops."""
    attempts = 0
    running: dict[Future[Outcome], Message] = {}
    with ThreadPoolExecutor(PARALLEL) as threads:
        while True:
            at = now or timezone.now()
            if not is_stopping.is_set():
                messages = _claim(at, Counter(message.webhook for message in running.values()))
                running |= {threads.submit(_attempt, message): message for message in messages}
                attempts += len(messages)
            if not running:
                return attempts
            ended, _ = wait(running, CLAIM_EVERY_S, FIRST_COMPLETED)
            for future in ended:
                message = running.pop(future)
                with contained(logger, "webhook delivery %s: its attempt is repeated later", message.pk):
                    _write(message, future.result(), now or timezone.now())


@transaction.atomic
def _claim(now: datetime, busy: Counter[int]) -> list[Message]:
    """Claim due messages and return them. `busy` are the requests that run, by webhook.

    The webhook whose last attempt is the longest ago comes first, with its earliest message.
    """
    position = Window(RowNumber(), partition_by="webhook", order_by="pk")
    due = Delivery.objects.due(now).annotate(position=position).filter(position__lte=PARALLEL_OF_WEBHOOK)
    turns = due.order_by("position", F("webhook__last_attempt_at").asc(nulls_first=True), "pk")
    taken, chosen = busy.copy(), []
    for delivery_id, webhook_id in turns.values_list("pk", "webhook"):
        if taken.total() == PARALLEL:
            break
        if taken[webhook_id] < PARALLEL_OF_WEBHOOK:
            taken[webhook_id] += 1
            chosen.append(delivery_id)
    locked = Delivery.objects.due(now).filter(pk__in=chosen).select_for_update(skip_locked=True, of=("self",))
    claimed = list(locked.values_list("pk", flat=True))
    rows = Delivery.objects.filter(pk__in=claimed)
    rows.update(state=Delivery.State.SENDING, claimed_at=now, attempts_count=F("attempts_count") + 1)
    Webhook.objects.filter(deliveries__in=claimed).update(last_attempt_at=now)
    return [_message(delivery, now) for delivery in rows.select_related("webhook").order_by("pk")]


def _message(delivery: Delivery, now: datetime) -> Message:
    body, webhook = delivery.body.encode(), delivery.webhook
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Drivecert",
        "Drivecert-Delivery": delivery.public_id,
        "Drivecert-Topic": delivery.topic,
    }
    with suppress(UnknownKeyError):
        headers[HEADER] = signature(decrypt(webhook.encrypted_secret), int(now.timestamp()), body)
    return Message(delivery.pk, webhook.pk, delivery.attempts_count, webhook.url, body, headers)


def _attempt(message: Message) -> Outcome:
    """Send a message. Without a signature it is not sent."""
    if HEADER not in message.headers:
        return Outcome(failure=NO_KEY)
    try:
        response = send("POST", message.url, message.body, message.headers)
    except OutboundError as error:
        return Outcome(failure=error.failure.value)
    return Outcome(response.status, duration_ms=round(response.duration_s * 1000), response=_shown(response))


def _shown(response: Response) -> str:
    """Return the beginning of a response, as its owner reads it in the log of deliveries."""
    text = response.body[: RESPONSE_CHARS * 4].decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text[:RESPONSE_CHARS]


@transaction.atomic
def _write(message: Message, outcome: Outcome, now: datetime) -> None:
    """Write the outcome of an attempt, unless its claim expired and another worker made the next one."""
    ours = Delivery.objects.filter(pk=message.pk, state=Delivery.State.SENDING, attempts_count=message.attempt)
    delivery = ours.select_for_update(of=("self",)).first()
    if delivery is None:
        return
    Attempt.objects.create(
        delivery=delivery,
        at=now,
        status=outcome.status,
        failure=outcome.failure,
        duration_ms=outcome.duration_ms,
        response=outcome.response,
    )
    if outcome.is_delivered:
        ours.update(state=Delivery.State.DELIVERED, ended_at=now)
    elif outcome.status == HTTPStatus.GONE or now - delivery.queued_at >= GIVE_UP:
        ours.update(state=Delivery.State.DEAD, ended_at=now)
    else:
        pause = PAUSES[min(message.attempt, len(PAUSES)) - 1]
        ours.update(state=Delivery.State.PENDING, next_attempt_at=now + pause)
