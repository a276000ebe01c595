"""The page of sent mail, for a register without a mail server: what the folder of messages contains."""

from dataclasses import dataclass
from datetime import datetime
from email import message_from_bytes, policy
from email.utils import parsedate_to_datetime
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from webapp.accounts.requests import UserRequest, operators_only

SHOWN = 50
SEPARATOR = b"\n" + b"-" * 79 + b"\n"  # as django.core.mail.backends.filebased ends each message


@dataclass(frozen=True)
class Mail:
    """One message as its recipient would read it."""

    sent_at: datetime
    recipient: str
    subject: str
    text: str


@require_safe
@operators_only
def sent_mail(request: UserRequest) -> HttpResponse:
    """Show the newest messages as text. In production there is no such page: links in mails open accounts."""
    if settings.PRODUCTION or not settings.MAIL_IS_STORED:
        raise Http404("This register sends its mail, or it is in production.")
    files = sorted(Path(settings.EMAIL_FILE_PATH).glob("*.log"), reverse=True)[:SHOWN]
    mails = [mail for path in files for mail in reversed(read_mails(path))]
    return render(request, "accounts/mail.html", {"mails": mails, "folder": settings.EMAIL_FILE_PATH})


def read_mails(path: Path) -> list[Mail]:
    """Return the messages of one file, in the order in which they were sent."""
    parts = [part for part in path.read_bytes().split(SEPARATOR) if part.strip()]
    return [_read_mail(part) for part in parts]


def _read_mail(content: bytes) -> Mail:
    message = message_from_bytes(content, policy=policy.default)
    body = message.get_body(("plain",))
    text = "" if body is None else body.get_content()
    return Mail(parsedate_to_datetime(message["Date"]), message["To"], message["Subject"], text)
