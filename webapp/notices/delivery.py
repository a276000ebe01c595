"""Sending of mails: claims, attempts, and the pauses between them.

A mail is claimed before each attempt. While a claim lasts, no other worker sends the mail, so that two workers never
send it twice. If a worker ends in the middle of an attempt, it is unknown whether the server received the message:
after the claim has expired the mail is sent again, with the same Message-ID.
"""

import logging
import time
from datetime import datetime, timedelta

from django.core.mail import get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import F
from django.utils import timezone

from results.errors import contained
from webapp.notices import transport
from webapp.notices.messages import NothingToSendError, compose
from webapp.notices.models import Mail
from webapp.notices.transport import Outcome, Result

log = logging.getLogger(__name__)

PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240))  # the last one repeats
GIVE_UP = timedelta(days=5)  # RFC 5321, 4.5.4.1
SWEEP_S = 10  # a sweep that took longer leaves the rest to the next one: the same workers also read logs
INTERNAL = "internal-error"
STATES = {Result.SENT: Mail.State.SENT, Result.REFUSED: Mail.State.FAILED}


def deliver(now: datetime) -> int:
    """Send the due mails, oldest first, and return the number of attempts."""
    started, attempts = time.monotonic(), 0
    connection = get_connection()
    try:
        for mail_id in list(Mail.objects.due(now).order_by("created_at", "pk").values_list("pk", flat=True)):
            if time.monotonic() - started > SWEEP_S:
                break
            result = deliver_one(mail_id, now, connection)
            attempts += result is not None
            if result == Result.SERVER:
                _postpone_all(now)
                break
    finally:
        connection.close()
    return attempts


def deliver_one(mail_id: int, now: datetime, connection: BaseEmailBackend) -> Result | None:
    """Attempt a mail once. Return None if another worker has it, or if it is not due or no longer wanted."""
    claimed = Mail.objects.due(now).filter(pk=mail_id)
    if not claimed.update(state=Mail.State.SENDING, claimed_at=now, attempts=F("attempts") + 1):
        return None
    mail = Mail.objects.select_related("recipient").get(pk=mail_id)
    outcome = Outcome(Result.RETRY, INTERNAL)  # of a mail that cannot be composed: it must not delay the others
    with contained(log, "mail %s could not be sent", mail.message_id):
        try:
            outcome = transport.send(compose(mail, connection), connection)
        except NothingToSendError as reason:
            _end(mail, Mail.State.DROPPED, reason.code)
            return None
    if outcome.result in STATES:
        _end(mail, STATES[outcome.result], outcome.code)
    else:
        _try_again(mail, outcome.code, now)
    return outcome.result


def send_again(mail: Mail) -> bool:
    """Queue a failed mail again, for an operator. Return False if it has not failed."""
    failed = Mail.objects.filter(pk=mail.pk, state=Mail.State.FAILED)
    now = timezone.now()
    return bool(failed.update(state=Mail.State.PENDING, next_attempt_at=now, created_at=now, ended_at=None))


def _end(mail: Mail, state: Mail.State, code: str) -> None:
    _write(mail, state=state, code=code, ended_at=timezone.now())


def _try_again(mail: Mail, code: str, now: datetime) -> None:
    if now - mail.created_at >= GIVE_UP:
        _end(mail, Mail.State.FAILED, code)
        return
    pause = PAUSES[min(mail.attempts, len(PAUSES)) - 1]
    _write(mail, state=Mail.State.PENDING, code=code, next_attempt_at=now + pause)


def _write(mail: Mail, **columns: object) -> None:
    """Write the outcome of this attempt, unless the claim expired and another worker tried the mail."""
    ours = Mail.objects.filter(pk=mail.pk, state=Mail.State.SENDING, attempts=mail.attempts)
    if not ours.update(**columns):
        log.error("mail %s: attempt %s took longer than its claim", mail.message_id, mail.attempts)


def _postpone_all(now: datetime) -> None:
    """Postpone all due mails while the server takes none. They would each wait for the same error."""
    Mail.objects.filter(state=Mail.State.PENDING, next_attempt_at__lte=now).update(next_attempt_at=now + PAUSES[0])
