"""Every address of the public register: what the sitemap lists, and what a snapshot holds.

Pages without a parameter in their address are found by themselves, if `public_page` made them. Those with one stand in
EACH, by the name of their address; a test refuses an address that stands neither there nor in LEFT_OUT.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from django.db.models import Exists, OuterRef
from django.urls import URLPattern, URLResolver, reverse

from results.models import Category, Histogram, Product, PublishedFigure, Run, Slice, YcsbInterval, YcsbRun
from webapp.register.http.responses import is_public_page
from webapp.register.tables.vendors import vendor_slug
from webapp.register.ycsb.loads import LOAD_KEY_DIGITS

EVERYTHING = "*"  # the group of pages that any change of any result may change
FORMS = ("csv", "json")
HISTOGRAM_FORMS = ("csv", "json", "parquet")


@dataclass(frozen=True)
class PublicAddress:
    """A path, with its query where one is kept; `group` is the slug of the product it is about, or EVERYTHING."""

    path: str
    group: str

    @property
    def is_page(self) -> bool:
        """A page to read, as the sitemap lists them; else a file."""
        return self.path.endswith("/")


@dataclass(frozen=True)
class PublicRun:
    """What the addresses of a run depend on."""

    public_id: str
    slug: str
    has_slices: bool
    has_status_lines: bool
    has_reads: bool
    is_withheld: bool | None
    has_withheld_file: bool


@dataclass(frozen=True)
class Subjects:
    """What the register shows to everyone."""

    products: list[tuple[str, str]]  # slug, vendor
    runs: list[PublicRun]
    publications: list[str]
    sweep_keys: list[str]


def read_subjects() -> Subjects:
    """Return the public products and runs, what was published without a log, and loads of YCSB: four queries."""
    reads = Histogram.objects.judged().filter(run=OuterRef("pk"))
    sweeps = YcsbRun.objects.filter(run__in=Run.objects.standing()).exclude(sweep_key="")
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
    """Yield every address once, the pages that most readers ask for first."""
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
    """The same list as the files that its page links to."""
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
    """Reads were counted, and nothing keeps what was counted back."""
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
# Public, and neither in the sitemap nor in a snapshot: answered by the running register only.
LEFT_OUT = {
    "run-log": "evidence is sent as it was received, from where it is stored",
    "run-side-file": "evidence",
    "run-companion": "evidence",
    "run-line": "any line of any log",
    "run-lines": "any lines of any log",
    "run-slice": "any slice of any run: its counts are in the run's CSV",
    "run-telemetry": "read out of a stored file when it is asked for",
    "run-rates-csv": "a line for every minute of a run, which few ask for; what the chart shows of it is kept",
    "run-configuration": "not every log prints what it is made of",
    "run-earlier": "a download that few ask for",
    "permanent-id": "leads to a page that is in the sitemap itself",
    "sitemap-part": "only where one sitemap does not hold all",
    "dump-file": "sent from the directory of the dumps, without a query",
}


@cache
def known_names() -> frozenset[str]:
    """Return the names of the register's public addresses."""
    return frozenset(name for name, _ in _named_patterns(_patterns()))


@cache
def plain_names() -> tuple[str, ...]:
    """Return the names of the addresses that take no parameter, in the order of the site's list of addresses."""
    return tuple(name for name, pattern in _named_patterns(_patterns()) if not pattern.pattern.converters)


def _patterns() -> list[URLPattern | URLResolver]:
    """The list of addresses, asked for late: the sitemap stands in it, and is made from it."""
    patterns: list[URLPattern | URLResolver] = import_module("webapp.register.urls").urlpatterns
    return patterns


def _named_patterns(patterns: Iterable[URLPattern | URLResolver]) -> Iterator[tuple[str, URLPattern]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _named_patterns(pattern.url_patterns)
        elif pattern.name and is_public_page(pattern.callback):
            yield pattern.name, pattern
