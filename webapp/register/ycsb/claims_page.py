"""Claims of the vendors' publications, recomputed from the publications' own figures."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from results.catalogue.claims import CheckedRow, check_published_claims, published_flights
from results.rules.act.loads import printed_decimal
from results.rules.ycsb.statements import Status
from webapp.register.http.files import Value
from webapp.register.ycsb.gains import span
from webapp.register.ycsb.publications import publication_of

LABELS = {
    Status.REPRODUCES: "reproduced",
    Status.TRUNCATED: "truncated",
    Status.ROUNDED_UP: "rounded up",
    Status.AS_READ: "consistent with the chart",
    Status.AT_POINTS: "chart too imprecise",
    Status.NOT_DECIDABLE: "not decidable from the chart",
    Status.CONTRADICTS: "contradicts itself",
    Status.IN_WORDS: "not a number",
    Status.CANNOT_BE_CHECKED: "cannot be checked",
}
MEANINGS = {
    Status.REPRODUCES: "The publication's figures give the stated number, correctly rounded.",
    Status.TRUNCATED: "The decimals were cut off, for example 29.9 printed as 29.",
    Status.ROUNDED_UP: "The number was rounded up, although the lower number is nearer.",
    Status.AS_READ: "The figures were read from a chart, to about one digit. The stated number is within their range.",
    Status.AT_POINTS: "Read from a chart; too imprecise to decide. Taken exactly as read, it gives this number.",
    Status.NOT_DECIDABLE: "Read from a chart; too imprecise to decide. Taken exactly as read, it gives another number.",
    Status.CONTRADICTS: "The publication's own figures give another number.",
    Status.IN_WORDS: "The claim is in words. The number that the figures give is shown with it.",
    Status.CANNOT_BE_CHECKED: "The publication does not print the figures behind the claim.",
}
ODD_ROUNDING = (Status.TRUNCATED, Status.ROUNDED_UP)
FROM_CHARTS = (Status.AS_READ, Status.AT_POINTS, Status.NOT_DECIDABLE)
UNCHECKED = (Status.IN_WORDS, Status.CANNOT_BE_CHECKED)
FIELDS = (
    *("publication", "claim", "workload", "drive", "against", "stated", "unit", "computation", "recomputed"),
    *("status", "recorded_status", "read_off", "reason"),
)


@dataclass(frozen=True)
class ClaimRow:
    """One claim; `status` is that of the exact value. `recorded_status` is set if the rounded value has another one.

    `read_off` is the possible span if the figures were read from a chart.
    """

    claim: str
    workload: str
    drive: str
    against: str
    stated: str
    unit: str
    computation: str
    recomputed: str
    status: str
    recorded_status: str
    read_off: str
    reason: str

    @property
    def label(self) -> str:
        """The status as the page shows it."""
        return LABELS[Status(self.status)]

    @property
    def is_contradiction(self) -> bool:
        """Return whether the publication's own figures contradict it."""
        return self.status == Status.CONTRADICTS


@dataclass(frozen=True)
class ClaimGroup:
    """The claims of one publication."""

    slug: str
    title: str
    rows: Sequence[ClaimRow]


@dataclass(frozen=True)
class ClaimsPage:
    """All claims with their number by status, and published results that are impossible."""

    sentence: str
    groups: Sequence[ClaimGroup]
    counts: Sequence[tuple[str, int, str]]
    total: int
    checked: int
    impossible: Sequence[str]


def claims_page() -> ClaimsPage:
    """Return all claims, recomputed."""
    rows = check_published_claims()
    slugs = dict.fromkeys(row.check.claim.publication for row in rows)
    counts = Counter(row.check.status for row in rows)
    return ClaimsPage(
        _sentence(counts),
        [
            ClaimGroup(slug, publication_of(slug).title, [_row(row) for row in rows if _is_of(row, slug)])
            for slug in slugs
        ],
        [(LABELS[status], counts[status], MEANINGS[status]) for status in Status if counts[status]],
        len(rows),
        sum(1 for row in rows if row.check.values),
        list(_impossible()),
    )


def _sentence(counts: Counter[Status]) -> str:
    """Return a summary of the claims by group of statuses."""
    odd = sum(counts[status] for status in ODD_ROUNDING)
    charts, unchecked = (sum(counts[status] for status in group) for group in (FROM_CHARTS, UNCHECKED))
    rounding = f" ({odd} with odd rounding)" if odd else ""
    return (
        f"Of {counts.total()} claims: {counts[Status.REPRODUCES] + odd} hold{rounding}, "
        f"{counts[Status.CONTRADICTS]} contradicted by the publication's own figures, "
        f"{charts} based on chart readings, {unchecked} cannot be checked."
    )


def _is_of(row: CheckedRow, slug: str) -> bool:
    return row.check.claim.publication == slug


def _row(row: CheckedRow) -> ClaimRow:
    check, claim = row.check, row.check.claim
    return ClaimRow(
        claim.claim,
        claim.workload,
        claim.device,
        claim.against,
        claim.stated_value,
        claim.unit,
        claim.computation,
        check.printed,
        check.status.value,
        _recorded_status(row),
        _read_off(row),
        check.reason,
    )


def _recorded_status(row: CheckedRow) -> str:
    """Return the status of the rounded value if it differs from that of the exact value."""
    if not row.is_exactly_another:
        return ""
    exact = ", ".join(printed_decimal(value, 4) for value in row.check.values)
    return f"exactly {exact}; rounded to {row.check.printed} first: {row.check.printed_status}"


def _read_off(row: CheckedRow) -> str:
    """Return the possible span of a value whose figures were read from a chart."""
    if row.check.span is None:
        return ""
    return f"read from a chart, {span(row.check.span, row.check.claim.unit)}"


def _impossible() -> Iterable[str]:
    """Yield sentences on published results whose throughput and latency cannot both be true (Little's law)."""
    for flight in published_flights():
        if not flight.law.is_possible:
            yield (
                f"{publication_of(flight.publication).title}, workload {flight.workload}, {flight.model}: throughput x "
                f"mean latency means {printed_decimal(flight.law.in_flight, 1)} operations at the same time, but "
                f"{flight.law.threads} threads can have at most one each (Little's law)."
            )


def claim_values(page: ClaimsPage) -> list[dict[str, Value]]:
    """Return the rows as they are exported."""
    return [dict(zip(FIELDS, (group.slug, *_texts(row)), strict=True)) for group in page.groups for row in group.rows]


def _texts(row: ClaimRow) -> tuple[str | None, ...]:
    stated = (row.claim, row.workload, row.drive, row.against, row.stated, row.unit, row.computation, row.recomputed)
    return tuple(text or None for text in (*stated, row.status, row.recorded_status, row.read_off, row.reason))
