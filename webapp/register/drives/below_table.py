"""What stands below a category's table whatever is asked of it: read once for each state of the register."""

from dataclasses import dataclass
from functools import cached_property

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from results.models import Category
from webapp.register.drives.capacities import ModelCapacities, capacities_of
from webapp.register.drives.cloud import CloudView, cloud_view
from webapp.register.drives.limit_check import on_drives, standing
from webapp.register.drives.page import DrivesPage
from webapp.register.drives.store.encoded_columns import Rows, rows_of


@dataclass(frozen=True)
class Beside:
    """What stands below a page's tables."""

    models: list[ModelCapacities]
    models_count: int
    cloud: CloudView | None
    footnotes: tuple[str, ...]

    @cached_property
    def as_html(self) -> SafeString:
        """All of it as the page of a category shows it."""
        return render_to_string("register/drives/below.html", {"beside": self})


def beside(page: DrivesPage) -> Beside:
    """Return what stands beside the page's tables."""
    return page.shelf.remember((page.room.name, page.profile), lambda: _read(page))


def _read(page: DrivesPage) -> Beside:
    current = current_rows(page)
    stand = current & standing(page.shelf)
    passing = rows_of(stand & page.judge.passes_profile & on_drives(page.shelf))
    spec = page.room.specs[0]
    models, count = ([], 0) if page.room.is_historical else capacities_of(page.shelf, passing)
    is_cloud = page.room.name == Category.CLOUD
    return Beside(
        models=models,
        models_count=count,
        cloud=cloud_view(page.shelf, rows_of(stand), passing) if is_cloud else None,
        footnotes=spec.reading_notes if is_cloud else spec.footnotes,
    )


def current_rows(page: DrivesPage) -> Rows:
    """Return the rows that a page is of by itself: without those of the past, unless it is theirs."""
    historical = page.shelf.columns["historical"]
    current = historical.having([word != "yes" for word in historical.words] + [False])
    return page.universe if page.room.is_historical else page.universe & current
