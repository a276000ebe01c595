"""Users, their roles and memberships, and the tokens that labs' scripts send."""

import hashlib
import secrets
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.contrib.auth.models import UserManager as DjangoUserManager
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from results.models import Organisation

TOKEN_PREFIX = "dc_"


class UserManager(DjangoUserManager["User"]):
    """The creation of users, with the roles of the register instead of Django's `is_staff`."""

    use_in_migrations = False

    def create_user(
        self, username: str, email: str | None = None, password: str | None = None, **columns: Any
    ) -> "User":
        """Create a user, who has no role unless `columns` states one."""
        user = self.model(
            username=self.model.normalize_username(username), email=self.normalize_email(email), **columns
        )
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(
        self, username: str, email: str | None = None, password: str | None = None, **columns: Any
    ) -> "User":
        """Create the first user of a register, who has both roles."""
        roles = {"is_superuser": True, "is_reviewer": True, "is_operator": True}
        return self.create_user(username, email, password, **roles, **columns)


class User(AbstractUser):
    """A person. Reviewers and operators have roles in the register; other roles are those of a membership."""

    is_staff = None  # removes Django's column: the two roles replace it
    is_reviewer = models.BooleanField(default=False)
    is_operator = models.BooleanField(default=False)

    objects = UserManager()  # type: ignore[misc]

    # Of users whom webapp/accounts/backends.py loads for a session.
    has_verified_address: bool
    has_second_factor: bool


class Role(models.TextChoices):
    """What a member may do for an organisation; webapp/accounts/permissions.py has the table."""

    OWNER = "owner"
    SUBMITTER = "submitter"
    VIEWER = "viewer"


class Membership(models.Model):
    """A person acts for an organisation, in one role. No role is a default: each place that adds a member chooses."""

    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Once each."""

        constraints = [
            models.UniqueConstraint(fields=["user", "organisation"], name="one_membership_each"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_has_a_role"),
        ]

    def __str__(self) -> str:
        return f"{self.user}, {self.role} of {self.organisation}"


class FormerMembership(models.Model):
    """A membership that ended. A trigger of the database writes it, however the membership ended (migration 0041).

    It answers whether a reviewer belonged to an organisation when a log was submitted (affiliations.py).
    """

    user = models.ForeignKey(User, models.DO_NOTHING, related_name="+", db_constraint=False)
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="+")
    joined_at = models.DateTimeField()
    left_at = models.DateTimeField()

    class Meta:
        """It ends after it began."""

        constraints = [
            models.CheckConstraint(condition=Q(left_at__gte=F("joined_at")), name="membership_ends_after_it_began")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} of {self.organisation} until {self.left_at}"


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
