"""Users, their memberships, and the tokens that labs' scripts send."""

import hashlib
import secrets

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.utils import timezone

from results.models import Organisation

TOKEN_PREFIX = "dc_"


class User(AbstractUser):
    """A person; staff review and run the lab. Our own model from the first migration, so that it can grow."""

    # Of users whom webapp/accounts/backends.py loads for a session.
    has_verified_address: bool
    has_second_factor: bool


class Membership(models.Model):
    """A person acts for an organisation."""

    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="memberships")

    class Meta:
        """Once each."""

        constraints = [models.UniqueConstraint(fields=["user", "organisation"], name="one_membership_each")]

    def __str__(self) -> str:
        return f"{self.user} of {self.organisation}"


class APITokenQuerySet(models.QuerySet["APIToken"]):
    """Tokens by whether they open anything."""

    def valid(self) -> "APITokenQuerySet":
        """Return the tokens that are neither revoked nor expired."""
        now = timezone.now()
        return self.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now), revoked_at__isnull=True)


class APIToken(models.Model):
    """A secret for scripts; only its SHA-256 is kept, so that a copy of the database opens nothing."""

    user = models.ForeignKey(User, models.PROTECT, related_name="api_tokens")
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = APITokenQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.name} of {self.organisation}"


def hash_token(secret: str) -> str:
    """Return the digest under which a token is stored. The secret has 256 random bits, so no slow hash is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def issue_token(user: User, organisation: Organisation, name: str) -> tuple[APIToken, str]:
    """Create a token; return the row and the secret, which is shown once and never stored."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = APIToken.objects.create(user=user, organisation=organisation, name=name, digest=hash_token(secret))
    return token, secret
