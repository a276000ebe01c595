"""The list of all claims with its filters and its export."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from results.catalogue.claims import READ_OFF, CheckedRow
from results.rules.act.loads import printed_decimal
from results.rules.ycsb.statements import Outcome, Status
from webapp.register.http.files import Value
from webapp.register.http.query_params import FORMAT, Parameter, read_parameters, word
from webapp.register.ycsb.claims.counts import claims_sentence
from webapp.register.ycsb.claims.entries import (
    LABELS,
    OUTCOME_LABELS,
    ClaimEntry,
    Headline,
    entries,
    entries_of,
    headline_of,
    impossible_drives,
)
from webapp.register.ycsb.claims.sentences import (
    IMPOSSIBLE_INPUT_MEANING,
    MEANINGS,
    computation,
    explanations,
    favours,
    missing_figures,
    result,
)
from webapp.register.ycsb.gains import CHART_ACCURACY, READ_FROM_CHART, span
from webapp.register.ycsb.impossible_results import checked_results, impossible_sentence
from webapp.register.ycsb.publications import publication_of
from webapp.templatetags import units

FIELDS = (
    *("publication", "claim", "workload", "drive", "against", "stated", "unit", "computation", "recomputed"),
    *("status", "recorded_status", "read_off", "reason", "id", "outcome", "url"),
    "impossible_drive",
)
FILTERS = ("outcome", "brief")
OUTCOMES = tuple(OUTCOME_LABELS)


@dataclass(frozen=True)
class ClaimQuery:
    """The query of the list; an empty text selects all."""

    form: str
    outcome: str
    brief: str


def briefs() -> list[str]:
    """Return the publications with claims, in the order of the file."""
    return list(dict.fromkeys(entry.slug for entry in entries()))


def read_claim_query(query: QueryDict) -> ClaimQuery:
    """Return the query of the list. Raises ParameterError for an invalid parameter."""
    return ClaimQuery(**read_parameters(query, (FORMAT, *claim_parameters())))


def claim_parameters() -> tuple[Parameter, ...]:
    """Return the filters of the list."""
    return word("outcome", ["", *OUTCOMES], "Outcome"), word("brief", ["", *briefs()], "Publication")


def selected(query: ClaimQuery) -> list[ClaimEntry]:
    """Return the claims that pass both filters."""
    return [
        entry for entry in entries() if query.outcome in {"", entry.outcome.value} and query.brief in {"", entry.slug}
    ]


@dataclass(frozen=True)
class Choice:
    """One choice of a filter: its label, its query, the number of claims, and whether it is the current one."""

    label: str
    query: str
    count: int
    is_current: bool


@dataclass(frozen=True)
class ClaimGroup:
    """The shown claims of one publication, contradicted ones first, and the headline of all its claims."""

    slug: str
    title: str
    headline: Headline
    is_source_on_file: bool
    rows: Sequence[Mapping[str, Any]]
    is_open: bool


def claims_page(query: ClaimQuery) -> dict[str, Any]:
    """Return the list for a query: claims by publication, choices of the filters with their counts, and statuses.

    A claim has its values by the names of the export, an empty text where there is none.
    """
    found = selected(query)
    return {
        "sentence": claims_sentence(entries()),
        "rule": _confirmed_rule(entries()),
        "contradicted": [_contradiction(entry) for entry in entries() if entry.is_contradicted],
        "groups": _groups(found, is_filtered=bool(_given(query))),
        "shown": len(found),
        "total": len(entries()),
        "outcomes": _choices(query, "outcome", [("", "All"), *((each, OUTCOME_LABELS[each]) for each in OUTCOMES)]),
        "briefs": _choices(query, "brief", [("", "All"), *((slug, _drive_of(slug)) for slug in briefs())]),
        "export": f"{urlencode(_given(query))}&" if _given(query) else "",
        "counts": _counts(entries()),
        "checked": sum(1 for entry in entries() if entry.row.check.values),
        "impossible": impossible_sentence(),
        "has_impossible": any(each.is_impossible for each in checked_results()),
        "impossible_claims_count": sum(1 for entry in entries() if entry.impossible_results),
    }


def _contradiction(entry: ClaimEntry) -> dict[str, Any]:
    """Return a contradicted claim with its result, the favoured side and the computations that give its number."""
    texts = {"result": result(entry), "favours": favours(entry), "explanations": explanations(entry)}
    return {"entry": entry, **texts}


def _groups(found: Sequence[ClaimEntry], *, is_filtered: bool) -> list[ClaimGroup]:
    """Return claims by publication, contradicted ones first. Without a filter, only the first group is open."""
    by_publication: dict[str, list[ClaimEntry]] = {}
    for entry in sorted(found, key=lambda entry: not entry.is_contradicted):
        by_publication.setdefault(entry.slug, []).append(entry)
    return [
        ClaimGroup(
            slug,
            publication_of(slug).title,
            headline_of(entries_of(slug)),
            same[0].is_source_on_file,
            [_row(entry) for entry in same],
            is_open=is_filtered or not place,
        )
        for place, (slug, same) in enumerate(by_publication.items())
    ]


def _given(query: ClaimQuery) -> dict[str, str]:
    return {name: value for name in FILTERS if (value := getattr(query, name))}


def _choices(query: ClaimQuery, name: str, choices: Sequence[tuple[str, str]]) -> list[Choice]:
    """Return the choices of one filter; their counts are those under the other filter."""
    found = []
    for code, label in choices:
        chosen = ClaimQuery(query.form, **{**_all(query), name: code})
        address = f"?{urlencode(_given(chosen))}" if _given(chosen) else "?"
        found.append(Choice(label, address, len(selected(chosen)), getattr(query, name) == code))
    return found


def _drive_of(slug: str) -> str:
    """Return the praised drive of a publication with its maker, which is shorter than the title."""
    first = entries_of(slug)[0]
    return f"{first.source.publisher} {first.row.check.claim.device}".strip()


def _all(query: ClaimQuery) -> dict[str, str]:
    return {name: getattr(query, name) for name in FILTERS}


def _confirmed_rule(found: Sequence[ClaimEntry]) -> str:
    """Return when a claim is confirmed, and how many of the confirmed ones are rounded in which way."""
    counts = Counter(entry.status for entry in found if entry.outcome is Outcome.CONFIRMED)
    ways = ((Status.REPRODUCES, "rounded correctly"), (Status.TRUNCATED, "cut off"), (Status.ROUNDED_UP, "rounded up"))
    numbers = ", ".join(f"{units.count(counts[status])} {words}" for status, words in ways)
    return (
        "Confirmed: the figures give the stated number, rounded correctly, cut off or rounded up to its last stated "
        f"digit; the difference is always less than one unit of that digit ({numbers})."
    )


def _counts(found: Sequence[ClaimEntry]) -> list[tuple[str, int, str]]:
    """Return each status that claims have, with their number and its meaning."""
    impossible = [entry for entry in found if entry.outcome is Outcome.IMPOSSIBLE_INPUT]
    counts = Counter(entry.status for entry in found if entry.outcome is not Outcome.IMPOSSIBLE_INPUT)
    statuses = [(LABELS[status], counts[status], MEANINGS[status]) for status in Status if counts[status]]
    return [*statuses, *((each.label, len(impossible), IMPOSSIBLE_INPUT_MEANING) for each in impossible[:1])]


def _row(entry: ClaimEntry) -> dict[str, Any]:
    """Return the values of a claim. `status` is that of the exact value.

    `recorded_status` is set if the rounded value has another one, `read_off` if the figures were read from a chart.
    Exports have the catalogue's word for that; the page has its own (`from_chart`).
    """
    row, check, claim = entry.row, entry.row.check, entry.row.check.claim
    stated = (claim.publication, claim.claim, claim.workload, claim.device, claim.against, claim.stated_value)
    read_off = _possible_span(row, f"{READ_OFF}, good to 1 digit:")
    recorded = _recorded_status(row)
    reason = check.reason.sentence() if check.reason else ""
    found = (check.printed, check.status.value, recorded, read_off, reason)
    names = (entry.claim_id, entry.outcome.value, entry.address, impossible_drives(entry.impossible_results))
    texts = dict(zip(FIELDS, (*stated, claim.unit, claim.computation, *found, *names), strict=True))
    from_chart = _possible_span(row, f"{READ_FROM_CHART}, {CHART_ACCURACY}")
    labels = {"label": entry.label, "stated_text": entry.stated, "rounded_first": rounded_first(row)}
    labels |= {"why": missing_figures(entry), "formula": computation(entry)}
    return texts | labels | {"from_chart": from_chart, "is_contradicted": entry.is_contradicted}


def rounded_first(row: CheckedRow) -> str:
    """Return the status of the rounded value as sentences, if it differs from that of the exact value."""
    if not row.is_exactly_another:
        return ""
    status = LABELS[row.check.printed_status]
    return f"The exact value is {_exact(row)}. Rounded to {row.check.printed} first, the status would be: {status}."


def _recorded_status(row: CheckedRow) -> str:
    """Return the same as exports state it, with the names of statuses that they use."""
    if not row.is_exactly_another:
        return ""
    return f"exactly {_exact(row)}; rounded to {row.check.printed} first: {row.check.printed_status}"


def _exact(row: CheckedRow) -> str:
    return ", ".join(printed_decimal(value, 4) for value in row.check.values)


def _possible_span(row: CheckedRow, words: str) -> str:
    """Return the possible span of a value whose figures were read from a chart, after the words for that."""
    if row.check.span is None:
        return ""
    return f"{words} {span(row.check.span, row.check.claim.unit)}"


def claim_values(found: Iterable[ClaimEntry]) -> list[dict[str, Value]]:
    """Return claims as they are exported: publication by publication, null if there is no text."""
    rows = [_row(entry) for entry in found]
    return [{name: row[name] or None for name in FIELDS} for row in rows]
