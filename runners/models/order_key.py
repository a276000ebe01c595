"""The keys under which scripts order, so that a repeated request orders once."""

from django.db import models

from results.models import Organisation
from runners.models.campaign import Campaign
from runners.models.dispatch import Dispatch

KEY_CHARS = 200


class OrderKey(models.Model):
    """An Idempotency-Key of a lab, and the dispatch or campaign that was ordered under it.

    `digest` is the SHA-256 of the order. Another order with the same key is refused.
    """

    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="+")
    key = models.CharField(max_length=KEY_CHARS)
    digest = models.CharField(max_length=64)
    dispatch = models.ForeignKey(Dispatch, models.PROTECT, null=True, related_name="+")
    campaign = models.ForeignKey(Campaign, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Of two requests at the same moment, the database lets only one order."""

        constraints = [models.UniqueConstraint(fields=["organisation", "key"], name="order_key_used_once")]

    def __str__(self) -> str:
        return self.key
