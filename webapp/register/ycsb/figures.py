"""The figures of one publication, by drive and workload, exact; the first drive is the one it speaks for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from results.catalogue.figures import STATED
from results.models import PublishedFigure
from results.rules.ycsb.claim_terms import in_us

SWEPT = "throughput"


@dataclass(frozen=True)
class Figure:
    """One figure with its printed digits and its exact value."""

    row: PublishedFigure

    @property
    def exact(self) -> Fraction:
        """The value without rounding."""
        return Fraction(Decimal(self.row.value))

    @property
    def is_read_off(self) -> bool:
        """Whether nobody printed it: it was read off a figure."""
        return not self.row.exactness.startswith(STATED)

    @property
    def remark(self) -> str:
        """How exact it is, where it is not simply stated; and what the publication calls it, where that is another."""
        exactness = self.row.exactness if self.row.exactness != STATED else ""
        label = f"printed as “{self.row.source_label}”" if self.row.source_label else ""
        return ", ".join(part for part in (exactness, label) if part)

    @property
    def latency_us(self) -> Fraction | None:
        """The value as a latency in us; None where it is none."""
        return in_us(self.exact, self.row.unit)


@dataclass(frozen=True)
class Figures:
    """All figures of one publication, in the order of the file."""

    publication: str
    all: Sequence[Figure]

    @property
    def drives(self) -> list[str]:
        """The drives, the one that the publication speaks for first."""
        return list(dict.fromkeys(each.row.model for each in self.all))

    @property
    def workloads(self) -> list[str]:
        """The workloads that figures are stated for, by letter; "" is what holds for all."""
        return sorted({each.row.workload for each in self.all})

    def of(self, workload: str, drive: str = "") -> list[Figure]:
        """Return the figures of a workload, of one drive or of all."""
        return [each for each in self.all if each.row.workload == workload and drive in {"", each.row.model}]

    def sweep(self, workload: str, drive: str) -> dict[int, Fraction]:
        """Return throughput by thread count."""
        return {
            each.row.threads_count: each.exact
            for each in self.of(workload, drive)
            if each.row.metric == SWEPT and each.row.threads_count is not None
        }


def vendor_name(figure: PublishedFigure) -> str:
    """Return maker and model; "Other" and "Vendor A" name nobody."""
    is_named = figure.vendor not in {"Other", "Vendor A"}
    return f"{figure.vendor} {figure.model}" if is_named else figure.model


def figures_of(publication: str) -> Figures:
    """Return a publication's figures in one query; none where no publication has the name."""
    rows = PublishedFigure.objects.filter(publication=publication).order_by("pk")
    return Figures(publication, [Figure(row) for row in rows])


def by_publication() -> list[Figures]:
    """Return all figures, publication by publication, in one query."""
    found: dict[str, list[Figure]] = {}
    for row in PublishedFigure.objects.order_by("pk"):
        found.setdefault(row.publication, []).append(Figure(row))
    return [Figures(name, rows) for name, rows in found.items()]


def is_same_level(figures: Iterable[Figure]) -> bool:
    """Whether all have one value."""
    return len({(each.exact, each.row.unit) for each in figures}) == 1
