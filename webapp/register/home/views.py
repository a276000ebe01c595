"""The home page: the number of results and the fastest ones, by category."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from results.models import Run, Statistic
from results.models.categories import OF_DRIVES, Category
from webapp.register.drives.query import SEPARATOR
from webapp.register.http.responses import public_page
from webapp.register.limits.profile import current_limits
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.runs.example import example_address
from webapp.register.runs.verdict import own_limits
from webapp.register.tables import categories, columns
from webapp.register.tables.marks import tier_meanings
from webapp.register.tables.sentences import number_of, run_name, together
from webapp.register.tables.tables import Row, build_row

FASTEST_COLUMNS = (columns.SPEED, columns.OVER_1MS, columns.TIER)
EXAMPLE_TPS = 500_000  # the forms' initial speed; an empty field means any speed


@public_page
def home(request: HttpRequest) -> HttpResponse:
    numbers, own = _numbers(), own_limits(request.GET, current_limits())
    fastest = {row.product.category: row for row in _fastest_rows(own)}
    lines = [_line(category, numbers, fastest.get(category)) for category in Category]
    context = {
        "section": "drives",
        "lines": lines,
        "historical_number": numbers.historical,
        "sentence": numbers.sentence,
        "limits": own,
        "drive_choices": _drive_choices(),
        "example_tps": EXAMPLE_TPS,
        "tiers": tier_meanings(),
        "example_address": example_address(),
    }
    return render(request, "register/home/home.html", context)


@dataclass(frozen=True)
class Numbers:
    """The numbers of current results in the register."""

    current: dict[str, int]
    historical: int
    published: int

    @property
    def sentence(self) -> str:
        """Return the numbers as a sentence."""
        current = sum(self.current.values())
        total = current + self.historical
        published = (
            f"{self.published} of them from publications" if self.published != total else "all from publications"
        )
        results = f"The register has {number_of(total, 'result', 'results')}, {published}"
        return f"{results}: {current} of current and {self.historical} of historical drives."


def _numbers() -> Numbers:
    counted = Run.objects.listed().rated().values("product__category", "product__historical", "statistic")
    rows = list(counted.annotate(number=Count("pk")))
    current = dict.fromkeys(Category.values, 0)
    for row in rows:
        if not row["product__historical"]:
            current[row["product__category"]] += row["number"]
    historical = sum(row["number"] for row in rows if row["product__historical"])
    published = sum(row["number"] for row in rows if row["statistic"] == Statistic.STEADY_AS_PUBLISHED)
    return Numbers(current, historical, published)


def _fastest_rows(own: YourLimits) -> Iterable[Row]:
    current = Run.objects.listed().rated().on_drives().current()
    within = current.within(own.limits, is_own=own.is_own).with_ranked_tps()
    by_category = within.order_by("product__category", F("ranked_tps").desc(nulls_last=True), "pk")
    runs = by_category.distinct("product__category").for_table()
    return [build_row(run, dict.fromkeys(FASTEST_COLUMNS, 2), own.by_threshold) for run in runs]


def _line(category: Category, numbers: Numbers, fastest: Row | None) -> dict[str, Any]:
    """Return one category: its number of results, and the fastest of them within the limits."""
    return {
        "title": categories.SPECS[category].title,
        "address": reverse("category", args=[category.value]),
        "number": numbers.current[category],
        "fastest": fastest,
        "fastest_name": f"{run_name(fastest.run)}{together(fastest.run)}" if fastest else "",
    }


def _drive_choices() -> list[tuple[str, str]]:
    """Return codes and label of the categories that have a speed per drive: all kinds of drives first, then each."""
    kinds = [category for category in Category if category in OF_DRIVES]
    own = [(category.value, f"{category.label} drives") for category in kinds]
    networked = (Category.NETWORKED.value, "networked systems")
    return [(SEPARATOR.join(category.value for category in kinds), "drives of all kinds"), *own, networked]
