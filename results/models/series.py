"""The intervals of a run, packed: what charts of minutes are drawn from without reading the log again."""

from django.db import models

from results.models.run import Run


class Series(models.Model):
    """Counts of every histogram of a run by interval; `packed` is the reader's, in the form that `encoding` names.

    A run without one was read before series were kept, or has no interval of that length.
    """

    run = models.OneToOneField(Run, models.CASCADE, related_name="series")
    interval_s = models.PositiveIntegerField()
    start_s = models.PositiveIntegerField(default=0)
    intervals_count = models.PositiveIntegerField()
    encoding = models.CharField(max_length=40)
    packed = models.BinaryField()

    class Meta:
        """The name is its own plural."""

        verbose_name_plural = "series"

    def __str__(self) -> str:
        return f"{self.intervals_count} intervals of {self.interval_s} s of {self.run}"
