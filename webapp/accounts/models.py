"""Users, their roles, memberships and invitations, the tokens that labs' scripts send, and the audit trail."""

import hashlib
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.contrib.auth.models import UserManager as DjangoUserManager
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from results.models import Organisation


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
    # Of a closed account (privacy/closing.py): its events stay, and name this organisation instead of the person.
    closed_at = models.DateTimeField(null=True)
    former_organisation = models.ForeignKey(Organisation, models.PROTECT, null=True, related_name="+")

    objects = UserManager()  # type: ignore[misc]

    # Of users whom webapp/accounts/backends.py loads for a session.
    has_verified_address: bool
    has_second_factor: bool

    @property
    def shown_name(self) -> str:
        """Return the name that pages show: that of a closed account no longer names the person."""
        if self.closed_at is None:
            return self.username
        return f"former member of {self.former_organisation}" if self.former_organisation else "former user"


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


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Invitations by whether they can still be accepted."""

    def open(self) -> "InvitationQuerySet":
        """Return the invitations that are not accepted, revoked or declined. An expired one can still be renewed."""
        return self.filter(accepted_at__isnull=True, revoked_at__isnull=True, declined_at__isnull=True)

    def acceptable(self) -> "InvitationQuerySet":
        """Return the open invitations that have not expired."""
        return self.open().filter(expires_at__gt=timezone.now())


class Invitation(models.Model):
    """An offer to a mail address to become a member. Only the SHA-256 of the secret in its link is stored."""

    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="invitations")
    email = models.EmailField()  # in lower case
    role = models.CharField(max_length=10, choices=Role)
    digest = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    declined_at = models.DateTimeField(null=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        """An organisation has one open invitation for an address."""

        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "email"],
                condition=Q(accepted_at__isnull=True, revoked_at__isnull=True, declined_at__isnull=True),
                name="one_open_invitation_each",
            ),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="invitation_has_a_role"),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk} to {self.organisation}"

    @property
    def is_expired(self) -> bool:
        """Return whether its link no longer works."""
        return self.expires_at <= timezone.now()


class FormerMembership(models.Model):
    """A membership that ended. A trigger of the database writes it, however the membership ended (migration 0007).

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


class Scope(models.TextChoices):
    """What a token may do. Its holder also needs the role that the same action needs on the pages."""

    SUBMIT = "submit", "send logs, check them, and answer questions about them"
    READ_OWN = "read-own", "read the drafts, submissions and results of its organisation"
    ORDER = "order", "order, pause and cancel runs and campaigns in the lab, and read it"
    HOST = "host", "read lab hosts, drives, runs and campaigns"
    REVIEW = "review", "review submissions and change the facts of products"


class TrustedPublisher(models.Model):
    """A CI service that gets short tokens of an organisation for its identity tokens (OpenID Connect).

    An identity token is accepted if `issuer` signed it for `audience`, and if it states each of `claims` with the same
    text. It belongs to the organisation: `created_by` may leave.
    """

    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="trusted_publishers")
    created_by = models.ForeignKey(User, models.PROTECT, related_name="created_publishers")
    name = models.CharField(max_length=100)
    issuer = models.CharField(max_length=500)
    audience = models.CharField(max_length=200)
    claims = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        """Without a claim, everyone at the issuer would be trusted."""

        constraints = [
            models.CheckConstraint(condition=~Q(claims={}), name="publisher_has_claims"),
            models.UniqueConstraint(
                fields=["organisation", "name"], condition=Q(ended_at__isnull=True), name="publisher_name_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.organisation}"


class APITokenQuerySet(models.QuerySet["APIToken"]):
    """Tokens by whether they open anything."""

    def valid(self) -> "APITokenQuerySet":
        """Return the tokens that are neither revoked nor expired."""
        now = timezone.now()
        return self.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now), revoked_at__isnull=True)


class APIToken(models.Model):
    """A secret for scripts; only its SHA-256 is kept, so that a copy of the database opens nothing.

    A personal token ends with the membership of its user. A machine token belongs to the organisation: `user` created
    it, and it works until it expires or is revoked. A publisher's token was exchanged for an identity token, whose
    digest is `identity_digest`: the same one gets no second token. Its `user` created the publisher.
    """

    class Kind(models.TextChoices):
        """Whose token it is."""

        PERSONAL = "personal"
        MACHINE = "machine"
        PUBLISHER = "publisher"

    kind = models.CharField(max_length=10, choices=Kind, default=Kind.PERSONAL)
    user = models.ForeignKey(User, models.PROTECT, related_name="api_tokens")
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="api_tokens")
    name = models.CharField(max_length=100)
    machine = models.CharField(max_length=100, blank=True)  # where it is used, as its creator stated
    scopes = ArrayField(models.CharField(max_length=20, choices=Scope))
    digest = models.CharField(max_length=64, unique=True)
    publisher = models.ForeignKey(TrustedPublisher, models.PROTECT, null=True, related_name="tokens")
    identity_digest = models.CharField(max_length=64, blank=True, default="", db_default="")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)  # null: a token of an early release, without an end
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)  # to the minute

    objects = APITokenQuerySet.as_manager()

    class Meta:
        """It may do something, and nothing else than the scopes say. Reviews are decisions of people."""

        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["personal", "machine", "publisher"]), name="token_has_a_kind"),
            models.CheckConstraint(
                condition=(
                    Q(kind="publisher", publisher__isnull=False, expires_at__isnull=False) & ~Q(identity_digest="")
                )
                | (~Q(kind="publisher") & Q(publisher__isnull=True, identity_digest="")),
                name="publisher_token_is_for_an_identity_and_ends",
            ),
            models.UniqueConstraint(
                fields=["identity_digest"], condition=~Q(identity_digest=""), name="one_token_per_identity"
            ),
            models.CheckConstraint(
                condition=Q(scopes__len__gt=0, scopes__contained_by=Scope.values), name="token_has_scopes"
            ),
            models.CheckConstraint(
                condition=Q(kind="personal") | ~Q(scopes__contains=["review"]), name="machine_token_reviews_nothing"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.organisation}"

    @property
    def is_expired(self) -> bool:
        """Return whether its time is over."""
        return self.expires_at is not None and self.expires_at <= timezone.now()


def hash_token(secret: str) -> str:
    """Return the digest under which a token is stored. The secret has 256 random bits, so no slow hash is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


class AccountEvent(models.Model):
    """One entry of the audit trail of accounts.

    The database refuses to change or delete a row, except that `address` may be removed. So no column but that one has
    personal data: names and mail addresses stay in the rows that `details` refers to by id.
    """

    class Kind(models.TextChoices):
        """What happened; audit/sentences.py has a sentence for each."""

        ACCOUNT_CREATED = "account-created"
        SIGNED_IN = "signed-in"
        SIGN_IN_FAILED = "sign-in-failed"
        SECOND_FACTOR_FAILED = "second-factor-failed"
        SIGNED_OUT = "signed-out"
        SESSION_ENDED = "session-ended"
        PASSWORD_CHANGED = "password-changed"
        PASSWORD_RESET = "password-reset"
        ADDRESS_ENTERED = "address-entered"
        ADDRESS_VERIFIED = "address-verified"
        SECOND_FACTOR_ADDED = "second-factor-added"
        SECOND_FACTOR_REMOVED = "second-factor-removed"
        RECOVERY_CODES_REPLACED = "recovery-codes-replaced"
        SECOND_FACTORS_RESET = "second-factors-reset"
        TOKEN_CREATED = "token-created"
        TOKEN_REVOKED = "token-revoked"
        PUBLISHER_TRUSTED = "publisher-trusted"
        PUBLISHER_ENDED = "publisher-ended"
        WEBHOOK_CREATED = "webhook-created"
        WEBHOOK_CHANGED = "webhook-changed"
        WEBHOOK_ENDED = "webhook-ended"
        ORGANISATION_CREATED = "organisation-created"
        ORGANISATION_CONFIRMED = "organisation-confirmed"
        INVITATION_SENT = "invitation-sent"
        INVITATION_RENEWED = "invitation-renewed"
        INVITATION_REVOKED = "invitation-revoked"
        INVITATION_DECLINED = "invitation-declined"
        MEMBER_JOINED = "member-joined"
        MEMBER_LEFT = "member-left"
        MEMBER_REMOVED = "member-removed"
        MEMBER_ROLE_CHANGED = "member-role-changed"
        REGISTER_ROLE_GRANTED = "register-role-granted"
        REGISTER_ROLE_ENDED = "register-role-ended"
        DATA_EXPORTED = "data-exported"
        ACCOUNT_CLOSED = "account-closed"

    at = models.DateTimeField(default=timezone.now)
    kind = models.CharField(max_length=40, choices=Kind)
    actor = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    subject = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    organisation = models.ForeignKey(Organisation, models.PROTECT, null=True, related_name="+")
    address = models.GenericIPAddressField(null=True)
    details = models.JSONField(default=dict)

    class Meta:
        """Indexes for the pages of a user and of an organisation, and for the removal of addresses."""

        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["subject", "-at", "-id"], name="account_event_by_subject"),
            models.Index(fields=["actor", "-at", "-id"], name="account_event_by_actor"),
            models.Index(fields=["organisation", "-at", "-id"], name="account_event_by_org"),
            models.Index(fields=["at"], condition=Q(address__isnull=False), name="account_event_with_address"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.at:%Y-%m-%d %H:%M}"
