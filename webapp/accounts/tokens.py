"""The end of tokens, with an entry in the audit trail for each."""

from django.db import transaction
from django.utils import timezone

from webapp.accounts.audit.trail import Actor, Kind, record
from webapp.accounts.models import APIToken, APITokenQuerySet


@transaction.atomic
def revoke_tokens(tokens: APITokenQuerySet, actor: Actor) -> None:
    """Revoke those of the tokens that are not revoked yet."""
    for token in tokens.filter(revoked_at__isnull=True).select_for_update(of=("self",)):
        APIToken.objects.filter(pk=token.pk).update(revoked_at=timezone.now())
        record(Kind.TOKEN_REVOKED, actor, token.user, token.organisation, token=token.pk)
