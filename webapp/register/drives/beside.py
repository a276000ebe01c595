"""What stands beside a category's table whatever is asked of it: read once for each state of the register."""

from collections.abc import Sequence
from dataclasses import dataclass

from results.models import Category
from results.rules.limits import Limit
from webapp.register.drives.capacities import ModelCapacities, capacities_of
from webapp.register.drives.cloud import CloudView, cloud_view
from webapp.register.drives.judged import table_sentence
from webapp.register.drives.page import DrivesPage


@dataclass(frozen=True)
class Beside:
    """The sentence above a page's tables, and what stands below them."""

    sentence: str
    models: list[ModelCapacities]
    models_count: int
    cloud: CloudView | None
    footnotes: tuple[str, ...]


_kept: dict[tuple[str, tuple[Limit, ...]], dict[str, Beside]] = {}


def beside(page: DrivesPage) -> Beside:
    """Return what stands beside the page's tables."""
    state = (page.shelf.version, page.profile)
    if state not in _kept:
        _kept.clear()
    pages = _kept.setdefault(state, {})
    if page.room.name not in pages:
        pages[page.room.name] = _read(page)
    return pages[page.room.name]


def _read(page: DrivesPage) -> Beside:
    rows = _current(page)
    spec = page.room.specs[0]
    models, count = ([], 0) if page.room.is_historical else capacities_of(page.shelf, rows)
    is_cloud = page.room.name == Category.CLOUD
    return Beside(
        sentence=table_sentence(page.shelf, rows, page.judge),
        models=models,
        models_count=count,
        cloud=cloud_view(page.shelf, rows) if is_cloud else None,
        footnotes=spec.reading_notes if is_cloud else spec.footnotes,
    )


def _current(page: DrivesPage) -> Sequence[int]:
    historical = page.shelf.columns["historical"]
    rows = [row for rows in page.universes for row in rows]
    return rows if page.room.is_historical else [row for row in rows if historical.word(row) != "yes"]
