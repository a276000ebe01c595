"""Figures and claims of vendors' publications: what was public without a log behind it."""

from django.db import models


class PublishedFigure(models.Model):
    """One YCSB figure as a publication states it or as read off its charts; `value` keeps the printed digits.

    `catalogue_key` names the row in results/catalogue/published, so that importing twice changes nothing.
    """

    catalogue_key = models.CharField(max_length=64, unique=True)
    publication = models.SlugField()
    database = models.CharField(max_length=40)
    vendor = models.CharField(max_length=200)
    model = models.CharField(max_length=200)
    capacity_gb = models.PositiveIntegerField(null=True)
    workload = models.CharField(max_length=10, blank=True)
    threads_count = models.PositiveIntegerField(null=True)
    at_ops_per_s = models.PositiveIntegerField(null=True)
    metric = models.CharField(max_length=60)
    value = models.CharField(max_length=30)
    unit = models.CharField(max_length=20)
    source_label = models.CharField(max_length=100, blank=True)
    operations_count = models.BigIntegerField(null=True)
    exactness = models.CharField(max_length=60)

    class Meta:
        """Index for queries of a sweep by publication, workload and metric."""

        indexes = [models.Index(fields=["publication", "workload", "metric"], name="figure_by_sweep")]

    def __str__(self) -> str:
        return f"{self.model} {self.workload} {self.metric}: {self.value} {self.unit}"


class PublishedClaim(models.Model):
    """A claim of a publication, the value that its own figures give, and whether the two agree.

    `status` judges the recomputed value as printed, `exact_status` the exact value, as pages do. The latter is empty if
    an earlier release imported the claim.
    """

    catalogue_key = models.CharField(max_length=64, unique=True)
    publication = models.SlugField()
    claim = models.CharField(max_length=200)
    workload = models.CharField(max_length=10, blank=True)
    device = models.CharField(max_length=100)
    against = models.CharField(max_length=100)
    stated_value = models.CharField(max_length=30)
    unit = models.CharField(max_length=20, blank=True)
    computation = models.CharField(max_length=200, blank=True)
    recomputed_value = models.CharField(max_length=30, blank=True)
    status = models.CharField(max_length=60)
    exact_status = models.CharField(max_length=60, blank=True, default="", db_default="")
    note = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"{self.claim}: {self.stated_value} {self.unit}"
