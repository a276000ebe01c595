"""Trusted publishers: owners add and end them, and CI jobs exchange their identity tokens for API tokens."""

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import jwt
from django.db import IntegrityError, models, transaction
from django.utils import timezone
from jwt.exceptions import InvalidAudienceError, InvalidTokenError

from results.models import Organisation
from webapp.accounts.audit.trail import Actor, Kind, record
from webapp.accounts.models import APIToken, TrustedPublisher
from webapp.accounts.publishers.keys import IssuerError, find_key
from webapp.accounts.tokens.rules import FOR_SENDERS, issue_token, revoke_tokens

TOKEN_LIFE = timedelta(hours=1)  # enough to send a log of days and to wait for its verdict
CLOCK_OFFSET_S = 30  # clocks of the issuer and the register differ
IDENTITY_AGE_MOST = timedelta(hours=1)
IDENTITY_CHARS = 16_384
PUBLISHERS_MAX = 20  # of an organisation
NEEDED = ["iss", "aud", "exp", "iat"]


class Refusal(models.TextChoices):
    """The reasons to refuse an identity token, each as a code and a sentence."""

    UNREADABLE = "identity-unreadable", "The identity token is no JSON Web Token with a header and claims."
    UNKNOWN_ISSUER = "issuer-not-trusted", "The organisation trusts no publisher of the issuer of this identity token."
    ISSUER_AWAY = "issuer-unreachable", "The keys of the issuer could not be read."
    INVALID = "identity-invalid", "The identity token is not valid."
    AUDIENCE = "audience-differs", "The identity token is for another audience."
    CLAIMS = "claims-differ", "The identity token states other claims than each trusted publisher expects."
    USED = "identity-used", "This identity token got a token before. Request a new one from the CI service."


class IdentityRefusedError(Exception):
    """An identity token was refused."""

    def __init__(self, refusal: Refusal, detail: str = "") -> None:
        self.refusal = refusal
        super().__init__(f"{refusal.label}{f' {detail}' if detail else ''}")


class TooManyPublishersError(Exception):
    """An organisation trusts as many publishers as it may."""


def current_publishers(organisation: Organisation) -> models.QuerySet[TrustedPublisher]:
    """Return the publishers that an organisation trusts now, in the order of their creation."""
    return organisation.trusted_publishers.filter(ended_at__isnull=True).select_related("created_by").order_by("pk")


@transaction.atomic
def trust(organisation: Organisation, actor: Actor, **columns: Any) -> TrustedPublisher:
    """Add a trusted publisher. Raises TooManyPublishersError."""
    Organisation.objects.select_for_update(of=("self",)).get(pk=organisation.pk)
    if current_publishers(organisation).count() >= PUBLISHERS_MAX:
        raise TooManyPublishersError(f"{organisation} has {PUBLISHERS_MAX} publishers already. End one first.")
    publisher = TrustedPublisher.objects.create(organisation=organisation, created_by=actor.person, **columns)
    record(Kind.PUBLISHER_TRUSTED, actor, actor.user, organisation, publisher=publisher.pk)
    return publisher


@transaction.atomic
def end(publisher: TrustedPublisher, actor: Actor) -> None:
    """End the trust in a publisher, and revoke its tokens at once."""
    if TrustedPublisher.objects.filter(pk=publisher.pk, ended_at__isnull=True).update(ended_at=timezone.now()):
        revoke_tokens(APIToken.objects.valid().filter(publisher=publisher), actor)
        record(Kind.PUBLISHER_ENDED, actor, actor.user, publisher.organisation, publisher=publisher.pk)


def exchange(organisation: Organisation | None, identity: str) -> tuple[APIToken, str]:
    """Return a short token for an identity token, and its secret. Raises IdentityRefusedError.

    An unknown organisation, None, is refused like one that trusts no publisher.
    """
    key_id, issuer = _unverified(identity)
    trusting = [] if organisation is None else list(current_publishers(organisation).filter(issuer=issuer))
    if not trusting or organisation is None:
        raise IdentityRefusedError(Refusal.UNKNOWN_ISSUER)
    try:
        key = find_key(issuer, key_id)
    except IssuerError as error:
        raise IdentityRefusedError(Refusal.ISSUER_AWAY, f"{error}.") from error
    if key is None:
        raise IdentityRefusedError(Refusal.INVALID, "The issuer has no key with the id of its header.")
    claims = _verified(identity, key, issuer, [publisher.audience for publisher in trusting])
    publisher = _matching(trusting, claims)
    try:
        with transaction.atomic():
            return _issue(publisher, claims, identity)
    except IntegrityError as error:
        raise IdentityRefusedError(Refusal.USED) from error


def _issue(publisher: TrustedPublisher, claims: Mapping[str, Any], identity: str) -> tuple[APIToken, str]:
    """Issue the token, unless the trust has ended meanwhile. Raises IdentityRefusedError."""
    trusted = current_publishers(publisher.organisation).filter(pk=publisher.pk).select_for_update(of=("self",))
    if not trusted.exists():
        raise IdentityRefusedError(Refusal.UNKNOWN_ISSUER)
    token, secret = issue_token(
        publisher.created_by,
        publisher.organisation,
        publisher.name,
        FOR_SENDERS,
        kind=APIToken.Kind.PUBLISHER,
        publisher=publisher,
        identity_digest=_digest(identity),
        machine=str(claims.get("sub", ""))[:100],
        expires_at=timezone.now() + TOKEN_LIFE,
    )
    record(Kind.TOKEN_CREATED, Actor(), None, publisher.organisation, token=token.pk)
    return token, secret


def _unverified(identity: str) -> tuple[str, str]:
    """Return the id of the key and the issuer that an identity token states. Raises IdentityRefusedError."""
    try:
        key_id = jwt.get_unverified_header(identity).get("kid")
        issuer = jwt.decode(identity, options={"verify_signature": False}).get("iss")
    except (InvalidTokenError, ValueError, RecursionError) as error:
        raise IdentityRefusedError(Refusal.UNREADABLE) from error
    if not isinstance(key_id, str) or not isinstance(issuer, str):
        raise IdentityRefusedError(Refusal.UNREADABLE, "Its header needs kid, and its claims need iss.")
    return key_id, issuer


def _verified(identity: str, key: jwt.PyJWK, issuer: str, audiences: list[str]) -> Mapping[str, Any]:
    """Return the claims of an identity token that its issuer signed for an audience. Raises IdentityRefusedError."""
    try:
        claims: Mapping[str, Any] = jwt.decode(
            identity,
            key,
            algorithms=[key.algorithm_name],  # `find_key` returns no other than those of private keys
            audience=audiences,
            issuer=issuer,
            leeway=CLOCK_OFFSET_S,
            options={"require": NEEDED, "enforce_minimum_key_length": True},
        )
    except InvalidAudienceError as error:
        raise IdentityRefusedError(Refusal.AUDIENCE, f"Expected one of {', '.join(audiences)}.") from error
    except InvalidTokenError as error:
        raise IdentityRefusedError(Refusal.INVALID, f"{str(error).rstrip('.')}.") from error
    issued_at, earliest = claims["iat"], timezone.now() - IDENTITY_AGE_MOST
    if not isinstance(issued_at, int | float) or not issued_at >= earliest.timestamp():
        raise IdentityRefusedError(Refusal.INVALID, "It was issued more than an hour ago.")
    return claims


def _matching(trusting: list[TrustedPublisher], claims: Mapping[str, Any]) -> TrustedPublisher:
    """Return the publisher whose audience and claims an identity token states. Raises IdentityRefusedError."""
    stated = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    for_audience = [publisher for publisher in trusting if publisher.audience in stated]
    for publisher in for_audience:
        if all(claims.get(name) == text for name, text in publisher.claims.items()):
            return publisher
    differing = sorted({name for each in for_audience for name in each.claims if claims.get(name) != each.claims[name]})
    found = ", ".join(f"{name}={str(claims.get(name))[:100]}" for name in differing)
    raise IdentityRefusedError(Refusal.CLAIMS, f"Found {found}.")


def _digest(identity: str) -> str:
    """Return the digest of what was signed: a signature can be written in more than one way."""
    return hashlib.sha256(identity.rpartition(".")[0].encode()).hexdigest()
