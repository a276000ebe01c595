"""Sentences about the entries of the audit trail, made from their codes where a page shows them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from webapp.accounts.models import AccountEvent, APIToken, Invitation, TrustedPublisher, User

Kind = AccountEvent.Kind
SENTENCES: dict[str, str] = {
    Kind.ACCOUNT_CREATED: "Account created",
    Kind.SIGNED_IN: "Signed in{methods}",
    Kind.SIGN_IN_FAILED: "Sign-in failed: wrong password",
    Kind.SECOND_FACTOR_FAILED: "Wrong code of a second factor",
    Kind.SIGNED_OUT: "Signed out",
    Kind.SESSION_ENDED: "Session in another browser ended",
    Kind.PASSWORD_CHANGED: "Password changed; all other sessions ended",
    Kind.PASSWORD_RESET: "Password reset by mail; all sessions ended",
    Kind.ADDRESS_ENTERED: "New email address entered",
    Kind.ADDRESS_VERIFIED: "Email address verified",
    Kind.SECOND_FACTOR_ADDED: "Second factor added: {type}",
    Kind.SECOND_FACTOR_REMOVED: "Second factor removed: {type}",
    Kind.RECOVERY_CODES_REPLACED: "Recovery codes replaced",
    Kind.SECOND_FACTORS_RESET: "All second factors removed",
    Kind.TOKEN_CREATED: "Token created: {token}",
    Kind.TOKEN_REVOKED: "Token revoked: {token}",
    Kind.WEBHOOK_CREATED: "Webhook created: {webhook}",
    Kind.WEBHOOK_CHANGED: "Webhook changed: {webhook}",
    Kind.WEBHOOK_ENDED: "Webhook ended: {webhook}",
    Kind.PUBLISHER_TRUSTED: "Trusted publisher added: {publisher}",
    Kind.PUBLISHER_ENDED: "Trusted publisher ended: {publisher}",
    Kind.ORGANISATION_CREATED: "Organisation created",
    Kind.ORGANISATION_CONFIRMED: "Name of the organisation confirmed",
    Kind.INVITATION_SENT: "Invitation sent to {invitation}, as {role}",
    Kind.INVITATION_RENEWED: "Invitation renewed: {invitation}",
    Kind.INVITATION_REVOKED: "Invitation revoked: {invitation}",
    Kind.INVITATION_DECLINED: "Invitation declined: {invitation}",
    Kind.MEMBER_JOINED: "Became a member, as {role}",
    Kind.MEMBER_LEFT: "Left the organisation",
    Kind.MEMBER_REMOVED: "Removed from the organisation",
    Kind.MEMBER_ROLE_CHANGED: "Role changed from {before} to {after}",
    Kind.REGISTER_ROLE_GRANTED: "Became {role} of the register",
    Kind.REGISTER_ROLE_ENDED: "No longer {role} of the register",
    Kind.DATA_EXPORTED: "Own data downloaded",
    Kind.ACCOUNT_CLOSED: "Account closed",
}
FACTORS = {"totp": "authenticator app", "webauthn": "passkey", "recovery_codes": "recovery codes"}
METHODS = {"password": "password", "mfa": "second factor", "email": "link in a mail"}
COMMAND, UNKNOWN_CLIENT = "a command on the server", "a client that did not sign in"
NOT_STORED = "no longer stored"


@dataclass(frozen=True)
class Line:
    """One entry as a page shows it. `by` is empty if the person whose account it is acted."""

    at: datetime
    what: str
    person: str
    by: str
    organisation: str
    address: str | None


def lines_of(events: Iterable[AccountEvent], reader: User) -> list[Line]:
    """Return the lines of entries, fetched with actor, subject and organisation, as a user reads them."""
    events = list(events)
    tokens = dict(APIToken.objects.filter(pk__in=_numbers(events, "token")).values_list("pk", "name"))
    emails = dict(Invitation.objects.filter(pk__in=_numbers(events, "invitation")).values_list("pk", "email"))
    publishers = dict(TrustedPublisher.objects.filter(pk__in=_numbers(events, "publisher")).values_list("pk", "name"))
    names = {"token": tokens, "invitation": emails, "publisher": publishers}
    return [_line(event, reader, names) for event in events]


def _numbers(events: Iterable[AccountEvent], key: str) -> set[int]:
    return {event.details[key] for event in events if key in event.details}


def _line(event: AccountEvent, reader: User, names: Mapping[str, Mapping[int, str]]) -> Line:
    """Return an entry as a line; `names` are those of what the details name by id."""
    details = event.details
    methods = [METHODS.get(method, method) for method in details.get("methods", [])]
    words = details | {
        "methods": f" with {', '.join(methods)}" if methods else "",
        "type": FACTORS.get(details.get("type", ""), details.get("type", "")),
    }
    words |= {kind: by_id.get(details.get(kind, 0)) or NOT_STORED for kind, by_id in names.items()}
    return Line(
        at=event.at,
        what=SENTENCES[event.kind].format(**words),
        person=name_in(event, event.subject) if event.subject else "",
        by="" if event.actor_id is not None and event.actor_id == event.subject_id else _actor_name(event),
        organisation=str(event.organisation or ""),
        address=own_address(event, reader),
    )


def _actor_name(event: AccountEvent) -> str:
    if event.actor is not None:
        return name_in(event, event.actor)
    return COMMAND if event.address is None and event.kind not in FAILURES else UNKNOWN_CLIENT


FAILURES = {Kind.SIGN_IN_FAILED, Kind.SECOND_FACTOR_FAILED}


def own_address(event: AccountEvent, reader: User) -> str | None:
    """Return the address of an entry to its reader: never that of another person who acted."""
    is_own = event.actor_id == reader.pk or (event.actor_id is None and event.subject_id == reader.pk)
    return event.address if is_own else None


def name_in(event: AccountEvent, user: User) -> str:
    """Return the name of a user in an entry. The owner of one organisation does not learn of others."""
    if user.closed_at is not None and event.organisation is not None:
        return f"former member of {event.organisation}"
    return user.shown_name
