"""Published results that cannot be true: a throughput and a mean latency that contradict each other, by Little's law.

Throughput times mean latency is the number of requests that run at once, and a thread has at most one.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

from django.urls import reverse
from django.utils.text import slugify

from results.catalogue.claims import published_law_checks
from results.catalogue.rows import published_sources
from results.rules.act.loads import printed_decimal
from results.rules.plural import listed
from results.rules.ycsb.claims import Basis, BasisRow, ClaimCheck, LittlesLawCheck
from webapp.register.ycsb.gains import rate
from webapp.register.ycsb.publications import Publication, publication_of
from webapp.templatetags import units


@dataclass(frozen=True)
class CheckedResult:
    """One published result whose throughput, threads and mean latencies are all stated, with its check."""

    check: LittlesLawCheck

    @property
    def publication(self) -> Publication:
        """Return its publication."""
        return publication_of(self.check.publication)

    @property
    def publisher(self) -> str:
        """Return who published it; the title of the publication if that is not recorded."""
        source = published_sources().get(self.check.publication)
        return source.publisher if source and source.publisher else self.publication.title

    @property
    def anchor(self) -> str:
        """Return the id of its row on the page of impossible results."""
        return slugify(f"{self.check.publication} {self.check.model.replace('.', '-')} {self.check.workload}")

    @property
    def address(self) -> str:
        """Return the address of its row on the page of impossible results."""
        return f"{reverse('ycsb-impossible')}#{self.anchor}"

    @property
    def throughput(self) -> str:
        """Return its throughput, ops/s."""
        return rate(self.check.ops_per_s)

    @property
    def mean_us(self) -> str:
        """Return the mean latency over all operations, us, with one decimal."""
        return _one_decimal(self.check.mean_us)

    @property
    def in_flight(self) -> str:
        """Return the number of requests that run at once, with one decimal."""
        return _one_decimal(self.check.law.in_flight)

    @property
    def is_impossible(self) -> bool:
        """Return whether throughput and mean latency contradict each other."""
        return not self.check.law.is_possible

    @property
    def sentence(self) -> str:
        """Return why the result is impossible."""
        return (
            f"{self.check.model}, workload {self.check.workload}: throughput x mean latency means {self.in_flight} "
            f"requests at once, but {units.counted(self.check.law.threads, 'thread')} can have at most one each: "
            f"{self.excess_pct} % more than possible."
        )

    @property
    def summary(self) -> str:
        """Return who published the result, of which drive, and why it is impossible, in one short clause."""
        threads = units.counted(self.check.law.threads, "thread")
        return (
            f"{self.publisher} on the {self.check.model}: {self.in_flight} requests at once from {threads}, each of "
            "which can have only one"
        )

    @property
    def excess_pct(self) -> str:
        """Return by how many percent the requests at once exceed the threads, with one decimal."""
        return _one_decimal((self.check.law.in_flight / self.check.law.threads - 1) * 100)


def _one_decimal(number: Fraction) -> str:
    return units.decimal(Decimal(printed_decimal(number, 1)))


@cache
def checked_results() -> tuple[CheckedResult, ...]:
    """Return the results that can be checked, impossible ones first; they come from files of the release."""
    return tuple(sorted(map(CheckedResult, published_law_checks()), key=lambda each: not each.is_impossible))


def impossible_results(publication: str, workload: str) -> list[CheckedResult]:
    """Return the impossible results of a publication on a workload."""
    wanted = (publication, workload)
    return [
        each
        for each in checked_results()
        if each.is_impossible and (each.check.publication, each.check.workload) == wanted
    ]


def impossible_results_behind(check: ClaimCheck, basis: Basis, row: BasisRow) -> list[CheckedResult]:
    """Return the impossible results that a row of the figures behind a claim belongs to."""
    return [each for each in checked_results() if each.is_impossible and each.check.is_behind(check, basis, row)]


def impossible_results_of(check: ClaimCheck) -> list[CheckedResult]:
    """Return the impossible results whose figures a claim uses."""
    return [each for each in checked_results() if each.is_impossible and each.check.is_used_by(check)]


def impossible_sentence() -> str:
    """Return how many published results are impossible, of which publishers, and the drive of a single one."""
    results = checked_results()
    wrong = [each for each in results if each.is_impossible]
    publishers = listed(sorted({each.publisher for each in results}))
    checked = f"{units.count(len(results))} YCSB results published by {publishers} that the register can check"
    if not wrong:
        return f"All {checked} are possible."
    (first, *others), which = wrong, "their throughputs and mean latencies"
    if not others:
        which = f"throughput and mean latency of the {first.check.model}, workload {first.check.workload},"
    return f"{units.count(len(wrong))} of the {checked} cannot be true: {which} contradict each other."


def impossible_page() -> dict[str, Any]:
    """Return the page of impossible results, as its template shows it."""
    return {"sentence": impossible_sentence(), "results": checked_results()}
