"""Drives of published YCSB figures, which are no results of a drive: named beside a drive that is not recognised."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from results.models import PublishedFigure

UNNAMED = "Other"  # the maker of what a publication does not name


@dataclass(frozen=True)
class Figured:
    """One drive of one publication; `publication` is its slug."""

    vendor: str
    model: str
    publication: str

    @property
    def name(self) -> str:
        """Maker and model."""
        return f"{self.vendor} {self.model}"


def figured_drives() -> list[Figured]:
    """Return the drives that publications state figures of YCSB for, each once for each publication."""
    named = PublishedFigure.objects.exclude(vendor=UNNAMED).order_by("publication", "vendor", "model")
    return [Figured(*values) for values in named.values_list("vendor", "model", "publication").distinct()]


def figured_sentence(figured: Iterable[Figured]) -> str:
    """Say which drives published figures are of; nothing where there are none."""
    names = list(dict.fromkeys(each.name for each in figured))
    return f" Published figures of YCSB through a database are of {', '.join(names)}." if names else ""


def publications_of(figured: Iterable[Figured]) -> Sequence[str]:
    """Return the slugs of the publications, each once."""
    return tuple(dict.fromkeys(each.publication for each in figured))
