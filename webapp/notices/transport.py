"""One attempt to send one message, and what its outcome means for the next attempt."""

import logging
import smtplib
from dataclasses import dataclass
from enum import Enum

from anymail.exceptions import AnymailAPIError, AnymailError
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

log = logging.getLogger(__name__)

CONNECTION = "connection"  # no answer, refused, or broken
NOT_SUPPORTED = "not-supported"  # a feature that the server does not have, for example STARTTLS
MESSAGE_REFUSED = "message-refused"  # by django-anymail, without a status
PERMANENT = 500
HTTP_UNAUTHORISED, HTTP_TOO_MANY = {401, 403}, 429
# Refusals of the register and not of one message: its password or its sender may be wrong.
SERVER_ERRORS = (
    smtplib.SMTPAuthenticationError,
    smtplib.SMTPConnectError,
    smtplib.SMTPHeloError,
    smtplib.SMTPSenderRefused,
)


class Result(Enum):
    """What an attempt means: SERVER concerns all mails, RETRY and REFUSED this one."""

    SENT = "sent"
    RETRY = "retry"
    REFUSED = "refused"
    SERVER = "server"


@dataclass(frozen=True)
class Outcome:
    """The result of an attempt, with the code of the server."""

    result: Result
    code: str = ""


def send(message: EmailMessage, connection: BaseEmailBackend) -> Outcome:
    """Send a message over a connection, which is opened if it is not open and closed after an error."""
    try:
        connection.open()
        connection.send_messages([message])
    except (OSError, AnymailError) as error:  # errors of SMTP, of the network and of a provider
        outcome = _outcome_of(error)
        log.warning("a mail was not sent, %s: %s", outcome.code, type(error).__name__)
        connection.close()
        return outcome
    return Outcome(Result.SENT)


def _outcome_of(error: Exception) -> Outcome:
    if isinstance(error, AnymailError):
        return _of_provider(error)
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        codes = [code for code, _ in error.recipients.values()]
        return _of_code(codes[0])
    if isinstance(error, SERVER_ERRORS):
        return Outcome(Result.SERVER, str(error.smtp_code))
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return Outcome(Result.SERVER, NOT_SUPPORTED)
    if isinstance(error, smtplib.SMTPResponseException):
        return _of_code(error.smtp_code)
    return Outcome(Result.SERVER, CONNECTION)


def _of_code(code: int) -> Outcome:
    """Return the outcome of a code of SMTP about one message: 4xx may succeed later, 5xx never does."""
    return Outcome(Result.REFUSED if code >= PERMANENT else Result.RETRY, str(code))


def _of_provider(error: AnymailError) -> Outcome:
    status = error.status_code
    if status is None:
        is_network = isinstance(error, AnymailAPIError)
        return Outcome(Result.SERVER, CONNECTION) if is_network else Outcome(Result.REFUSED, MESSAGE_REFUSED)
    is_of_all = status in HTTP_UNAUTHORISED or status == HTTP_TOO_MANY or status >= PERMANENT
    return Outcome(Result.SERVER if is_of_all else Result.REFUSED, f"HTTP {status}")
