"""The runs of rows of the column store, as exports and the API need them, and the vendors of all public runs."""

from collections.abc import Iterable

from results.models import Product, Run
from webapp.register.drives.store.column_store import current_store
from webapp.register.drives.store.encoded_columns import ColumnStore


def runs_of(store: ColumnStore, rows: Iterable[int]) -> list[Run]:
    """Return the run of each row, in order. A run that is no longer public is left out."""
    wanted = [store.runs[row] for row in rows]
    runs = {run.public_id: run for run in Run.objects.public().filter(public_id__in=wanted).for_table()}
    return [runs[public_id] for public_id in wanted if public_id in runs]


def public_vendors() -> list[str]:
    """Return the vendors of the products with a public run, which each process reads once for each state of these."""
    return current_store().cached("public vendors", _vendors)


def _vendors() -> list[str]:
    return list(Product.objects.public().order_by("vendor").values_list("vendor", flat=True).distinct())
