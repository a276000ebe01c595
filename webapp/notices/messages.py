"""Messages: subject line, text and headers of a mail, made when it is sent from what its recipient may read then."""

from collections.abc import Sequence
from itertools import groupby

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from results.rules.plural import counted
from webapp.accounts.models import User
from webapp.notices.kinds import Audience, Kind
from webapp.notices.models import Frequency, Mail, Notice, frequency_of
from webapp.notices.plain_text import one_line
from webapp.notices.preferences import preference_link
from webapp.notices.sentences import lines_of, step_lines, waits_for_recipient
from webapp.notices.subjects import SubjectFacts, load_subject, may_read

SITE = "Drivecert"
NO_ADDRESS, NO_ACCESS, NOT_WANTED = "no-address", "no-access", "not-wanted"
Section = tuple[SubjectFacts, list[Notice]]
REASONS = {
    Audience.MEMBERS: "a member of {organisations}",
    Audience.REVIEWERS: "a reviewer of the register",
    Audience.OPERATORS: "an operator of the register",
    Audience.FILER: "the person who filed an objection",
}


class NothingToSendError(Exception):
    """A mail that is not sent, with the code of the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def compose(mail: Mail, connection: BaseEmailBackend) -> EmailMessage:
    """Return the message of a mail. Raises NothingToSendError if its recipient may not get it or does not want it."""
    recipient = mail.recipient
    if frequency_of(recipient.pk) == Frequency.NONE:
        raise NothingToSendError(NOT_WANTED)
    address = EmailAddress.objects.filter(user=recipient, verified=True, primary=True).first()
    if address is None:
        raise NothingToSendError(NO_ADDRESS)
    sections = _sections(recipient, list(mail.notices.order_by("pk")))
    if not sections:
        raise NothingToSendError(NO_ACCESS)
    link = preference_link(recipient, address.email)
    headers = {
        "Message-ID": mail.message_id,
        "Auto-Submitted": "auto-generated",  # so that no absence notice answers
        "List-Unsubscribe": f"<{link}>",
    }
    if link.startswith("https:"):  # RFC 8058 requires it
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    subject = _digest_line(sections) if mail.is_digest else _subject_line(*sections[0])
    return EmailMessage(subject, _body(sections, link), to=[address.email], headers=headers, connection=connection)


def _sections(recipient: User, notices: Sequence[Notice]) -> list[Section]:
    """Return the notices by subject, without those that the recipient may no longer read."""
    keys = dict.fromkeys((each.subject_type, each.subject_id, each.audience) for each in notices)
    sections = []
    for subject_type, subject_id, audience in keys:
        facts = load_subject(subject_type, subject_id, Audience(audience))
        if facts is not None and may_read(recipient, Audience(audience), facts):
            key = (subject_type, subject_id, audience)
            sections.append((facts, [e for e in notices if (e.subject_type, e.subject_id, e.audience) == key]))
    return sections


def _subject_line(facts: SubjectFacts, notices: Sequence[Notice]) -> str:
    newest = notices[-1]
    start = "Action needed: " if waits_for_recipient(newest) else ""
    return f"{start}{one_line(facts.title)}: {Kind(newest.kind).label}"


def _digest_line(sections: Sequence[Section]) -> str:
    changes = sum(len(notices) for _, notices in sections)
    waiting = sum(waits_for_recipient(notices[-1]) for _, notices in sections)
    line = f"{SITE}: {counted(changes, 'change')}"
    return f"{line}, {waiting} wait for you" if waiting > 1 else f"{line}, 1 waits for you" if waiting else line


def _body(sections: Sequence[Section], link: str) -> str:
    parts = [_section_text(facts, notices) for facts, notices in sections]
    audiences = dict.fromkeys(Audience(notices[-1].audience) for _, notices in sections)
    of_members = [facts for facts, notices in sections if notices[-1].audience == Audience.MEMBERS]
    names = ", ".join(dict.fromkeys(one_line(facts.organisation.name) for facts in of_members if facts.organisation))
    reasons = " and ".join(REASONS[audience].format(organisations=names) for audience in audiences)
    footer = (
        f"-- \n{SITE}, {settings.SITE_DESCRIPTION}\n{settings.PUBLIC_URL}/\n\n"
        f"You get this mail because you are {reasons}.\n"
        f"Choose mail for each change, once a day, or none: {link}\n"
        "Mail about the security of your account does not depend on this choice.\n"
    )
    return "\n\n\n".join([*parts, footer])


def _section_text(facts: SubjectFacts, notices: Sequence[Notice]) -> str:
    ordered = sorted(notices, key=lambda notice: [each.kind for each in notices].index(notice.kind))
    lines = [facts.title]
    if facts.submission is not None and facts.organisation is not None:
        lines.append(f"Organisation: {one_line(facts.organisation.name)}")
    lines.append("")
    for kind, of_kind in groupby(ordered, key=lambda notice: notice.kind):
        lines += lines_of(Kind(kind), list(of_kind), facts)
    return "\n".join([*lines, "", *step_lines(notices[-1]), "", f"{settings.PUBLIC_URL}{facts.path}"])
