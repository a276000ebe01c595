"""The token in a request's `Authorization` header."""

from django.db.models import F

from webapp.accounts.models import APIToken, hash_token

SCHEME = "Bearer"


def bearer_secret(authorization: str) -> str | None:
    """Return the secret of a header; None where it is of another scheme or missing."""
    scheme, _, secret = authorization.partition(" ")
    return secret.strip() if scheme.lower() == SCHEME.lower() else None


def find_token(secret: str) -> APIToken | None:
    """Return the token that a secret opens the register with; None for one unknown, revoked or expired.

    A token also ends with the account of its owner, and with the owner's membership of its organisation.
    """
    tokens = APIToken.objects.valid().filter(digest=hash_token(secret), user__is_active=True)
    tokens = tokens.filter(user__memberships__organisation=F("organisation"))
    return tokens.select_related("user", "organisation").first()
