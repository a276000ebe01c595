"""Runs: executions of one workload, with slices, shares, findings, verdicts and packed intervals."""

from datetime import datetime
from functools import cached_property

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import ExpressionWrapper, F, Q

from results.models.evidence import PLACE_CHARS, Reading, Submission
from results.models.ids import new_run_id
from results.models.product import Product
from results.models.profile import Profile
from results.models.querysets import HistogramQuerySet, RunQuerySet, SliceQuerySet
from results.rules.host_causes import with_causes_in_words


class Tier(models.TextChoices):
    """The level of trust in a run, by the party that vouches for it."""

    PUBLISHED = "published", "published"
    VENDOR_REPORTED = "vendor-reported", "vendor-reported"
    REVIEWED = "reviewed", "reviewed"
    LAB_VERIFIED = "lab-verified", "lab-verified"


class Visibility(models.TextChoices):
    """Visibility of a run: to its owners and holders of its link, to everyone, or to everyone with a notice.

    Only results/lifecycle/visibility.py changes it, by its table of transitions. An embargoed run is reviewed. Until
    the embargo of its submission ends, the same people see it as an unreviewed run. A retracted run was withdrawn by
    its sender before it was public. A sequestered run is withheld for legal reasons: only operators see it.
    """

    UNREVIEWED = "unreviewed"
    EMBARGOED = "embargoed"
    PUBLIC = "public"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"
    RETRACTED = "retracted"
    SEQUESTERED = "sequestered"


class Statistic(models.TextChoices):
    """The method that reduces a run to one share. Tables never sort figures of two statistics together."""

    STEADY_AS_PUBLISHED = "steady-as-published", "steady state as published"
    WORST_SLICE = "worst-slice", "worst slice"
    OVERALL = "overall", "whole run"


class Run(models.Model):
    """One execution of one workload on one set of devices; rates are for all devices together.

    `region` and `zone` are a provider's names of where a cloud instance ran, empty if not reported. A run that
    `is_virtual` is never public; one `is_on_no_drive` by the names of its devices may be, if a reviewer decides so.
    The register's example runs are `is_demo`: their pages are public, but no list, count or certificate has them
    (RunQuerySet.public). They have no product.
    """

    public_id = models.CharField(max_length=20, unique=True, default=new_run_id)
    product = models.ForeignKey(Product, models.PROTECT, null=True, related_name="runs")
    submission = models.ForeignKey(Submission, models.PROTECT, null=True, related_name="runs")
    reading = models.ForeignKey(Reading, models.PROTECT, null=True, related_name="runs")
    ordinal = models.PositiveSmallIntegerField(default=0)
    member = models.CharField(max_length=500, blank=True)
    catalogue_key = models.CharField(max_length=64, unique=True, null=True)  # noqa: DJ001 - unique where it is
    source = models.CharField(max_length=200, blank=True)
    source_row = models.TextField(blank=True)
    tier = models.CharField(max_length=20, choices=Tier)
    visibility = models.CharField(max_length=12, choices=Visibility, default=Visibility.UNREVIEWED)
    statistic = models.CharField(max_length=20, choices=Statistic)
    workload = models.CharField(max_length=20, default="act-storage")
    tool = models.CharField(max_length=40, blank=True)
    tool_version = models.CharField(max_length=20, blank=True)
    reads_per_s = models.DecimalField(max_digits=14, decimal_places=2, null=True)
    writes_per_s = models.DecimalField(max_digits=14, decimal_places=2, null=True)
    tps = models.DecimalField(max_digits=14, decimal_places=2, null=True)
    nx_load = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    duration_s = models.PositiveIntegerField(null=True)
    slice_length_s = models.PositiveIntegerField(null=True)
    firmware = models.CharField(max_length=100, blank=True)
    over_provisioned_to_gb = models.PositiveIntegerField(null=True)
    over_provisioning_pct = models.DecimalField(max_digits=6, decimal_places=2, null=True)
    compress_pct = models.PositiveSmallIntegerField(null=True)
    device_count = models.PositiveSmallIntegerField(null=True)
    device_gb = models.PositiveIntegerField(null=True)
    backing_device = models.CharField(max_length=200, blank=True)
    protocol = models.CharField(max_length=40, blank=True)
    sole_tenant = models.BooleanField(null=True)
    region = models.CharField(max_length=PLACE_CHARS, blank=True, default="", db_default="")
    zone = models.CharField(max_length=PLACE_CHARS, blank=True, default="", db_default="")
    notes = models.TextField(blank=True)
    is_virtual = models.BooleanField(default=False)
    is_demo = models.BooleanField(default=False, db_default=False)
    started_at = models.DateTimeField(null=True)
    facts = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True)
    # Set by the migration of the release that brought approvals: the run was public, or withdrawn, before.
    predates_approvals = models.BooleanField(default=False, db_default=False)
    superseded_by = models.ForeignKey("self", models.PROTECT, null=True, related_name="supersedes")
    # A copy of a fact, because tables of thousands of runs do not load the facts; null if not reported.
    is_on_no_drive = models.GeneratedField(
        expression=ExpressionWrapper(Q(facts__is_virtual_device=True), output_field=models.BooleanField()),
        output_field=models.BooleanField(),
        db_persist=True,
        null=True,
    )

    objects = RunQuerySet.as_manager()

    class Meta:
        """A reading yields each of its runs once; a run is superseded by another one, and is current if by none.

        The indexes are of few runs: those that are not public yet, and those of YCSB.
        """

        constraints = [
            models.UniqueConstraint(fields=["reading", "ordinal"], name="run_unique_in_reading"),
            models.CheckConstraint(
                condition=Q(visibility__in=[Visibility.WITHDRAWN, Visibility.SEQUESTERED])
                | Q(visibility=Visibility.SUPERSEDED, superseded_by__isnull=False)
                | Q(
                    visibility__in=[
                        Visibility.UNREVIEWED,
                        Visibility.EMBARGOED,
                        Visibility.PUBLIC,
                        Visibility.RETRACTED,
                    ],
                    superseded_by__isnull=True,
                ),
                name="superseded_names_its_successor",
            ),
            models.CheckConstraint(condition=~Q(superseded_by=F("id")), name="run_supersedes_another"),
            # Products, certificates and ladders find runs by their product, so that none of them can find an example.
            models.CheckConstraint(
                condition=Q(is_demo=False) | Q(is_virtual=True, product__isnull=True),
                name="example_run_is_of_no_product",
            ),
        ]
        indexes = [
            *(
                models.Index(fields=["submission"], condition=Q(visibility=each.value), name=f"run_{each.value}")
                for each in (Visibility.UNREVIEWED, Visibility.EMBARGOED)
            ),
            models.Index(fields=["product"], condition=Q(workload="ycsb"), name="run_of_ycsb"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def is_mix_reported(self) -> bool:
        """Return whether the source reports the reads and the writes a second apart, not only their sum."""
        return bool(self.reads_per_s and self.writes_per_s)

    @cached_property
    def judged_histogram(self) -> "Histogram | None":
        """Return the histogram of reads that verdicts use; None if the log has none."""
        return self.histograms.judged().first()


class Histogram(models.Model):
    """One histogram of a run's log: counts of the whole run by bucket, with their meaning (docs/reference/formats.md).

    `edges` "act": bucket 0 is below 1 unit, bucket b is [2^(b-1), 2^b) units. "act-1", of ACT 1.x: bucket 0 is below 2
    ms, bucket b is [2^b, 2^(b+1)) ms. `role` is empty if the reading is older than the column; the name then shows it.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="histograms")
    ordinal = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=160)
    unit = models.CharField(max_length=2, choices=[("us", "us"), ("ms", "ms")])
    role = models.CharField(max_length=24, blank=True)
    device = models.CharField(max_length=160, blank=True)
    time = models.CharField(max_length=20, blank=True)
    edges = models.CharField(max_length=10, default="act")
    is_meaningless = models.BooleanField(default=False)
    ops_count = models.BigIntegerField()
    counts = ArrayField(models.BigIntegerField())

    objects = HistogramQuerySet.as_manager()

    class Meta:
        """Names may repeat (one device named twice), places do not."""

        ordering = ["ordinal"]
        constraints = [models.UniqueConstraint(fields=["run", "ordinal"], name="histogram_unique_in_run")]

    def __str__(self) -> str:
        return self.name


class Slice(models.Model):
    """One analysis interval of a run: for each histogram the difference of two cumulative dumps (docs/decisions/0006).

    `counts` is a row for each histogram, in the place of its ordinal from 0 on, with its counts by bucket. All rows are
    as long as the longest; one of nulls is a histogram whose counts at an end of the slice cannot be used.
    """

    # A separate index would repeat the first column of the constraint's index.
    run = models.ForeignKey(Run, models.CASCADE, related_name="slices", db_index=False)
    number = models.PositiveIntegerField()
    start_s = models.PositiveIntegerField()
    end_s = models.PositiveIntegerField()
    first_line = models.PositiveBigIntegerField()
    last_line = models.PositiveBigIntegerField()
    counts = ArrayField(ArrayField(models.BigIntegerField(null=True)))

    objects = SliceQuerySet.as_manager()

    class Meta:
        """Slices are numbered from 1."""

        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="slice_unique_in_run")]

    def __str__(self) -> str:
        return f"slice {self.number} of {self.run}"


class Share(models.Model):
    """The percentage of reads found beyond a threshold, with its digits as printed and, where known, the counts.

    `share_pct` is for comparison. If the counts are known, it is over x 100 / all, rounded up at its last place. It is
    then within a limit of up to 9 places exactly if the counts are. `printed` is rounded as in ACT.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="shares")
    statistic = models.CharField(max_length=20, choices=Statistic)
    threshold_us = models.PositiveIntegerField()
    read_at_us = models.PositiveIntegerField(null=True)
    share_pct = models.DecimalField(max_digits=12, decimal_places=9)
    printed = models.CharField(max_length=20)
    over_count = models.BigIntegerField(null=True)
    ops_count = models.BigIntegerField(null=True)
    slice_number = models.PositiveIntegerField(null=True)

    class Meta:
        """One share per statistic and threshold; the index answers "at most X % over T in the worst slice"."""

        ordering = ["threshold_us"]
        constraints = [models.UniqueConstraint(fields=["run", "statistic", "threshold_us"], name="share_unique_in_run")]
        indexes = [
            models.Index(
                fields=["statistic", "threshold_us", "share_pct"], include=["run"], name="share_by_exact_value"
            )
        ]

    def __str__(self) -> str:
        return f"{self.printed} % over {self.threshold_us} us"


class Finding(models.Model):
    """Something a reader should know about a run's log."""

    class Severity(models.TextChoices):
        """It decides the verdict, needs a review, or is only information."""

        DECIDES = "decides", "decisive"
        LOOK = "look", "warning"
        NOTE = "note", "note"

    run = models.ForeignKey(Run, models.CASCADE, related_name="findings")
    ordinal = models.PositiveSmallIntegerField()
    rule_id = models.CharField(max_length=60)
    severity = models.CharField(max_length=10, choices=Severity)
    line = models.PositiveBigIntegerField(null=True)
    sentence = models.TextField()
    remedy = models.TextField(blank=True)

    class Meta:
        """In the reader's order."""

        ordering = ["ordinal"]
        constraints = [models.UniqueConstraint(fields=["run", "ordinal"], name="finding_unique_in_run")]

    def __str__(self) -> str:
        return f"{self.rule_id}: {self.sentence}"


class Verdict(models.Model):
    """drivetest's judgement of a run under a profile; `document` is its full JSON (docs/reference/formats.md).

    `is_decided_by_limits`: only shares over limits prevent a pass, so that it may pass
    under wider limits. A run that is shorter than the profile demands, or could not keep up, has further reasons.
    """

    class Outcome(models.TextChoices):
        """Undecided: the log does not show it. Void: not a valid run."""

        PASS = "pass", "passes"
        FAIL = "fail", "fails"
        UNDECIDED = "undecided", "undecided"
        VOID = "void", "void"

    run = models.ForeignKey(Run, models.CASCADE, related_name="verdicts")
    profile = models.ForeignKey(Profile, models.PROTECT, related_name="verdicts")
    outcome = models.CharField(max_length=10, choices=Outcome)
    headline = models.TextField()
    document = models.JSONField()
    reader_version = models.CharField(max_length=40)
    created_at = models.DateTimeField(auto_now_add=True)
    # Reckoned by the database, so that every verdict has it: those of before, and those that a dump brings.
    is_decided_by_limits = models.GeneratedField(
        expression=ExpressionWrapper(
            Q(outcome=Outcome.PASS.value) | Q(outcome=Outcome.FAIL.value, document__reasons=[]),
            output_field=models.BooleanField(),
        ),
        output_field=models.BooleanField(),
        db_persist=True,
    )

    class Meta:
        """The latest is current; earlier ones stay readable."""

        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["run", "-created_at", "-id"], name="verdict_newest_of_run")]

    def __str__(self) -> str:
        return f"{self.outcome}: {self.headline}"

    @property
    def sentence(self) -> str:
        """Return the headline as pages show it: with words for the ids of host causes."""
        return with_causes_in_words(self.headline)

    @property
    def public_since(self) -> datetime:
        """Return the time since which everyone may read it: not before its run was public."""
        return max(self.created_at, self.run.published_at or self.created_at)


class Series(models.Model):
    """Counts of every histogram of a run by interval; `packed` is the reader's, in the form that `encoding` names.

    A run without one was read by an older reader, or has no interval of that length.
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
