"""The files that came with a log: its stderr, command line, configuration, HDR files."""

from django.db import models

from results.models.evidence import Evidence, Submission


class Companion(models.Model):
    """A file that belongs to the log of a submission; what it is, the reader says once it has read it."""

    submission = models.ForeignKey(Submission, models.PROTECT, related_name="companions")
    evidence = models.ForeignKey(Evidence, models.PROTECT, related_name="companion_of")
    filename = models.CharField(max_length=255)
    role = models.CharField(max_length=20, blank=True)

    class Meta:
        """The same bytes may belong to several logs, and to each of them once under a name."""

        ordering = ["filename", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "evidence", "filename"], name="companion_unique_in_submission"
            )
        ]

    def __str__(self) -> str:
        return f"{self.filename} of {self.submission}"
