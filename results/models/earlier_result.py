"""What an earlier reading or rule version said of a run, kept when a newer one took its place."""

from django.db import models

from results.models.profile import Profile
from results.models.reading import Reading
from results.models.run import Run, Verdict


class EarlierResult(models.Model):
    """All that stood of a run before it was judged anew: columns, histograms, slices, shares, findings, verdict.

    `document` is that, in the shape of docs/formats.md; the database refuses to change or delete a row.
    """

    run = models.ForeignKey(Run, models.PROTECT, related_name="earlier_results")
    number = models.PositiveSmallIntegerField()
    reading = models.ForeignKey(Reading, models.PROTECT, related_name="+")
    reader_version = models.CharField(max_length=40)
    profile = models.ForeignKey(Profile, models.PROTECT, null=True, related_name="+")
    outcome = models.CharField(max_length=10, choices=Verdict.Outcome, blank=True)
    headline = models.TextField(blank=True)
    document = models.JSONField()
    judged_at = models.DateTimeField()
    replaced_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Numbered from 1, the oldest first."""

        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="earlier_result_number_unique_in_run")]

    def __str__(self) -> str:
        return f"{self.run}, as read by drivetest {self.reader_version}"
