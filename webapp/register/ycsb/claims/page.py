"""The page of one claim: statement, chart, recomputation, the other claims of its publication, and its figures."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from results.rules.ycsb.claims import MEAN_OF_GAINS, OF_TWO, PEAKS, Basis, BasisRow
from results.rules.ycsb.statements import Taken, printed
from webapp.register.http.files import Value
from webapp.register.ycsb.claims import sentences
from webapp.register.ycsb.claims.charts import chart_of, gains_of, peak_row
from webapp.register.ycsb.claims.entries import ClaimEntry, entries_of, headline_of, impossible_drives, strip_of
from webapp.register.ycsb.claims.listing import rounded_first
from webapp.register.ycsb.gains import digits
from webapp.register.ycsb.impossible_results import impossible_results_behind
from webapp.register.ycsb.publications import metric_name, missing_facts, workload_note

FIGURE_FIELDS = (
    *("publication", "claim", "workload", "metric", "threads", "drive", "against", "unit", "drive_value"),
    *("against_value", "drive_from", "drive_to", "against_from", "against_to", "gain", "gain_unit"),
    "impossible_drive",
)


def claim_page(entry: ClaimEntry) -> dict[str, Any]:
    """Return the page of a claim, as its template shows it."""
    check, chart, same = entry.row.check, chart_of(entry), entries_of(entry.slug)
    return {
        "title": sentences.title(entry),
        "statement": sentences.statement(entry),
        "get_source": sentences.source_sentences(entry),
        "impossible": sentences.impossible_sentences(entry),
        "meaning": sentences.MEANINGS[entry.status],
        "recomputed_note": sentences.recomputed_note(entry),
        "rounded_first": rounded_first(entry.row),
        "favours": f"{sentences.favours(entry)} {sentences.makers(entry)}",
        "explanations": sentences.explanations(entry),
        "equal_numbers_note": sentences.EQUAL_NUMBERS,
        "other_computations": sentences.other_computations(entry),
        "other_computations_note": sentences.other_computations_note(entry),
        "computation": _computation(entry),
        "workload": _workload(entry),
        "missing_facts": missing_facts(entry.slug, "original sentence"),
        "chart": chart,
        "tables": [_table(entry, basis) for basis in check.basis],
        "result": entry.recomputed,
        "is_mean": check.claim.formula == MEAN_OF_GAINS,
        "headline": headline_of(same),
        "strip": strip_of(same),
    }


def _computation(entry: ClaimEntry) -> str:
    """Return the formula with its result; empty if no computation is known."""
    formula, check = sentences.computation(entry), entry.row.check
    return f"{formula} = {check.printed} {entry.unit}" if formula and check.printed else formula


def _workload(entry: ClaimEntry) -> str:
    """Return the letters of the workloads of the claim, with the operations if it is one."""
    letter = entry.row.check.claim.workload
    return ": ".join(part for part in (letter, workload_note(entry.slug, letter)) if part)


def _table(entry: ClaimEntry, basis: Basis) -> dict[str, Any]:
    """Return the figures of one workload, with the gain of each row and marks at both peaks."""
    return {
        "workload": basis.workload,
        "metric": metric_name(basis.metric),
        "unit": basis.unit,
        "has_threads": any(row.threads for row in basis.rows),
        "rows": list(_rows(entry, basis)),
    }


def _rows(entry: ClaimEntry, basis: Basis) -> Iterator[dict[str, Any]]:
    gains, is_peak = gains_of(entry, basis), entry.row.check.claim.formula == PEAKS
    peaks = [peak_row(basis.rows, side) if is_peak else None for side in "ab"]
    for row in basis.rows:
        value = _gain(entry, basis, row, gains)
        yield {
            "threads": row.threads,
            "drive": _shown(row.a),
            "against": _shown(row.b),
            "drive_range": _range(row.a),
            "against_range": _range(row.b),
            "is_peak": row is peaks[0],
            "is_against_peak": row is peaks[1],
            "gain": "" if value is None else printed(value, 1),
        }


def _gain(entry: ClaimEntry, basis: Basis, row: BasisRow, gains: dict[int, Fraction | None]) -> Fraction | None:
    """Return the gain of a row: at its thread count, or the value of the claim for this workload."""
    if row.threads is not None:
        return gains.get(row.threads)
    check = entry.row.check
    return check.values[check.basis.index(basis)]


def _shown(taken: Taken | None) -> str:
    return "" if taken is None else digits(taken.value)


def _range(taken: Taken | None) -> str:
    return f"{digits(taken.ends[0])} to {digits(taken.ends[-1])}" if taken and taken.is_read_off else ""


def figure_values(entry: ClaimEntry) -> list[dict[str, Value]]:
    """Return the figures behind a claim, one row for each thread count; null for what is missing."""
    claim = entry.row.check.claim
    unit = OF_TWO[claim.formula][1] if claim.formula in OF_TWO else "%"
    return [
        {
            "publication": entry.slug,
            "claim": entry.claim_id,
            "workload": basis.workload or None,
            "metric": basis.metric,
            "threads": row.threads,
            "drive": claim.device,
            "against": claim.against,
            "unit": basis.unit,
            "drive_value": _exported(row.a),
            "against_value": _exported(row.b),
            "drive_from": _exported(row.a, 0),
            "drive_to": _exported(row.a, -1),
            "against_from": _exported(row.b, 0),
            "against_to": _exported(row.b, -1),
            "gain": None if gain is None else digits(gain).replace(",", ""),
            "gain_unit": unit,
            "impossible_drive": impossible_drives(impossible_results_behind(entry.row.check, basis, row)) or None,
        }
        for basis in entry.row.check.basis
        for row in basis.rows
        for gain in [_gain(entry, basis, row, gains_of(entry, basis))]
    ]


def _exported(taken: Taken | None, end: int | None = None) -> str | None:
    """Return a value, or an end of the range of a value that was read from a chart, without separators."""
    if taken is None or (end is not None and not taken.is_read_off):
        return None
    return digits(taken.value if end is None else taken.ends[end]).replace(",", "")
