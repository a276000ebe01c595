"""YCSB runs: facts, operations and status lines, in addition to the columns of every run."""

from django.db import models

from results.models.run import Run

YCSB = "ycsb"  # the workload of such runs


class YcsbRun(models.Model):
    """The facts of one execution of YCSB or go-ycsb, as far as its output contains them.

    `sweep_key` is the same for runs that differ in their threads only; empty if the output reports too little.
    """

    class Validity(models.TextChoices):
        """Undecided: the output does not show it, for example without its command line."""

        VALID = "valid"
        INVALID = "invalid"
        UNDECIDED = "undecided"

    run = models.OneToOneField(Run, models.CASCADE, related_name="ycsb")
    phase = models.CharField(max_length=10, blank=True)
    workload = models.CharField(max_length=200, blank=True)
    binding = models.CharField(max_length=200, blank=True)
    measurement = models.CharField(max_length=40, blank=True)
    times = models.CharField(max_length=20, blank=True)
    command_line = models.TextField(blank=True)
    properties = models.JSONField(default=list)
    threads_count = models.PositiveIntegerField(null=True)
    target_ops_per_s = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    record_count = models.BigIntegerField(null=True)
    operation_count = models.BigIntegerField(null=True)
    time_limit_s = models.BigIntegerField(null=True)
    runtime_ms = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    throughput_ops_per_s = models.DecimalField(max_digits=30, decimal_places=12, null=True)
    done_ops_count = models.BigIntegerField(null=True)
    failed_ops_count = models.BigIntegerField(null=True)
    validity = models.CharField(max_length=10, choices=Validity)
    reasons = models.JSONField(default=list)
    sweep_key = models.CharField(max_length=64, blank=True)

    class Meta:
        """Index for queries of a sweep by its key, in thread order."""

        verbose_name = "YCSB run"
        indexes = [
            models.Index(
                fields=["sweep_key", "threads_count"], condition=~models.Q(sweep_key=""), name="ycsb_run_by_sweep"
            )
        ]

    def __str__(self) -> str:
        return f"{self.workload or 'YCSB'} {self.phase} of {self.run}"


class YcsbOperation(models.Model):
    """One kind of operation with one outcome: counts and times in us; null is what the output does not print.

    `percentiles` holds every one that was printed, as pairs of text; the columns are those that are queried most.
    """

    ycsb_run = models.ForeignKey(YcsbRun, models.CASCADE, related_name="operations")
    ordinal = models.PositiveIntegerField()
    name = models.CharField(max_length=160)
    outcome = models.CharField(max_length=40)
    time = models.CharField(max_length=20)
    ops_count = models.BigIntegerField(null=True)
    mean_us = models.FloatField(null=True)
    min_us = models.FloatField(null=True)
    max_us = models.FloatField(null=True)
    p50_us = models.FloatField(null=True)
    p95_us = models.FloatField(null=True)
    p99_us = models.FloatField(null=True)
    p999_us = models.FloatField(null=True)
    p9999_us = models.FloatField(null=True)
    percentiles = models.JSONField(default=list)
    returns = models.JSONField(default=list)
    taken_from = models.CharField(max_length=10)

    class Meta:
        """In the reader's order."""

        verbose_name = "YCSB operation"
        ordering = ["ordinal"]
        constraints = [models.UniqueConstraint(fields=["ycsb_run", "ordinal"], name="ycsb_operation_unique_in_run")]

    def __str__(self) -> str:
        return f"{self.name} {self.outcome} ({self.time} time)"


class YcsbInterval(models.Model):
    """One status line: `done_ops_count` is cumulative, `operations` are of this interval alone."""

    ycsb_run = models.ForeignKey(YcsbRun, models.CASCADE, related_name="intervals")
    ordinal = models.PositiveIntegerField()
    elapsed_s = models.BigIntegerField()
    done_ops_count = models.BigIntegerField(null=True)
    ops_per_s = models.DecimalField(max_digits=30, decimal_places=12, null=True)
    operations = models.JSONField(default=list)

    class Meta:
        """In the order of the log."""

        verbose_name = "YCSB interval"
        ordering = ["ordinal"]
        constraints = [models.UniqueConstraint(fields=["ycsb_run", "ordinal"], name="ycsb_interval_unique_in_run")]

    def __str__(self) -> str:
        return f"{self.elapsed_s} s of {self.ycsb_run}"
