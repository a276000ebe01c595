"""All URLs of the public register, for the sitemap and for snapshots.

Pages without a URL parameter are found automatically if they use `public_page`. Those with a parameter are listed in
EACH by the name of their URL pattern. A test fails for a pattern that is neither in EACH nor in LEFT_OUT.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from django.db.models import Exists, OuterRef
from django.urls import URLPattern, reverse

from results.models import Category, Histogram, Product, PublishedFigure, Run, Slice, YcsbInterval, YcsbRun
from webapp.register.http.responses import is_public_page
from webapp.register.tables.makers import vendor_slug
from webapp.register.ycsb.loads import LOAD_KEY_DIGITS

EVERYTHING = "*"  # the group of pages that depend on all results
FORMS = ("csv", "json")
HISTOGRAM_FORMS = ("csv", "json", "parquet")
Arguments = tuple[tuple[str, ...], str]  # arguments of a URL pattern, and the group of the page


@dataclass(frozen=True)
class PublicAddress:
    """A path with an optional query; `group` is the slug of its product, or EVERYTHING."""

    path: str
    group: str

    @property
    def is_page(self) -> bool:
        """Return whether it is a page for readers, as the sitemap lists them, not a file."""
        return self.path.endswith("/")


@dataclass(frozen=True)
class PublicRun:
    """The facts of a run that determine its URLs."""

    public_id: str
    slug: str
    has_slices: bool
    has_status_lines: bool
    has_reads: bool
    is_withheld: bool | None
    has_withheld_file: bool


@dataclass(frozen=True)
class Subjects:
    """The public contents of the register that have URLs."""

    products: list[tuple[str, str]]  # slug, vendor
    runs: list[PublicRun]
    publications: list[str]
    sweep_keys: list[str]


def read_subjects() -> Subjects:
    """Return the public products, runs, publications and YCSB loads in four queries."""
    reads = Histogram.objects.judged().filter(run=OuterRef("pk"))
    sweeps = YcsbRun.objects.filter(run__in=Run.objects.listed()).exclude(sweep_key="")
    publications = PublishedFigure.objects.order_by("publication").distinct().values_list("publication", flat=True)
    slices = Slice.objects.filter(run=OuterRef("pk"))
    intervals = YcsbInterval.objects.filter(ycsb_run__run=OuterRef("pk"))
    has = {"has_slices": Exists(slices), "has_lines": Exists(intervals), "has_reads": Exists(reads)}
    runs = Run.objects.public().with_withheld_flag().annotate(**has).order_by("pk")
    columns = ("public_id", "product__slug", *has, "reading__evidence__sequestered", "has_withheld_attachment")
    return Subjects(
        products=list(Product.objects.public().order_by("slug").values_list("slug", "vendor")),
        runs=[PublicRun(*row) for row in runs.values_list(*columns)],
        publications=list(publications),
        sweep_keys=sorted(set(sweeps.values_list("sweep_key", flat=True))),
    )


def public_addresses(subjects: Subjects) -> Iterator[PublicAddress]:
    """Yield every URL once, the most requested pages first."""
    for name in plain_names():
        yield from _addresses(name, [((), EVERYTHING)])
    for name, subjects_of in EACH.items():
        if name in known_names():
            yield from _addresses(name, subjects_of(subjects))


def _addresses(name: str, found: Iterable[Arguments]) -> Iterator[PublicAddress]:
    """Yield the URLs of a pattern, each with the files that the page of a list links to."""
    for args, group in found:
        path = reverse(name, args=args)
        yield PublicAddress(path, group)
        if name in LISTS:
            yield from (PublicAddress(f"{path}?format={form}", group) for form in FORMS)


def _categories(_subjects: Subjects) -> list[Arguments]:
    return [((category,), EVERYTHING) for category in Category.values]


def _products(subjects: Subjects) -> list[Arguments]:
    return [((slug,), slug) for slug, _ in subjects.products]


def _vendors(subjects: Subjects) -> list[Arguments]:
    return [((slug,), EVERYTHING) for slug in sorted({vendor_slug(vendor) for _, vendor in subjects.products})]


def _publications(subjects: Subjects) -> list[Arguments]:
    return [((publication,), EVERYTHING) for publication in subjects.publications]


def _loads(subjects: Subjects) -> list[Arguments]:
    return [((key,), EVERYTHING) for key in dict.fromkeys(each[:LOAD_KEY_DIGITS] for each in subjects.sweep_keys)]


def _histograms(subjects: Subjects) -> list[Arguments]:
    return [((run.public_id, form), run.slug) for run in subjects.runs if _is_open(run) for form in HISTOGRAM_FORMS]


def _is_open(run: PublicRun) -> bool:
    """Return whether the run has counts of reads that are not withheld."""
    return run.has_reads and not run.is_withheld


def _runs(is_for: Callable[[PublicRun], bool]) -> Callable[[Subjects], list[Arguments]]:
    return lambda subjects: [((run.public_id,), run.slug) for run in subjects.runs if is_for(run)]


LISTS = frozenset({"category", "historical", "product"})  # pages that offer their rows as files, in FORMS
EACH: dict[str, Callable[[Subjects], list[Arguments]]] = {
    "category": _categories,
    "category-feed": _categories,
    "product": _products,
    "product-badge": _products,
    "product-feed": _products,
    "product-picture": _products,
    "run-detail": _runs(lambda _: True),
    "run-histograms": _histograms,
    "run-over-time": _runs(_is_open),
    "run-over-time-csv": _runs(_is_open),
    "run-slice-chart": _runs(lambda run: run.has_reads),
    "run-slices": _runs(lambda run: run.has_slices),
    "run-status-lines": _runs(lambda run: run.has_status_lines and not (run.is_withheld or run.has_withheld_file)),
    "vendor-feed": _vendors,
    "ycsb-load": _loads,
    "ycsb-publication": _publications,
}
# Public URLs that are neither in the sitemap nor in snapshots: only the running register serves them.
LEFT_OUT = {
    "run-log": "evidence is sent from the evidence store",
    "run-side-file": "evidence",
    "run-companion": "evidence",
    "run-line": "any line of any log",
    "run-lines": "any lines of any log",
    "run-slice": "any slice of any run: its counts are in the run's CSV",
    "run-telemetry": "read from a stored file on request",
    "run-rates-csv": "a line for every minute, rarely requested; the snapshot has the chart's data",
    "run-configuration": "not every log prints its configuration",
    "run-earlier": "a rare download",
    "permanent-id": "redirects to a page that is in the sitemap",
    "sitemap-part": "only if one sitemap cannot list all pages",
    "dump-file": "sent from the directory of the dumps, without a query",
}


@cache
def known_names() -> frozenset[str]:
    """Return the names of all public URL patterns."""
    return frozenset(_public_patterns())


@cache
def plain_names() -> tuple[str, ...]:
    """Return the names of URL patterns without parameters, in the order of the URL configuration."""
    return tuple(name for name, pattern in _public_patterns().items() if not pattern.pattern.converters)


def _public_patterns() -> dict[str, URLPattern]:
    """Return the URL patterns by name. Imported late, because they include the sitemap, which uses this module."""
    patterns: list[URLPattern] = import_module("webapp.register.urls").urlpatterns
    return {each.name: each for each in patterns if each.name and is_public_page(each.callback)}
