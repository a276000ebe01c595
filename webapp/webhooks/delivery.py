"""Delivery of messages to webhooks: claims, parallel attempts, and the pauses between them.

A delivery is claimed before each attempt, so that no two workers send it at once. If a worker ends in the middle of an
attempt, it is unknown whether the message arrived: after the claim has expired it is sent again, with the same id.
"""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from webapp.accounts.encryption import UnknownKeyError, decrypt
from webapp.outbound.client import Answer, OutboundError, send
from webapp.webhooks.models import RESPONSE_CHARS, Attempt, Delivery
from webapp.webhooks.signing import HEADER, signature

PAUSES = tuple(timedelta(seconds=seconds) for seconds in (10, 60, 300, 900, 3600))  # the last one repeats
GIVE_UP = timedelta(days=1)
PARALLEL = 8
PARALLEL_OF_WEBHOOK = 2  # a slow receiver leaves room for others
SWEEP_S = 20  # a sweep that took longer leaves the rest to the next one
NO_KEY = "no-key"  # the failure of a secret that ENCRYPTION_KEYS no longer decrypts


@dataclass(frozen=True)
class Message:
    """A claimed delivery, as a thread without a database sends it."""

    pk: int
    attempt: int
    url: str
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Outcome:
    """The outcome of an attempt: a response, or why there was none."""

    status: int | None = None
    failure: str = ""
    took_ms: int | None = None
    response: str = ""

    @property
    def is_delivered(self) -> bool:
        """Return whether the receiver took the message."""
        return self.status is not None and HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


def deliver(now: datetime | None = None) -> int:
    """Send the due messages, oldest first, and return the number of attempts."""
    started, attempts = time.monotonic(), 0
    with ThreadPoolExecutor(PARALLEL) as threads:
        while time.monotonic() - started < SWEEP_S:
            at = now or timezone.now()
            messages, refused = _claim(at)
            for delivery_id, attempt in refused:
                _write(delivery_id, attempt, Outcome(failure=NO_KEY), at)
            if not messages:
                break
            for message, outcome in zip(messages, threads.map(_send, messages), strict=True):
                _write(message.pk, message.attempt, outcome, now or timezone.now())
            attempts += len(messages)
    return attempts


def replay(delivery: Delivery) -> bool:
    """Queue a message that has ended again. Return False if it has not ended."""
    now = timezone.now()
    ended = Delivery.objects.filter(pk=delivery.pk, state__in=[Delivery.State.DEAD, Delivery.State.DELIVERED])
    columns = {"state": Delivery.State.PENDING, "queued_at": now, "next_attempt_at": now, "attempts_count": 0}
    return bool(ended.update(**columns, ended_at=None))


@transaction.atomic
def _claim(now: datetime) -> tuple[list[Message], list[tuple[int, int]]]:
    """Claim due messages; return them, and those whose secret cannot be decrypted, with the number of the attempt."""
    due = Delivery.objects.due(now).order_by("pk").values_list("pk", "webhook")
    of_webhook: Counter[int] = Counter()
    chosen: list[int] = []
    for delivery_id, webhook_id in due[: PARALLEL * 25]:
        of_webhook[webhook_id] += 1
        if of_webhook[webhook_id] <= PARALLEL_OF_WEBHOOK and len(chosen) < PARALLEL:
            chosen.append(delivery_id)
    locked = Delivery.objects.due(now).filter(pk__in=chosen).select_for_update(skip_locked=True, of=("self",))
    claimed = list(locked.values_list("pk", flat=True))
    Delivery.objects.filter(pk__in=claimed).update(
        state=Delivery.State.SENDING, claimed_at=now, attempts_count=F("attempts_count") + 1
    )
    rows = Delivery.objects.filter(pk__in=claimed).select_related("webhook").order_by("pk")
    return _messages(rows, now)


def _messages(rows: Iterable[Delivery], now: datetime) -> tuple[list[Message], list[tuple[int, int]]]:
    messages, refused = [], []
    for delivery in rows:
        body = delivery.body.encode()
        try:
            signed = signature(decrypt(delivery.webhook.encrypted_secret), int(now.timestamp()), body)
        except UnknownKeyError:
            refused.append((delivery.pk, delivery.attempts_count))
            continue
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "Drivecert",
            "Drivecert-Delivery": delivery.public_id,
            "Drivecert-Topic": delivery.topic,
            HEADER: signed,
        }
        messages.append(Message(delivery.pk, delivery.attempts_count, delivery.webhook.url, body, headers))
    return messages, refused


def _send(message: Message) -> Outcome:
    try:
        answer = send("POST", message.url, message.body, message.headers)
    except OutboundError as error:
        return Outcome(failure=error.failure.value)
    return Outcome(answer.status, took_ms=round(answer.took_s * 1000), response=_shown(answer))


def _shown(answer: Answer) -> str:
    """Return the beginning of a response, as its owner reads it in the log of deliveries."""
    text = answer.body[: RESPONSE_CHARS * 4].decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text[:RESPONSE_CHARS]


@transaction.atomic
def _write(delivery_id: int, attempt: int, outcome: Outcome, now: datetime) -> None:
    """Write the outcome of an attempt, unless its claim expired and another worker made the next one."""
    ours = Delivery.objects.filter(pk=delivery_id, state=Delivery.State.SENDING, attempts_count=attempt)
    delivery = ours.select_for_update(of=("self",)).first()
    if delivery is None:
        return
    Attempt.objects.create(
        delivery=delivery,
        at=now,
        status=outcome.status,
        failure=outcome.failure,
        took_ms=outcome.took_ms,
        response=outcome.response,
    )
    if outcome.is_delivered:
        ours.update(state=Delivery.State.DELIVERED, ended_at=now)
    elif outcome.status == HTTPStatus.GONE or now - delivery.queued_at >= GIVE_UP:
        ours.update(state=Delivery.State.DEAD, ended_at=now)
    else:
        pause = PAUSES[min(attempt, len(PAUSES)) - 1]
        ours.update(state=Delivery.State.PENDING, next_attempt_at=now + pause)
