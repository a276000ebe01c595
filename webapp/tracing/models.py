"""The traces of rows of the queue: a worker continues the trace of the request that made its row."""

from django.db import models

from results.logs.tracing import DISPATCH, DRAFT_READING, READING


class RowTrace(models.Model):
    """The trace of a reading or dispatch, in the form of W3C Trace Context, for 30 days."""

    class Kind(models.TextChoices):
        """The table of the row."""

        READING = READING
        DRAFT_READING = DRAFT_READING
        DISPATCH = DISPATCH

    kind = models.CharField(max_length=20, choices=Kind)
    row_id = models.BigIntegerField()
    traceparent = models.CharField(max_length=55)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        """A row has one trace."""

        verbose_name = "trace of a row"
        constraints = [models.UniqueConstraint(fields=["kind", "row_id"], name="one_trace_of_a_row")]

    def __str__(self) -> str:
        return f"{self.kind} {self.row_id}: {self.traceparent}"
