"""The import of published results: rows of a file become products, runs and shares, each once."""

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.db import transaction

from results.catalogue.rows import PRODUCT_FACT_COLUMNS, SHARE_COLUMNS, CatalogueRow, read_catalogue
from results.models import (
    Category,
    Event,
    Product,
    ProductAddress,
    ProductAlias,
    Run,
    Share,
    Statistic,
    Tier,
    Visibility,
)
from results.models.ids import new_product_slug
from results.naming.addresses import current_product
from results.naming.aliases import IDENTITY, aliased_product
from results.rules.act.loads import TPS

PUBLISHED_CATALOGUE = Path(__file__).parent / "published" / "act_certified_drives.csv"
SECONDS_PER_HOUR = 3600

Changes = dict[str, list[Any]]  # old and new value by name


@dataclass
class ImportCounts:
    """Result of an import: public ids of the runs, also of earlier published runs that the file no longer names."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    no_longer_named: list[str] = field(default_factory=list)


@transaction.atomic
def import_catalogue(path: Path = PUBLISHED_CATALOGUE) -> ImportCounts:
    """Update the register from the file, all or nothing.

    Runs that the file no longer names stay: results are withdrawn by a reviewer with a reason, never deleted. Raises
    CatalogueError if the file is not as expected; fix the file at the named line.
    """
    rows = read_catalogue(path)
    products = _products_of(rows)
    known = {
        run.catalogue_key: run for run in Run.objects.filter(catalogue_key__isnull=False).prefetch_related("shares")
    }
    counts = ImportCounts(added=_add_runs([row for row in rows if row.key not in known], products))
    for row in rows:
        if row.key in known:
            run = known.pop(row.key)
            changes = products[_identity_key(row)][1] | _change(run, run_fields(row)) | _change_shares(run, row)
            if changes:
                _event("run-changed", run, changes).save()
            (counts.changed if changes else counts.unchanged).append(run.public_id)
    counts.no_longer_named = sorted(run.public_id for run in known.values())
    return counts


Named = tuple[Product, Changes]  # a product that rows name, and what the file changed in it


def _identity_key(row: CatalogueRow) -> tuple[Any, ...]:
    return tuple(product_identity(row).values())


def _products_of(rows: list[CatalogueRow]) -> dict[tuple[Any, ...], Named]:
    """Return the products that the rows name, made where they are new and brought in line where they are not.

    A name that a reviewer gave to another product means that one. Facts that a reviewer entered stay as they are.
    """
    known = {tuple(getattr(each, name) for name in IDENTITY): each for each in Product.objects.all()}
    taken = {*(each.slug for each in known.values()), *ProductAddress.objects.values_list("slug", flat=True)}
    has_aliases = ProductAlias.objects.filter(revoked_at__isnull=True).exists()
    named: dict[tuple[Any, ...], Named] = {}
    for row in rows:
        key = _identity_key(row)
        if key in named:
            continue
        identity = product_identity(row)
        own = known.get(key)
        if meant := (has_aliases and aliased_product(identity)) or own:
            product = current_product(meant)
            # A row under another name states nothing about the product that the name means now.
            facts = product_facts(row) if product is own else {}
            stated = {name: value for name, value in facts.items() if name not in product.entered_facts}
            named[key] = (product, _change(product, stated))
            continue
        slug = new_product_slug(identity["vendor"], identity["model"], identity["capacity_gb"], taken)
        taken.add(slug)
        named[key] = (Product(slug=slug, **identity, **product_facts(row)), {})
    Product.objects.bulk_create(product for product, _ in named.values() if product.pk is None)
    return named


def _add_runs(rows: list[CatalogueRow], products: dict[tuple[Any, ...], Named]) -> list[str]:
    published = {
        "tier": Tier.PUBLISHED,
        "visibility": Visibility.PUBLIC,
        "statistic": Statistic.STEADY_AS_PUBLISHED,
        "tool": "act",
    }
    runs = [
        Run(catalogue_key=row.key, product=products[_identity_key(row)][0], **published, **run_fields(row))
        for row in rows
    ]
    Run.objects.bulk_create(runs)
    Share.objects.bulk_create(
        Share(run=run, **fields) for run, row in zip(runs, rows, strict=True) for fields in share_fields(row)
    )
    Event.objects.bulk_create(_event("run-published", run, {}) for run in runs)
    return [run.public_id for run in runs]


def _change_shares(run: Run, row: CatalogueRow) -> Changes:
    """Replace the shares if they differ; return both as text, and the printed digits by threshold."""
    wanted = {fields["threshold_us"]: fields for fields in share_fields(row)}
    before = {share.threshold_us: share.printed for share in run.shares.all()}
    after = {threshold_us: fields["printed"] for threshold_us, fields in wanted.items()}
    if before == after:
        return {}
    run.shares.all().delete()
    Share.objects.bulk_create(Share(run=run, **fields) for fields in wanted.values())
    return {"shares": [_in_order(before), _in_order(after)], "printed_shares": [before, after]}


def _in_order(shares: dict[int, str]) -> str:
    return ", ".join(f"{printed} % over {threshold_us} us" for threshold_us, printed in sorted(shares.items()))


def _change(row: Product | Run, fields: dict[str, Any]) -> Changes:
    """Set and save the fields that differ; return old and new value of each."""
    changes: Changes = {}
    for name, value in fields.items():
        before = getattr(row, name)
        if before != value:
            changes[name] = [str(before), str(value)]
            setattr(row, name, value)
    if changes:
        row.save(update_fields=list(changes))
    return changes


def _event(kind: str, run: Run, changes: Changes) -> Event:
    reason = "import of the published catalogue"
    return Event(kind=kind, subject_type="run", subject_id=run.public_id, reason=reason, details=changes)


def product_identity(row: CatalogueRow) -> dict[str, Any]:
    """Return what names a product; a cloud instance has its provider as vendor and no capacity."""
    is_cloud = row.category == Category.CLOUD
    vendor_column, model_column = ("provider", "instance") if is_cloud else ("vendor", "model")
    for column in (vendor_column, model_column):
        if not row.text(column):
            raise row.fail(column, "a name")
    capacity_gb = None if is_cloud else row.number("capacity_gb")
    values = (row.category.value, row.text(vendor_column), row.text(model_column), "", capacity_gb)
    return dict(zip(IDENTITY, values, strict=True))


def product_facts(row: CatalogueRow) -> dict[str, Any]:
    """Return the facts of the product in a row, without its name."""
    historical = row.flag("historical")
    if historical is None:
        raise row.fail("historical", "yes or no")
    facts = (historical, row.text("pcie_gen"), row.decimal("endurance_dwpd"))
    return dict(zip(PRODUCT_FACT_COLUMNS, facts, strict=True))


def run_fields(row: CatalogueRow) -> dict[str, Any]:
    """Return what the row states of the run."""
    tps, hours = row.decimal("tps"), row.number("duration_hours")
    if tps is None:
        raise row.fail("tps", "a number")
    device_count = row.number("device_count")
    return {
        "tps": tps,
        "nx_load": (tps / TPS / device_count).quantize(Decimal("0.0001")) if device_count else None,
        "tool_version": row.text("act_version"),
        "duration_s": hours * SECONDS_PER_HOUR if hours else None,
        "over_provisioning_pct": row.decimal("over_provisioning_pct"),
        "sole_tenant": row.flag("sole_tenant"),
        **{name: row.number(name) for name in ("over_provisioned_to_gb", "compress_pct", "device_count", "device_gb")},
        **{name: row.text(name) for name in ("backing_device", "protocol", "source", "notes", "source_row")},
    }


def share_fields(row: CatalogueRow) -> list[dict[str, Any]]:
    """Return the row's shares. The source does not state the edge at which they were read, 1000 or 1024 us."""
    shares = []
    for column, threshold_us in SHARE_COLUMNS.items():
        if (percentage := row.percentage(column)) is not None:
            shares.append({"threshold_us": threshold_us, "share_pct": percentage, "printed": row.text(column)})
    return [share | {"statistic": Statistic.STEADY_AS_PUBLISHED} for share in shares]
