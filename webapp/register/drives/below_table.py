"""The part below a category's table. It is the same for all queries, so it is made once per register state."""

from dataclasses import dataclass
from functools import cached_property

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from results.models import Category
from webapp.register.drives.capacities import ModelCapacities, capacities_of
from webapp.register.drives.cloud import CloudView, cloud_view
from webapp.register.drives.limit_check import current_rows, on_drives
from webapp.register.drives.page import DrivesPage
from webapp.register.drives.store.encoded_columns import Rows, rows_of


@dataclass(frozen=True)
class BelowTable:
    """The models, cloud figures and notes below a page's tables."""

    models: list[ModelCapacities]
    models_count: int
    cloud: CloudView | None
    footnotes: tuple[str, ...]

    @cached_property
    def as_html(self) -> SafeString:
        """The whole part as HTML, for the page of a category."""
        return render_to_string("register/drives/below.html", {"below_table": self})


def below_table(page: DrivesPage) -> BelowTable:
    """Return the part below the page's tables."""
    return page.store.cached((page.layout.name, page.profile), lambda: _read(page))


def _read(page: DrivesPage) -> BelowTable:
    rows = default_rows(page)
    valid = rows & current_rows(page.store)
    passing = rows_of(valid & page.limit_check.passes_profile & on_drives(page.store))
    spec = page.layout.specs[0]
    models, count = ([], 0) if page.layout.is_historical else capacities_of(page.store, passing)
    is_cloud = page.layout.name == Category.CLOUD
    return BelowTable(
        models=models,
        models_count=count,
        cloud=cloud_view(page.store, rows_of(valid), passing) if is_cloud else None,
        footnotes=spec.reading_notes if is_cloud else spec.footnotes,
    )


def default_rows(page: DrivesPage) -> Rows:
    """Return the rows of a page without any filter: historical ones only on their own page."""
    historical = page.store.columns["historical"]
    current = historical.having([word != "yes" for word in historical.words] + [False])
    return page.universe if page.layout.is_historical else page.universe & current
