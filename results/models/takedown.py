"""Takedowns: requests to withhold a public result for legal reasons, and their confirmation by a second operator."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from results.models.run import Run, Visibility


class Takedown(models.Model):
    """A run that is withheld since `requested_at`. Without a confirmation, the request lapses at `lapses_at`.

    `reminded_at` is when the sweep announced that the request lapses soon. `before` is the state to which the run
    returns. `note` is for operators only; everyone reads the ground.
    """

    class Ground(models.TextChoices):
        """The legal ground, which everyone reads."""

        COURT_ORDER = "court-order", "a court order"
        LEGAL_CLAIM = "legal-claim", "a legal claim of a third party"
        PERSONAL_DATA = "personal-data", "personal data in the result"

    class End(models.TextChoices):
        """Why the run is no longer withheld."""

        LAPSED = "lapsed", "no second operator confirmed the takedown in time"
        RELEASED = "released", "an operator ended the takedown"

    run = models.ForeignKey(Run, models.PROTECT, related_name="takedowns")
    before = models.CharField(max_length=12, choices=Visibility)
    ground = models.CharField(max_length=20, choices=Ground)
    note = models.TextField(blank=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    requested_at = models.DateTimeField()
    lapses_at = models.DateTimeField()
    reminded_at = models.DateTimeField(null=True)
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    confirmed_at = models.DateTimeField(null=True)
    end = models.CharField(max_length=10, choices=End, blank=True)
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        """Newest first. A run has one takedown at a time; no operator confirms an own request."""

        ordering = ["-requested_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["run"], condition=Q(ended_at__isnull=True), name="one_takedown_of_a_run"),
            models.CheckConstraint(condition=~Q(confirmed_by=F("requested_by")), name="takedown_has_two_operators"),
            models.CheckConstraint(
                condition=Q(confirmed_at__isnull=True, confirmed_by__isnull=True)
                | Q(confirmed_at__lt=F("lapses_at"), confirmed_by__isnull=False),
                name="takedown_confirmed_before_it_lapses",
            ),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True, end="") | Q(ended_at__isnull=False, end__in=["lapsed", "released"]),
                name="ended_takedown_has_its_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"takedown of {self.run}"
