"""Claims of the vendors' publications, recomputed from the publications' own figures."""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

from results.catalogue.claims import READ_OFF, CheckedRow, check_published_claims, published_flights
from results.rules.act.loads import printed_decimal
from results.rules.ycsb.statements import Status
from webapp.register.http.files import Value
from webapp.register.ycsb.gains import CHART_ACCURACY, READ_FROM_CHART, span
from webapp.register.ycsb.publications import publication_of

LABELS: dict[str, str] = {
    Status.REPRODUCES: "reproduced",
    Status.TRUNCATED: "truncated",
    Status.ROUNDED_UP: "rounded up",
    Status.AS_READ: "consistent with the chart",
    Status.AT_POINTS: "chart too imprecise",
    Status.NOT_DECIDABLE: "not decidable from the chart",
    Status.CONTRADICTS: "contradicted",
    Status.IN_WORDS: "not a number",
    Status.CANNOT_BE_CHECKED: "cannot be checked",
}
MEANINGS = {
    Status.REPRODUCES: "The publication's own figures give the claimed number, correctly rounded.",
    Status.TRUNCATED: "The publication cut off the decimals of the claimed number, for example from 29.9 to 29.",
    Status.ROUNDED_UP: "The publication rounded the claimed number up, although the lower number is nearer.",
    Status.AS_READ: "The figures were read from a chart, to one digit; the claimed number is in their range.",
    Status.AT_POINTS: "The chart is too imprecise to check the claim, but its values give the claimed number.",
    Status.NOT_DECIDABLE: "The chart is too imprecise to check the claim; its values give another number.",
    Status.CONTRADICTS: "The publication's own figures give another number than the claimed one.",
    Status.IN_WORDS: "The claim has no number, so the table shows the number that its publication's figures give.",
    Status.CANNOT_BE_CHECKED: "The publication does not print the figures from which the claim was computed.",
}
FIELDS = (
    *("publication", "claim", "workload", "drive", "against", "stated", "unit", "computation", "recomputed"),
    *("status", "recorded_status", "read_off", "reason"),
)


@cache
def claims_page() -> dict[str, Any]:
    """Return the recomputed claims by publication, their number by status, and published results that are impossible.

    `groups` has slug, title and claims of each publication; a claim has its values by the names of the export, an empty
    text where there is none. The page is cached, because the claims come from files of the release.
    """
    checked = check_published_claims()
    counts = Counter(row.check.status for row in checked)
    by_publication: dict[str, list[dict[str, Any]]] = {}
    for row in checked:
        by_publication.setdefault(row.check.claim.publication, []).append(_row(row))
    return {
        "sentence": _sentence(counts),
        "groups": [(slug, publication_of(slug).title, rows) for slug, rows in by_publication.items()],
        "counts": [(LABELS[status], counts[status], MEANINGS[status]) for status in Status if counts[status]],
        "checked": sum(1 for row in checked if row.check.values),
        "impossible": list(_impossible()),
    }


def _sentence(counts: Counter[Status]) -> str:
    """Return a summary of the claims by group of statuses."""
    odd = counts[Status.TRUNCATED] + counts[Status.ROUNDED_UP]
    charts = counts[Status.AS_READ] + counts[Status.AT_POINTS] + counts[Status.NOT_DECIDABLE]
    unchecked = counts[Status.IN_WORDS] + counts[Status.CANNOT_BE_CHECKED]
    rounding = f" (in {odd} cases with unusual rounding)" if odd else ""
    return (
        f"The register has {counts.total()} claims. The figures of the same publication confirm "
        f"{counts[Status.REPRODUCES] + odd} of them{rounding} and contradict {counts[Status.CONTRADICTS]}. "
        f"Another {charts} depend on values that were read from charts, and {unchecked} cannot be checked."
    )


def _row(row: CheckedRow) -> dict[str, Any]:
    """Return the values of a claim. `status` is that of the exact value.

    `recorded_status` is set if the rounded value has another one, `read_off` if the figures were read from a chart.
    Exports have the catalogue's word for that; the page has its own (`from_chart`).
    """
    check, claim = row.check, row.check.claim
    stated = (claim.publication, claim.claim, claim.workload, claim.device, claim.against, claim.stated_value)
    read_off = _possible_span(row, f"{READ_OFF}, good to 1 digit:")
    recorded = _recorded_status(row, check.printed_status)
    found = (check.printed, check.status.value, recorded, read_off, check.reason)
    texts = dict(zip(FIELDS, (*stated, claim.unit, claim.computation, *found), strict=True))
    from_chart = _possible_span(row, f"{READ_FROM_CHART}, {CHART_ACCURACY}")
    is_contradicted = check.status is Status.CONTRADICTS
    labels = {"label": LABELS[check.status], "recorded_label": _recorded_status(row, LABELS[check.printed_status])}
    return texts | labels | {"from_chart": from_chart, "is_contradicted": is_contradicted}


def _recorded_status(row: CheckedRow, name: str) -> str:
    """Return the status of the rounded value under this name, if it differs from that of the exact value."""
    if not row.is_exactly_another:
        return ""
    exact = ", ".join(printed_decimal(value, 4) for value in row.check.values)
    return f"exactly {exact}; rounded to {row.check.printed} first: {name}"


def _possible_span(row: CheckedRow, words: str) -> str:
    """Return the possible span of a value whose figures were read from a chart, after the words for that."""
    if row.check.span is None:
        return ""
    return f"{words} {span(row.check.span, row.check.claim.unit)}"


def _impossible() -> Iterable[str]:
    """Yield sentences on published results whose throughput and latency cannot both be true (Little's law)."""
    for flight in published_flights():
        if not flight.law.is_possible:
            yield (
                f"{publication_of(flight.publication).title}, workload {flight.workload}, {flight.model}: throughput x "
                f"mean latency means {printed_decimal(flight.law.in_flight, 1)} operations at the same time, but "
                f"{flight.law.threads} threads can have at most one each (Little's law)."
            )


def claim_values() -> list[dict[str, Value]]:
    """Return the claims as they are exported: publication by publication, null if there is no text."""
    return [{name: row[name] or None for name in FIELDS} for _, _, rows in claims_page()["groups"] for row in rows]
