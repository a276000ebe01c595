"""The life of tokens, with an entry in the audit trail for each change: issued, used, revoked."""

import secrets
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from results.models import Organisation
from webapp.accounts.audit.trail import Actor, Kind, record
from webapp.accounts.models import APIToken, APITokenQuerySet, Scope, User, hash_token
from webapp.accounts.permissions import ALLOWED, Action, may

SCHEME = "Bearer"
PREFIX = "dc_"  # by which scanners of source code recognise a secret of this register
FOR_SENDERS = (Scope.SUBMIT, Scope.READ_OWN)
# A use is noted once in this time, so that a script that asks often does not write as often.
USE_NOTED_EVERY = timedelta(minutes=1)
ROLE_OF_SCOPE = {Scope.ORDER: Action.OPERATE, Scope.HOST: Action.OPERATE, Scope.REVIEW: Action.REVIEW}


def offered_scopes(user: User, kind: APIToken.Kind) -> list[Scope]:
    """Return the scopes that a user may give to a new token. A machine reviews nothing."""
    allowed = [scope for scope in Scope if scope not in ROLE_OF_SCOPE or may(user, ROLE_OF_SCOPE[scope])]
    return [scope for scope in allowed if kind == APIToken.Kind.PERSONAL or scope != Scope.REVIEW]


def issue_token(
    user: User, organisation: Organisation, name: str, scopes: Collection[str] = FOR_SENDERS, **columns: Any
) -> tuple[APIToken, str]:
    """Create a token; return the row and the secret, which is shown once and never stored.

    It is a personal token without an end unless `columns` states otherwise.
    """
    secret = PREFIX + secrets.token_urlsafe(32)
    columns |= {"scopes": [scope for scope in Scope if scope in scopes], "digest": hash_token(secret)}
    return APIToken.objects.create(user=user, organisation=organisation, name=name, **columns), secret


def bearer_secret(authorization: str) -> str | None:
    """Return the secret of a header; None if it is of another scheme or missing."""
    scheme, _, secret = authorization.partition(" ")
    return secret.strip() if scheme.lower() == SCHEME.lower() else None


def find_token(secret: str) -> APIToken | None:
    """Return the token that a secret opens the register with; None for one unknown, revoked or expired.

    A personal token also ends with the account of its user, and with the user's right to submit for its organisation.
    The use is noted.
    """
    is_of_member = Q(
        user__is_active=True,
        user__memberships__organisation=F("organisation"),
        user__memberships__role__in=ALLOWED[Action.SUBMIT],
    )
    tokens = APIToken.objects.valid().filter(is_of_member | ~Q(kind=APIToken.Kind.PERSONAL), digest=hash_token(secret))
    token = tokens.select_related("user", "organisation").first()
    if token is not None:
        _note_use(token)
    return token


@transaction.atomic
def revoke_tokens(tokens: APITokenQuerySet, actor: Actor) -> None:
    """Revoke those of the tokens that are not revoked yet."""
    for token in tokens.filter(revoked_at__isnull=True).select_for_update(of=("self",)):
        APIToken.objects.filter(pk=token.pk).update(revoked_at=timezone.now())
        record(Kind.TOKEN_REVOKED, actor, token.user, token.organisation, token=token.pk)


def machine_tokens(organisation: Organisation) -> APITokenQuerySet:
    """Return the valid tokens that belong to an organisation itself, newest first."""
    tokens = APIToken.objects.valid().filter(kind=APIToken.Kind.MACHINE, organisation=organisation)
    return tokens.select_related("user").order_by("-created_at", "-pk")


def _note_use(token: APIToken) -> None:
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at >= USE_NOTED_EVERY:
        APIToken.objects.filter(pk=token.pk).update(last_used_at=now)
