"""Templates of orders: the settings of a campaign or run that a lab saved under a name."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower

from results.models.ids import new_public_id

NAME_CHARS = 100


def new_template_id() -> str:
    """Return a new public id for a template."""
    return new_public_id("t")


class OrderTemplate(models.Model):
    """The settings of an order without its drives. `settings` are the fields of the form of its kind, as JSON values.

    It belongs to the lab: `created_by` may leave.
    """

    class Kind(models.TextChoices):
        """What is ordered with the settings."""

        CAMPAIGN = "campaign", "campaign"
        RUN = "run", "ACT run"
        SWEEP = "sweep", "YCSB sweep"

    organisation = models.ForeignKey("results.Organisation", models.PROTECT, related_name="order_templates")
    public_id = models.CharField(max_length=10, unique=True, default=new_template_id)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="created_templates")
    kind = models.CharField(max_length=12, choices=Kind)
    name = models.CharField(max_length=NAME_CHARS)
    settings = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """A name of a lab is used once; upper and lower case are equal."""

        constraints = [
            models.UniqueConstraint("organisation", Lower("name"), name="template_name_used_once_in_a_lab"),
        ]

    def __str__(self) -> str:
        return self.name
