"""All URLs of the public register, for the sitemap and for snapshots.

Pages without a URL parameter are found automatically if they use `public_page`. Those with a parameter are listed in
`arguments_by_name`. A test fails for a pattern that is neither there nor in LEFT_OUT.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import Any, overload

from django.core.paginator import Paginator
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Left
from django.urls import URLPattern, reverse

from results.models import (
    Category,
    Certificate,
    Evidence,
    Histogram,
    Objection,
    Product,
    PublishedFigure,
    Run,
    Slice,
    YcsbInterval,
    YcsbRun,
)
from webapp.register.http.responses import is_public_page
from webapp.register.news.events import first_change
from webapp.register.news.months import summary_months
from webapp.register.tables.makers import vendor_slug
from webapp.register.ycsb.claims.entries import entries
from webapp.register.ycsb.loads import LOAD_KEY_DIGITS

EVERYTHING = "*"  # the group of pages that depend on all results
FORMS = ("csv", "json")
PAGES_A_PART = 2000  # the protocol allows 50,000, which take seconds; a register with more pages has an index
HISTOGRAM_FORMS = ("csv", "json", "parquet")
Arguments = tuple[tuple[str, ...], str]  # arguments of a URL pattern, and the group of the page
PageArguments = Sequence[tuple[str, ...]] | QuerySet[Any, Any]  # of a URL pattern; a query yields such tuples


@dataclass(frozen=True)
class PublicAddress:
    """A path with an optional query; `group` is the slug of its product, its `page_group`, or EVERYTHING."""

    path: str
    group: str


def page_group(slug: str) -> str:
    """Return the group of a product's own page, which also shows comparable products. A slug has no slash.

    >>> page_group("intel-p4610-1600gb")
    'intel-p4610-1600gb/'
    """
    return f"{slug}/"


LISTS = frozenset({"category", "historical", "product"})  # pages that offer their rows as files, in FORMS


def public_addresses() -> Iterator[PublicAddress]:
    """Yield every URL once, the most requested pages first. The rows are read in a fixed number of queries."""
    for name in plain_names():
        yield from _addresses(name, [((), EVERYTHING)])
    for name, arguments in arguments_by_name().items():
        if name in public_patterns():
            yield from _addresses(name, arguments)


def _addresses(name: str, found: Iterable[Arguments]) -> Iterator[PublicAddress]:
    """Yield the URLs of a pattern, each with the files that the page of a list links to."""
    for args, group in found:
        path = reverse(name, args=args)
        yield PublicAddress(path, group)
        if name in LISTS:
            yield from (PublicAddress(f"{path}?format={form}", group) for form in FORMS)


def arguments_by_name() -> dict[str, list[Arguments]]:
    """Return the arguments of the public URLs with a parameter, by the name of their URL pattern."""
    products = list(_products().values_list("slug", "vendor"))
    runs = _public_runs()
    open_runs = [run for run in runs if run.has_reads and not run.is_withheld]  # their counts of reads are public
    with_lines = [run for run in runs if run.has_lines and not (run.is_withheld or run.has_withheld_attachment)]
    of_categories = _of_everything(Category.values)
    of_products: list[Arguments] = [((slug,), slug) for slug, _ in products]
    return {
        "category": of_categories,
        "category-feed": of_categories,
        "category-picture": of_categories,
        "certificate": [((name,), slug) for name, slug in _certificates().values_list("public_id", "product__slug")],
        "news-month": _of_everything(_months()),
        "objection": _of_objections(),
        "product": [((slug,), page_group(slug)) for slug, _ in products],
        "product-badge": of_products,
        "product-feed": of_products,
        "product-picture": of_products,
        "run-detail": _of_runs(runs),
        "run-histograms": [((run.public_id, form), run.slug) for run in open_runs for form in HISTOGRAM_FORMS],
        "run-over-time": _of_runs(open_runs),
        "run-over-time-csv": _of_runs(open_runs),
        "run-slice-chart": _of_runs(run for run in runs if run.has_reads),
        "run-slices": _of_runs(run for run in runs if run.has_slices),
        "run-status-lines": _of_runs(with_lines),
        "sitemap-part": _of_everything(map(str, sitemap_parts().page_range)),
        "vendor-feed": _of_everything(sorted({vendor_slug(vendor) for _, vendor in products})),
        "ycsb-claim": _of_claims(),
        "ycsb-load": _of_everything(key for (key,) in _loads()),
        "ycsb-publication": _of_everything(_publications()),
    }


def page_arguments() -> dict[str, PageArguments]:
    """Return the arguments of the pages for readers, as `arguments_by_name` has them.

    Those whose number grows with the register are queries, so that a part of the sitemap reads only its own rows.
    """
    return {
        "category": _single(Category.values),
        "certificate": _certificates().values_list("public_id"),
        "news-month": _single(_months()),
        "objection": _objections().values_list("public_id"),
        "product": _products().values_list("slug"),
        "run-detail": Run.objects.public().order_by("pk").values_list("public_id"),
        "ycsb-claim": [args for args, _ in _of_claims()],
        "ycsb-load": _loads(),
        "ycsb-publication": _single(_publications()),
    }


class PagePaths(Sequence[str]):
    """The paths of all pages for search engines: those without parameters, then those of each URL pattern.

    A slice reads only its own rows.
    """

    def __init__(self) -> None:
        left_out = reverse("search")  # the search page is marked noindex
        plain = [path for path in map(reverse, plain_names()) if path.endswith("/") and path != left_out]
        found = page_arguments()
        self.patterns: list[tuple[str, PageArguments]] = [("", [(path,) for path in plain])]
        self.patterns += [(name, found[name]) for name in found if name in public_patterns()]

    @cached_property
    def counts(self) -> list[int]:
        """Return the number of pages of each URL pattern."""
        return [pages.count() if isinstance(pages, QuerySet) else len(pages) for _, pages in self.patterns]

    def __len__(self) -> int:
        return sum(self.counts)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, int):
            return self[place : place + 1][0]
        first, last, _ = place.indices(len(self))
        paths: list[str] = []
        before = 0
        for (name, pages), count in zip(self.patterns, self.counts, strict=True):
            start, end = max(first - before, 0), min(last - before, count)
            if start < end:
                paths += [reverse(name, args=args) if name else args[0] for args in pages[start:end]]
            before += count
        return paths


def sitemap_parts() -> "Paginator[str]":
    """Return the parts of the sitemap; a small register has one, with all pages."""
    return Paginator(PagePaths(), PAGES_A_PART)


def _single(names: Iterable[str]) -> list[tuple[str, ...]]:
    return [(name,) for name in names]


def _products() -> QuerySet[Product]:
    return Product.objects.public().order_by("slug")


def _certificates() -> QuerySet[Certificate]:
    return Certificate.objects.filter(product__in=Product.objects.public()).order_by("pk")


def _objections() -> QuerySet[Objection]:
    return Objection.objects.admitted().order_by("pk")


def _months() -> list[str]:
    return [month.code for month in summary_months(first_change())]


def _publications() -> Iterable[str]:
    return PublishedFigure.objects.order_by("publication").distinct().values_list("publication", flat=True)


def _loads() -> QuerySet[YcsbRun, tuple[str]]:
    """Return the keys of the loads that runs of sweeps have."""
    sweeps = YcsbRun.objects.filter(run__in=Run.objects.listed()).exclude(sweep_key="")
    return sweeps.annotate(key=Left("sweep_key", LOAD_KEY_DIGITS)).order_by("key").values_list("key").distinct()


def _public_runs() -> list[Any]:
    """Return the public runs with the facts that determine their URLs."""
    has = {
        "has_slices": Exists(Slice.objects.filter(run=OuterRef("pk"))),
        "has_lines": Exists(YcsbInterval.objects.filter(ycsb_run__run=OuterRef("pk"))),
        "has_reads": Exists(Histogram.objects.judged().filter(run=OuterRef("pk"))),
    }
    withheld = Evidence.objects.filter(Q(sequestered=True) | Q(hidden=True), pk=OuterRef("reading__evidence"))
    named = {"slug": F("product__slug"), "is_withheld": Exists(withheld)}
    runs = Run.objects.public().with_withheld_flag().annotate(**has, **named).order_by("pk")
    return list(runs.values_list("public_id", "has_withheld_attachment", *has, *named, named=True))


def _of_everything(names: Iterable[str]) -> list[Arguments]:
    return [((name,), EVERYTHING) for name in names]


def _of_claims() -> list[Arguments]:
    """Return all claims of publications, which come from files of the release."""
    return [((entry.slug, entry.claim_id), EVERYTHING) for entry in entries()]


def _of_objections() -> list[Arguments]:
    return [((name,), slug) for name, slug in _objections().values_list("public_id", "run__product__slug")]


def _of_runs(runs: Iterable[Any]) -> list[Arguments]:
    return [((run.public_id,), run.slug) for run in runs]


# Public URLs that are neither in the sitemap nor in snapshots: only the running register serves them.
LEFT_OUT = {
    "run-log": "evidence is sent from the evidence store",
    "run-side-file": "evidence",
    "run-companion": "evidence",
    "objection-file": "evidence",
    "run-line": "any line of any log",
    "run-lines": "any lines of any log",
    "run-slice": "any slice of any run: its counts are in the run's CSV",
    "run-telemetry": "read from a stored file on request",
    "run-rates-csv": "a line for every minute, rarely requested; the snapshot has the chart's data",
    "run-configuration": "not every log prints its configuration",
    "run-earlier": "a rare download",
    "permanent-id": "redirects to a page that is in the sitemap",
    "ycsb-claim-picture": "drawn once by each process, without a query",
    "dump-file": "sent from the directory of the dumps, without a query",
}


def plain_names() -> list[str]:
    """Return the names of URL patterns without parameters, in the order of the URL configuration."""
    return [name for name, pattern in public_patterns().items() if not pattern.pattern.converters]


@cache
def public_patterns() -> dict[str, URLPattern]:
    """Return the public URL patterns by name, imported late: they include the sitemap, which uses this module."""
    patterns: list[URLPattern] = import_module("webapp.register.urls").urlpatterns
    return {each.name: each for each in patterns if each.name and is_public_page(each.callback)}
