"""Every claim of the vendors' publications beside what their own figures give."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from results.catalogue.claims import CheckedRow, check_published_claims, published_flights
from results.rules.act.loads import printed_decimal
from results.rules.ycsb.statements import Status
from webapp.register.http.files import Value
from webapp.register.ycsb.gains import span
from webapp.register.ycsb.publications import publication_of

MEANINGS = {
    Status.REPRODUCES: "the stated number is what its figures give, rounded",
    Status.TRUNCATED: "its decimals were cut off: 29.9 printed as 29",
    Status.ROUNDED_UP: "it was rounded up, though nearer to the number below",
    Status.AS_READ: "behind it are points read off a figure, good to about one digit: the stated number lies within "
    "what they allow, and more cannot be told",
    Status.AT_POINTS: "points read off a figure give the stated number as they were read, but allow nearly any: the "
    "greatest value is more than twice the least, or of another sign",
    Status.NOT_DECIDABLE: "the same, and the points as they were read give another number",
    Status.CONTRADICTS: "its own figures give another number",
    Status.IN_WORDS: "it states a word; what its figures give stands beside it",
    Status.CANNOT_BE_CHECKED: "the figures behind it are not printed",
}
FIELDS = (
    *("publication", "claim", "workload", "drive", "against", "stated", "unit", "computation", "recomputed"),
    *("status", "recorded_status", "read_off", "reason"),
)


@dataclass(frozen=True)
class ClaimRow:
    """One claim; `status` is of the exact value. `recorded_status` is told where its rounded value gets another one.

    `read_off` says how far its figures can be trusted, where they were read off a figure.
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
    def is_contradiction(self) -> bool:
        """Whether the publication's own figures speak against it."""
        return self.status == Status.CONTRADICTS


@dataclass(frozen=True)
class ClaimGroup:
    """The claims of one publication."""

    slug: str
    title: str
    rows: Sequence[ClaimRow]


@dataclass(frozen=True)
class ClaimsPage:
    """All claims, counted by what became of them, and what no machine can have done."""

    groups: Sequence[ClaimGroup]
    counts: Sequence[tuple[str, int, str]]
    total: int
    checked: int
    impossible: Sequence[str]


def claims_page() -> ClaimsPage:
    """Return every claim of the file, recomputed."""
    rows = check_published_claims()
    slugs = dict.fromkeys(row.check.claim.publication for row in rows)
    counts = Counter(row.check.status for row in rows)
    return ClaimsPage(
        [
            ClaimGroup(slug, publication_of(slug).title, [_row(row) for row in rows if _is_of(row, slug)])
            for slug in slugs
        ],
        [(status.value, counts[status], MEANINGS[status]) for status in Status if counts[status]],
        len(rows),
        sum(1 for row in rows if row.check.values),
        list(_impossible()),
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
    """Say what the value gives that was rounded first, where that made the difference."""
    if not row.is_exactly_another:
        return ""
    exact = ", ".join(printed_decimal(value, 4) for value in row.check.values)
    return f"exactly {exact}; rounded to {row.check.printed} first: {row.check.printed_status}"


def _read_off(row: CheckedRow) -> str:
    """Say between what the value lies where its figures were read off."""
    if row.check.span is None:
        return ""
    return f"read off a figure, {span(row.check.span, row.check.claim.unit)}"


def _impossible() -> Iterable[str]:
    """Name the published runs in which throughput and latency cannot both be true."""
    for flight in published_flights():
        if not flight.law.is_possible:
            yield (
                f"{publication_of(flight.publication).title}, workload {flight.workload}, {flight.model}: throughput x "
                f"mean latency is {printed_decimal(flight.law.in_flight, 1)} operations in flight, and "
                f"{flight.law.threads} threads can have one each (Little's law)."
            )


def claim_values(page: ClaimsPage) -> list[dict[str, Value]]:
    """Return the rows as they are exported."""
    return [dict(zip(FIELDS, (group.slug, *_texts(row)), strict=True)) for group in page.groups for row in group.rows]


def _texts(row: ClaimRow) -> tuple[str | None, ...]:
    told = (row.claim, row.workload, row.drive, row.against, row.stated, row.unit, row.computation, row.recomputed)
    return tuple(text or None for text in (*told, row.status, row.recorded_status, row.read_off, row.reason))
