"""The home page: one question, its answer with charts and drives, and the ways into the register."""

import json
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from results.models import Profile, Statistic
from results.models.categories import SYSTEMS, Category
from webapp.register.certificates.summary import certified_sentence
from webapp.register.drives.filters import OVER_RATING
from webapp.register.drives.limit_check import LimitCheck
from webapp.register.drives.store.column_store import current_store
from webapp.register.drives.store.encoded_columns import ColumnStore
from webapp.register.drives.store.ranking import current_rows
from webapp.register.home.answer import Answer
from webapp.register.home.question import EXAMPLE_TPS, has_plain_numbers, read_question
from webapp.register.http.responses import public_page
from webapp.register.limits.profile import current_limits
from webapp.register.runs.example import example_address
from webapp.register.tables import categories
from webapp.register.tables.marks import tier_meanings
from webapp.register.tables.sentences import number_of
from webapp.register.ycsb.claims.counts import claims_sentence
from webapp.register.ycsb.claims.entries import entries
from webapp.register.ycsb.claims.sentences import contradiction_facts
from webapp.register.ycsb.impossible_results import checked_results
from webapp.templatetags import units


@public_page
def home(request: HttpRequest) -> HttpResponse:
    store, profile = current_store(), current_limits()
    question = read_question(request.GET, profile)
    if not has_plain_numbers(request.GET, question):
        return redirect(f"{request.path}{question.address()}")
    numbers = _numbers(store)
    within = LimitCheck(store, question.limits).passes & current_rows(store)
    is_of_systems = set(question.categories) <= SYSTEMS
    context = {
        "section": "home",
        "question": question,
        "answer": Answer(store, question, tuple(profile)),
        "unit": "system" if is_of_systems else "drive",
        "lines": [_line(store, category, numbers, within) for category in Category],
        "historical_number": numbers.historical,
        "sentence": numbers.sentence,
        "rating_finding": _rating_finding(store),
        "limits": question.limits,
        "drive_choices": question.choices,
        "example_tps": EXAMPLE_TPS,
        "object_bytes": json.loads(Profile.current_document())["object_bytes"],
        "tiers": tier_meanings(),
        "example_address": example_address(),
        "certified": certified_sentence(),
        "claims_sentence": claims_sentence(entries()),
        "contradicted": [(each, contradiction_facts(each)) for each in entries() if each.is_contradicted],
        "impossible": next((each for each in checked_results() if each.is_impossible), None),
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


def _numbers(store: ColumnStore) -> Numbers:
    rows, category = current_rows(store), store.columns["category"]
    old = store.columns["historical"].of("yes")
    published = rows & store.columns["statistic"].of(Statistic.STEADY_AS_PUBLISHED)
    current = {code: (rows & category.of(code) & ~old).bit_count() for code in Category.values}
    return Numbers(current, (rows & old).bit_count(), published.bit_count())


def _line(store: ColumnStore, category: Category, numbers: Numbers, within: int) -> dict[str, Any]:
    """Return one category: its number of results, and how many of them are within the limits."""
    rows = store.columns["category"].of(category) & ~store.columns["historical"].of("yes")
    return {
        "title": categories.SPECS[category].title,
        "address": reverse("category", args=[category.value]),
        "number": numbers.current[category],
        "within": (rows & within).bit_count(),
    }


@dataclass(frozen=True)
class RatingFinding:
    """How many current results of rated drives are faster than the rating sustains."""

    exceeding: int
    rated: int

    @property
    def sentence(self) -> str:
        """Return the counts as a sentence."""
        results = number_of(self.rated, "result of a rated drive", "results of rated drives")
        return f"In {units.count(self.exceeding)} of {results}, the tested speed exceeds the endurance rating."

    @property
    def address(self) -> str:
        """Return the address of the list of these results."""
        return _list_of_results("yes")

    @property
    def within_count(self) -> int:
        """Return how many results have a rating that sustains the tested speed."""
        return self.rated - self.exceeding

    @property
    def within_address(self) -> str:
        """Return the address of the list of the other results, whose rating sustains the tested speed."""
        return _list_of_results("no")


def _list_of_results(over_rating: str) -> str:
    return f"{reverse('drives')}?{urlencode({OVER_RATING.name: over_rating})}"


def _rating_finding(store: ColumnStore) -> RatingFinding | None:
    """Return in how many results of all categories the tested speed exceeds the rating; None without rated drives."""
    rows, over = current_rows(store) & ~store.columns["historical"].of("yes"), store.columns[OVER_RATING.column]
    exceeding, within = ((rows & over.of(each)).bit_count() for each in ("yes", "no"))
    return RatingFinding(exceeding, exceeding + within) if exceeding + within else None
