"""Contents of a dump: tables of public rows, related by public ids instead of database ids."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import models
from django.db.models import F, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Greatest

from results import models as register
from results.history import details_for_everyone, for_everyone
from results.models import Visibility
from webapp.register.dumps.redaction import redact_facts, redact_text

SCHEMA = "drivecert.dump/1"
RELATED = {"product": "slug", "profile": "sha256"} | dict.fromkeys(("run", "superseded_by", "certificate"), "public_id")


@dataclass(frozen=True)
class Table:
    """One table: the names of its columns, and the function that returns its public rows.

    A relation is a column with the public id of its target. `own_paths` are the paths of columns that are neither a
    field of the model nor such a relation. `constants` are the values that an import sets for columns that a dump
    leaves out. `redactions` are functions for columns whose values are not public as they are. `annotated` names
    annotations of `rows` that replace a column.
    """

    name: str
    model: type[Model]
    column_names: str
    rows: Callable[[], QuerySet[Any]]
    constants: dict[str, Any] = field(default_factory=dict)
    is_imported: bool = True
    redactions: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    annotated: dict[str, str] = field(default_factory=dict)
    own_paths: dict[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, str]:
        """Return the path of each column from the model, by column name."""
        related = {name: f"{name}__{key}" for name, key in RELATED.items()}
        return {name: (related | self.own_paths).get(name, name) for name in self.column_names.split()}

    @property
    def paths(self) -> list[str]:
        """Return the paths of the columns, in their order."""
        return [self.annotated.get(name, path) for name, path in self.columns.items()]

    @property
    def fields(self) -> dict[str, "models.Field[Any, Any]"]:
        """Return the field at the end of each column's path, by column name."""
        return {name: field_of(self.model, path) for name, path in self.columns.items()}


def field_of(model: type[Model], path: str) -> "models.Field[Any, Any]":
    """Return the field that a path such as `run__product__slug` leads to."""
    *steps, last = path.split("__")
    for step in steps:
        related = model._meta.get_field(step).related_model
        if not isinstance(related, type):
            raise ValueError(f"{model.__name__}.{path}: expected a relation at {step}")  # noqa: TRY004 - our own mistake
        model = related
    found = model._meta.get_field(last)
    if not isinstance(found, models.Field):
        raise ValueError(f"{model.__name__}.{path}: expected a column")  # noqa: TRY004 - our own mistake
    return found


def withheld_runs() -> list[str]:
    """Return the runs that no table includes: they or their evidence are sequestered, or a file of them is hidden."""
    by_takedown = register.Run.objects.filter(visibility=Visibility.SEQUESTERED)
    runs = [*register.Run.objects.public().withheld(), *by_takedown]
    return sorted({run.public_id for run in runs})


def _public_runs() -> QuerySet[register.Run]:
    """Return public runs without withheld ones and those that they superseded, which would refer to a missing run."""
    public = register.Run.objects.public()
    by_takedown = register.Run.objects.filter(visibility=Visibility.SEQUESTERED)
    newest = {run.pk for run in [*public.withheld().only("pk"), *by_takedown.only("pk")]}
    left_out: set[int] = set()
    while newest:
        left_out |= newest
        newest = set(public.filter(superseded_by__in=newest).values_list("pk", flat=True)) - left_out
    return public.exclude(pk__in=left_out)


def _of_runs(model: type[Model], *, by: str = "run", order: Iterable[str] = ()) -> Callable[[], QuerySet[Any]]:
    def rows() -> QuerySet[Any]:
        of_public = model._default_manager.filter(**{f"{by}__in": _public_runs()})
        return of_public.order_by(f"{by}__public_id", *order, "pk")

    return rows


def _with_public_date(rows: QuerySet[Any], published: Any) -> QuerySet[Any]:
    """Return rows with `since`: the later of their `created_at` and the publication of their run."""
    dated: QuerySet[Any] = rows.annotate(since=Greatest("created_at", published))  # PostgreSQL ignores null
    return dated


def _products() -> QuerySet[register.Product]:
    """Return products with the date since which they are public, which is that of their first public run."""
    of_product = register.Run.objects.public().filter(product=OuterRef("pk"))
    first = of_product.order_by(F("published_at").asc(nulls_first=True)).values("published_at")[:1]
    return _with_public_date(register.Product.objects.public(), Subquery(first)).order_by("slug")


def _verdicts() -> QuerySet[register.Verdict]:
    return _with_public_date(_of_runs(register.Verdict, order=("created_at",))(), "run__published_at")


def _annotations() -> QuerySet[register.Annotation]:
    current = register.Annotation.objects.current().with_public_since()
    return current.filter(run__in=_public_runs()).order_by("run__public_id", "pk")


def _objections() -> QuerySet[register.Objection]:
    admitted = register.Objection.objects.admitted()
    return admitted.filter(run__in=_public_runs()).order_by("run__public_id", "pk")


def _certificates() -> QuerySet[register.Certificate]:
    return register.Certificate.objects.filter(product__in=register.Product.objects.public()).order_by("public_id")


def _certificate_runs() -> QuerySet[register.CertificateRun]:
    public = register.CertificateRun.objects.filter(certificate__in=_certificates(), run__in=_public_runs())
    return public.order_by("certificate__public_id", "run__public_id")


def _events() -> QuerySet[register.Event]:
    of_runs = Q(subject_type="run", subject_id__in=_public_runs().values("public_id"))
    of_certificates = Q(subject_type="certificate", subject_id__in=_certificates().values("public_id"))
    return for_everyone(register.Event.objects.filter(of_runs | of_certificates)).order_by("at", "pk")


TABLES = (
    Table(
        "profiles",
        register.Profile,
        "name rule_version document sha256 created_at",
        lambda: register.Profile.objects.order_by("name", "rule_version"),
    ),
    Table(
        "products",
        register.Product,
        "slug category historical vendor model part_number capacity_gb pcie_gen endurance_dwpd created_at form_factor "
        "part_numbers",
        _products,
        {"entered_facts": [], "version": 0},
        annotated={"created_at": "since"},
    ),
    Table(
        "runs",
        register.Run,
        "public_id product member catalogue_key source source_row tier visibility statistic workload tool "
        "tool_version reads_per_s writes_per_s tps nx_load duration_s slice_length_s firmware "
        "over_provisioned_to_gb over_provisioning_pct compress_pct device_count device_gb backing_device protocol "
        "sole_tenant region zone notes started_at facts created_at published_at superseded_by",
        lambda: _with_public_date(_public_runs(), "published_at").order_by("public_id"),
        {"ordinal": 0, "is_virtual": False},
        redactions={"facts": redact_facts, "backing_device": redact_text},
        annotated={"created_at": "since"},
    ),
    Table(
        "evidence",
        register.Run,
        "run filename sha256 size_bytes content_sha256 reader_version",
        lambda: _public_runs().filter(submission__isnull=False).order_by("public_id"),
        is_imported=False,  # evidence rows need their bytes, which a dump does not have
        own_paths={"run": "public_id", "reader_version": "reading__reader_version"}
        | {name: f"submission__log__{name}" for name in ("filename", "sha256", "size_bytes", "content_sha256")},
    ),
    Table(
        "shares",
        register.Share,
        "run statistic threshold_us read_at_us share_pct printed over_count ops_count slice_number",
        _of_runs(register.Share, order=("statistic", "threshold_us")),
    ),
    Table(
        "histograms",
        register.Histogram,
        "run ordinal name unit role device time edges is_meaningless ops_count counts",
        _of_runs(register.Histogram, order=("ordinal",)),
        redactions={"name": redact_text, "device": redact_text},
    ),
    Table(
        "slices",
        register.Slice,
        "run number start_s end_s first_line last_line counts",
        _of_runs(register.Slice, order=("number",)),
    ),
    Table(
        "findings",
        register.Finding,
        "run ordinal rule_id severity line sentence remedy",
        _of_runs(register.Finding, order=("ordinal",)),
        redactions={"sentence": redact_text, "remedy": redact_text},
    ),
    Table(
        "verdicts",
        register.Verdict,
        "run profile outcome headline document reader_version created_at",
        _verdicts,
        redactions={"headline": redact_text, "document": redact_text},
        annotated={"created_at": "since"},
    ),
    Table(
        "annotations",
        register.Annotation,
        "run text created_at reply replied_at",
        _annotations,
        annotated={"created_at": "since"},
    ),
    Table(
        "objections",
        register.Objection,
        "public_id run state state_since deadline filed_at admitted_at text reply replied_at outcome outcome_note "
        "decided_at",
        _objections,
        {"organisations": [], "refusal": "", "refusal_note": ""},
    ),
    Table(
        "certificates",
        register.Certificate,
        "public_id product profile state device_count nx_load exact_nx firmware ground document issued_at withdrawn_at",
        _certificates,
    ),
    Table("certificate_runs", register.CertificateRun, "certificate run", _certificate_runs),
    Table(
        "events",
        register.Event,
        "at kind subject_type subject_id reason details",
        _events,
        redactions={"details": lambda details: redact_text(details_for_everyone(details))},
    ),
    Table(
        "ycsb_runs",
        register.YcsbRun,
        "run phase workload binding measurement times command_line properties threads_count target_ops_per_s "
        "record_count operation_count time_limit_s runtime_ms throughput_ops_per_s done_ops_count failed_ops_count "
        "validity reasons sweep_key",
        _of_runs(register.YcsbRun),
    ),
    Table(
        "ycsb_operations",
        register.YcsbOperation,
        "run ordinal name outcome time ops_count mean_us min_us max_us p50_us p95_us p99_us p999_us p9999_us "
        "percentiles returns taken_from",
        _of_runs(register.YcsbOperation, by="ycsb_run__run", order=("ordinal",)),
        own_paths={"run": "ycsb_run__run__public_id"},
    ),
    Table(
        "ycsb_intervals",
        register.YcsbInterval,
        "run ordinal elapsed_s done_ops_count ops_per_s operations",
        _of_runs(register.YcsbInterval, by="ycsb_run__run", order=("ordinal",)),
        own_paths={"run": "ycsb_run__run__public_id"},
    ),
    Table(
        "published_figures",
        register.PublishedFigure,
        "catalogue_key publication database vendor model capacity_gb workload threads_count at_ops_per_s metric "
        "value unit source_label operations_count exactness",
        lambda: register.PublishedFigure.objects.order_by("catalogue_key"),
    ),
    Table(
        "published_claims",
        register.PublishedClaim,
        "catalogue_key publication claim workload device against stated_value unit computation recomputed_value "
        "status note exact_status",
        lambda: register.PublishedClaim.objects.order_by("catalogue_key"),
    ),
)
