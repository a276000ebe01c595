"""Vendors' publications with YCSB figures: their set-up, and every figure with its exact value."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from results.catalogue.claims import READ_OFF, STATED
from results.catalogue.rows import published_sources
from results.models import PublishedFigure
from results.rules.plural import listed
from results.rules.ycsb.claim_terms import in_us
from results.rules.ycsb.statements import read_off_span
from webapp.register.ycsb.gains import READ_FROM_CHART


@dataclass(frozen=True)
class Publication:
    """One publication: its title, and the set-up of its measurements."""

    title: str
    setup: str
    missing: str = ""


# Source: the publications themselves, as results/catalogue/published holds their figures.
PUBLICATIONS = {
    "micron-7400-brief": Publication(
        "Micron 7400 PRO against 7300 PRO on RocksDB",
        "3.84 TB each; 250 M records of 4 x 1,024 bytes, 200 M operations, uniform requests, YCSB 0.17.0 of the HSE "
        "fork, XFS, one drive alone.",
        "The brief has latencies only as charts, so this page has no latencies.",
    ),
    "micron-7450-brief": Publication(
        "Micron 7450 PRO against a first-generation PCIe Gen4 drive on RocksDB",
        "7.68 TB each; workload A with 4 to 32 threads, RocksDB 6.22, 250 M records of 4 x 1,024 bytes.",
        "The publication shows its curves only in charts. This page has the points that it prints or that can be read.",
    ),
    "micron-x100-paper": Publication(
        "Micron X100 against 9300 MAX on Aerospike",
        "800 GB and 3.2 TB; 97 M records of 4,096 bytes, uniform requests except on D, 8 to 128 threads, Aerospike "
        "Enterprise 5.2.0.4 with its index in memory, load generator on a host of its own. Defragmentation ran only "
        "on the X100 and doubled the size of its requests.",
        "The publication shows its curves only in charts. This page has the points that it prints or that can be read.",
    ),
    "kioxia-fl6-brief": Publication(
        "KIOXIA FL6 against a TLC PCIe 4.0 drive on Aerospike",
        "3.2 TB each; 300 M records, 375.93 GB in all, 128 threads, 2 G operations, Aerospike 5.7.0.8 with index and "
        "data on the drive.",
        "What the brief calls workload E is the load phase: 300 M inserts, 5.19 min at 962,872 ops/s. The brief "
        "calls the insert latency of D “Average Update Latency” and that of E “Average Read Latency”; here "
        "both are insert latencies.",
    ),
}
WORKLOADS = {
    "A": "50 % reads, 50 % updates",
    "B": "95 % reads, 5 % updates",
    "C": "reads only",
    "D": "95 % reads of the latest, 5 % inserts",
    "E": "95 % scans, 5 % inserts",
    "F": "50 % reads, 50 % read-modify-writes",
}
LOAD_PHASE = "the load phase: inserts only"
METRICS = {
    "throughput": "Throughput",
    "throughput_max": "Highest throughput",
    "runtime": "Run time",
    "read_latency_avg": "Average read latency",
    "update_latency_avg": "Average update latency",
    "insert_latency_avg": "Average insert latency",
    "read_modify_write_latency_avg": "Average read-modify-write latency",
    "read_latency_p99_9": "Read latency, p99.9",
    "read_latency_p99_99": "Read latency, p99.99",
    "cpu_utilization_max": "Processors busy, highest",
    "iowait_max": "Waiting for I/O, highest",
    "memory_used": "Memory used",
    "average_request_size": "Average request size of the device",
}


# Facts about the origin of a publication (PublishedSource), with their names on pages.
SOURCE_FACTS = {
    "publisher": "publisher",
    "address": "address",
    "published_on": "date",
    "page": "page",
    "printed_title": "printed title",
}
PRINTED_FACTS = ("printed_title", "published_on", "page")  # publisher and address are in the line of the source


def publication_of(slug: str) -> Publication:
    """Return a publication; one without a description has its name only."""
    return PUBLICATIONS.get(slug, Publication(slug, ""))


def source_facts(slug: str) -> list[tuple[str, str]]:
    """Return what the publication prints about itself, with labels; a fact that was not recorded is left out."""
    source = published_sources().get(slug)
    facts = [(SOURCE_FACTS[name].capitalize(), getattr(source, name, "")) for name in PRINTED_FACTS]
    return [(label, text) for label, text in facts if text]


def missing_facts(slug: str, *others: str) -> str:
    """Return the facts about a publication that the register lacks, and other such facts, as a sentence."""
    source = published_sources().get(slug)
    missing = [*(words for name, words in SOURCE_FACTS.items() if not getattr(source, name, "")), *others]
    if not missing:
        return ""
    return f"The publication's {listed(missing)} {'is' if len(missing) == 1 else 'are'} not recorded."


def metric_name(metric: str) -> str:
    """Return the label of a metric."""
    return METRICS.get(metric, metric.replace("_", " "))


def metric_words(metric: str) -> str:
    """Return the label of a metric as it is written within a sentence.

    >>> metric_words("read_latency_avg")
    'average read latency'
    """
    label = metric_name(metric)
    return label[:1].lower() + label[1:]


def workload_note(publication: str, letter: str) -> str:
    """Return the operations of a workload; the FL6 brief calls its load phase E."""
    if publication == "kioxia-fl6-brief" and letter == "E":
        return LOAD_PHASE
    return WORKLOADS.get(letter, "")


@dataclass(frozen=True)
class Figure:
    """One figure with its printed digits and its exact value."""

    row: PublishedFigure

    @property
    def exact(self) -> Fraction:
        """Return the value without rounding."""
        return Fraction(Decimal(self.row.value))

    @property
    def is_read_off(self) -> bool:
        """Return whether it was read from a chart, not printed."""
        return self.row.exactness == READ_OFF

    @property
    def remark(self) -> str:
        """Return its exactness unless it is simply stated, and the publication's own name for it if that differs."""
        shown = {STATED: "", READ_OFF: READ_FROM_CHART}
        exactness = shown.get(self.row.exactness, self.row.exactness)
        label = f"printed as “{self.row.source_label}”" if self.row.source_label else ""
        return ", ".join(part for part in (exactness, label) if part)

    @property
    def printed(self) -> str:
        """Return the value with its unit, as printed."""
        return f"{self.row.value} {self.row.unit}"

    @property
    def shown(self) -> str:
        """Return the printed digits with their thousands separated, and the unit."""
        return f"{Decimal(self.row.value):,f} {self.row.unit}"

    @property
    def span(self) -> tuple[Fraction, Fraction] | None:
        """Return the range of a value that was read from a chart; None for a printed one."""
        return read_off_span(self.exact) if self.is_read_off else None

    @property
    def latency_us(self) -> Fraction | None:
        """Return the value as a latency in us; None if it is not a latency."""
        return in_us(self.exact, self.row.unit)


@dataclass(frozen=True)
class Figures:
    """All figures of one publication, in the order of the file."""

    publication: str
    all: Sequence[Figure]

    @property
    def drives(self) -> list[str]:
        """Return the drives, that of the publishing vendor first."""
        return list(dict.fromkeys(each.row.model for each in self.all))

    @property
    def workloads(self) -> list[str]:
        """Return the workloads with figures, by letter; "" for figures that apply to all."""
        return sorted({each.row.workload for each in self.all})

    def of(self, workload: str, drive: str = "") -> list[Figure]:
        """Return the figures of a workload, of one drive or of all."""
        return [each for each in self.all if each.row.workload == workload and drive in {"", each.row.model}]

    def sweep(self, workload: str, drive: str) -> dict[int, Fraction]:
        """Return throughput by thread count."""
        return {
            each.row.threads_count: each.exact
            for each in self.of(workload, drive)
            if each.row.metric == "throughput" and each.row.threads_count is not None
        }


def by_publication(**filters: str) -> list[Figures]:
    """Return all figures, or those that pass filters of the model, publication by publication, in one query."""
    found: dict[str, list[Figure]] = {}
    for row in PublishedFigure.objects.filter(**filters).order_by("pk"):
        found.setdefault(row.publication, []).append(Figure(row))
    return [Figures(name, rows) for name, rows in found.items()]
