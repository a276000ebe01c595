"""What an earlier reading or rule version said of a run, kept when a newer one took its place."""

from datetime import datetime

from django.db import models

from results.models.reading import Reading
from results.models.run import Run, Verdict


class EarlierResult(models.Model):
    """All that was read of a run before it was judged anew, where the new reading says anything else.

    `document` holds the run's columns and the rows below it (docs/decisions/0005); its verdict stays a row of its own.
    The database refuses to change or delete a row.
    """

    run = models.ForeignKey(Run, models.PROTECT, related_name="earlier_results")
    number = models.PositiveSmallIntegerField()
    reading = models.ForeignKey(Reading, models.PROTECT, related_name="+")
    verdict = models.OneToOneField(Verdict, models.PROTECT, null=True, related_name="earlier_result")
    document = models.JSONField()
    replaced_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Numbered from 1, the oldest first."""

        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="earlier_result_number_unique_in_run")]

    def __str__(self) -> str:
        return f"{self.run}, earlier result {self.number}"

    @property
    def public_since(self) -> datetime:
        """Since when everyone may read that it was replaced: not before its run was public."""
        return max(self.replaced_at, self.run.published_at or self.replaced_at)
