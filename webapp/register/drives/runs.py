"""The runs of rows of the column store, as exports and the API need them."""

from collections.abc import Iterable

from results.models import Run
from webapp.register.drives.store.encoded_columns import ColumnStore


def runs_of(store: ColumnStore, rows: Iterable[int]) -> list[Run]:
    """Return the run of each row, in order. A run that is no longer public is left out."""
    wanted = [store.runs[row] for row in rows]
    runs = {run.public_id: run for run in Run.objects.public().filter(public_id__in=wanted).for_table()}
    return [runs[public_id] for public_id in wanted if public_id in runs]
