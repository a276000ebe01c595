"""Agents of lab hosts, and the exchanges that wait for them."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from results.models.evidence import SHA256_HEX_CHARS
from results.models.ids import new_public_id
from runners.models.host import Host

# The database notifies the worker that waits for an exchange on this channel, followed by the exchange's public id.
ANSWER_CHANNEL = "drivecert_answer_"
VERSION_CHARS = 40


def new_agent_id() -> str:
    """Return a new public id for an agent."""
    return new_public_id("a")


def new_exchange_id() -> str:
    """Return a new public id for an exchange."""
    return new_public_id("x")


class Agent(models.Model):
    """The agent of a host: the program there that fetches requests from the register.

    `code_hash` is that of the join code, `secret_hash` that of the secret that the agent generated; empty without one.
    `code_expires_at` is None once the code is used. `seen_at` is exact to ten seconds. `revoked_at` is None unless the
    secret was revoked since the agent joined.
    """

    host = models.OneToOneField(Host, models.PROTECT, related_name="agent")
    public_id = models.CharField(max_length=10, unique=True, default=new_agent_id)
    code_hash = models.CharField(max_length=SHA256_HEX_CHARS, blank=True, default="")
    code_expires_at = models.DateTimeField(null=True)
    secret_hash = models.CharField(max_length=SHA256_HEX_CHARS, blank=True, default="")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="created_agents")
    created_at = models.DateTimeField(auto_now_add=True)
    joined_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    version = models.CharField(max_length=VERSION_CHARS, blank=True, default="")

    class Meta:
        """A code and a secret belong to one agent."""

        constraints = [
            models.UniqueConstraint(fields=["code_hash"], condition=~Q(code_hash=""), name="one_agent_per_code"),
            models.UniqueConstraint(fields=["secret_hash"], condition=~Q(secret_hash=""), name="one_agent_per_secret"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def is_joined(self) -> bool:
        """Whether the agent has joined and is not revoked."""
        return self.secret_hash != ""


class AgentExchange(models.Model):
    """One batch of requests to an agent host, and its answer. The worker that waits for the answer deletes the row.

    `expires_at` uses the database's clock. From then on no agent gets the requests and no answer is accepted.
    """

    public_id = models.CharField(max_length=10, unique=True, default=new_exchange_id)
    host = models.ForeignKey(Host, models.CASCADE, related_name="exchanges")
    payload = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    answer = models.BinaryField(null=True)
    answered_at = models.DateTimeField(null=True)

    class Meta:
        """The oldest first. An answer has its time."""

        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(answer__isnull=True, answered_at__isnull=True)
                | Q(answer__isnull=False, answered_at__isnull=False),
                name="answer_has_its_time",
            )
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def answer_channel(self) -> str:
        """Return the channel on which the database announces the answer."""
        return ANSWER_CHANNEL + self.public_id
