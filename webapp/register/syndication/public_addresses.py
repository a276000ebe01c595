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
        yield PublicAddress(reverse(name), EVERYTHING)
    for name, addresses in EACH.items():
        if name in known_names():
            yield from addresses(name, subjects)


def _of_categories(name: str, _subjects: Subjects) -> Iterator[PublicAddress]:
    for category in Category.values:
        yield PublicAddress(reverse(name, args=[category]), EVERYTHING)


def _lists_of_categories(name: str, subjects: Subjects) -> Iterator[PublicAddress]:
    for address in [*_of_categories(name, subjects), PublicAddress(reverse("historical"), EVERYTHING)]:
        if address.path != reverse("historical"):
            yield address
        yield from _forms(address)


def _of_vendors(name: str, subjects: Subjects) -> Iterator[PublicAddress]:
    for slug in sorted({vendor_slug(vendor) for _, vendor in subjects.products}):
        yield PublicAddress(reverse(name, args=[slug]), EVERYTHING)


def _of_products(name: str, subjects: Subjects) -> Iterator[PublicAddress]:
    for slug, _ in subjects.products:
        yield PublicAddress(reverse(name, args=[slug]), slug)


def _lists_of_products(name: str, subjects: Subjects) -> Iterator[PublicAddress]:
    for address in _of_products(name, subjects):
        yield address
        yield from _forms(address)


def _forms(address: PublicAddress) -> Iterator[PublicAddress]:
    """Yield the list of a page as the files that the page links to."""
    for form in FORMS:
        yield PublicAddress(f"{address.path}?format={form}", address.group)


def _of_publications(name: str, subjects: Subjects) -> Iterator[PublicAddress]:
    for publication in subjects.publications:
        yield PublicAddress(reverse(name, args=[publication]), EVERYTHING)


def _of_loads(name: str, subjects: Subjects) -> Iterator[PublicAddress]:
    for key in dict.fromkeys(each[:LOAD_KEY_DIGITS] for each in subjects.sweep_keys):
        yield PublicAddress(reverse(name, args=[key]), EVERYTHING)


def _of_histograms(name: str, subjects: Subjects) -> Iterator[PublicAddress]:
    for run in subjects.runs:
        if _is_open(run):
            for form in HISTOGRAM_FORMS:
                yield PublicAddress(reverse(name, args=[run.public_id, form]), run.slug)


def _is_open(run: PublicRun) -> bool:
    """Return whether the run has counts of reads that are not withheld."""
    return run.has_reads and not run.is_withheld


def _of_runs(is_for: Callable[[PublicRun], bool]) -> "Addresses":
    def addresses(name: str, subjects: Subjects) -> Iterator[PublicAddress]:
        for run in subjects.runs:
            if is_for(run):
                yield PublicAddress(reverse(name, args=[run.public_id]), run.slug)

    return addresses


Addresses = Callable[[str, Subjects], Iterable[PublicAddress]]
EACH: dict[str, Addresses] = {
    "category": _lists_of_categories,
    "category-feed": _of_categories,
    "product": _lists_of_products,
    "product-badge": _of_products,
    "product-feed": _of_products,
    "product-picture": _of_products,
    "run-detail": _of_runs(lambda _: True),
    "run-histograms": _of_histograms,
    "run-over-time": _of_runs(_is_open),
    "run-over-time-csv": _of_runs(_is_open),
    "run-slice-chart": _of_runs(lambda run: run.has_reads),
    "run-slices": _of_runs(lambda run: run.has_slices),
    "run-status-lines": _of_runs(lambda run: run.has_status_lines and not (run.is_withheld or run.has_withheld_file)),
    "vendor-feed": _of_vendors,
    "ycsb-load": _of_loads,
    "ycsb-publication": _of_publications,
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
