"""Sentences about runs and tables, with their figures, that can be quoted."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from results.models import Product, Run, Statistic
from webapp.register.limits.reader_limits import LimitEvaluation
from webapp.register.tables.columns import duration_text, is_duration_assumed, product_of, ranked_tps, storage_text
from webapp.templatetags import units

if TYPE_CHECKING:
    from webapp.register.tables.tables import Table

HOW = {
    Statistic.STEADY_AS_PUBLISHED: "as published",
    Statistic.WORST_SLICE: "in every slice of its log",
    Statistic.OVERALL: "over its whole run",
}


def product_name(product: Product) -> str:
    """Return the name of a drive: maker, model and capacity."""
    return " ".join(part for part in (product.vendor, product.model, units.capacity(product.capacity_gb)) if part)


def run_name(run: Run) -> str:
    """Return the product's name, with the storage of an instance if it is reported."""
    storage = storage_text(run)
    return product_name(product_of(run)) + (f" ({storage})" if storage else "")


def devices_note(run: Run) -> str:
    """Return the note on the number of devices that a run's speed covers."""
    return devices_words(storage_text(run), run.device_count or 1)


def devices_words(storage: str, devices: int) -> str:
    """Return the note on a number of devices; empty for one, or if the name has the storage of an instance."""
    return "" if storage or devices == 1 else f", {devices} devices together"


def number_of(number: int, one: str, more: str) -> str:
    """Return a number with its noun.

    >>> number_of(1, "result", "results"), number_of(1030, "result", "results")
    ('1 result', '1,030 results')
    """
    return f"{units.count(number)} {one if number == 1 else more}"


def results_words(published: int, stored: int) -> str:
    """Return how many results are published ones and how many are from stored logs.

    >>> results_words(0, 0), results_words(2, 1)
    ('No results.', '2 results from publications and 1 result from a log in the register.')
    """
    if not published and not stored:
        return "No results."
    parts = [
        number_of(published, "result from a publication", "results from publications") if published else "",
        number_of(stored, "result from a log in the register", "results from logs in the register") if stored else "",
    ]
    return " and ".join(part for part in parts if part) + "."


def fastest_sentences(passing: Sequence[Run]) -> list[str]:
    """Return the fastest run within the limits for each statistic, because statistics do not compare."""
    return [
        f"Fastest within the limits {HOW[statistic]}: {run_name(run)} at {speed_words(run)}."
        for statistic in HOW
        if (run := _fastest(run for run in passing if run.statistic == statistic))
    ]


def speed_words(run: Run) -> str:
    """Return a run's speed, with its number of devices."""
    return f"{units.decimal(run.tps)} tps{devices_note(run)}" if run.tps else "speed not reported"


def _fastest(runs: Iterable[Run]) -> Run | None:
    return max((run for run in runs if run.tps and not run.is_on_no_drive), key=ranked_tps, default=None)


def table_sentence(table: "Table", results: Sequence[LimitEvaluation]) -> str:
    """Return the summary of a table's current rows; `results` are the evaluations of all its rows."""
    current = [row for row in table.rows if row.is_current]
    passing = [row.run for row, each in zip(table.rows, results, strict=True) if row.is_current and each.passes_limits]
    published = sum(row.run.statistic == Statistic.STEADY_AS_PUBLISHED for row in current)
    sentences = [results_words(published, len(current) - published), *fastest_sentences(passing)]
    if over := sum(row.is_over for row in current):
        sentences.append(f"{over} of {len(current)} results {'is' if over == 1 else 'are'} over a limit.")
    return " ".join(sentences)


def rating_sentence(sustained: int, count: int, speed: str, *, speed_of_one: str = "") -> str:
    """Return how many of some results have a rating that allows a speed.

    >>> rating_sentence(2, 15, "400,000 tps"), rating_sentence(0, 1, "it", speed_of_one="your load")
    ('2 of the 15 have a rating that allows 400,000 tps.', 'Its rating does not allow your load.')
    """
    if count == 1:
        return f"Its rating {'allows' if sustained else 'does not allow'} {speed_of_one or speed}."
    number = f"{units.count(sustained) if sustained else 'None'} of the {units.count(count)}"
    return f"{number} {'has' if sustained < 2 else 'have'} a rating that allows {speed}."


def published_sentence(run: Run) -> str:
    """Return the sentence on a published run."""
    start = f"As published, {run_name(run)} was tested at {units.decimal(run.tps)} tps"
    if is_duration_assumed(run):
        return f"{start}{devices_note(run)}; duration {duration_text(run)}."
    lasted = f" for {duration_text(run)}" if run.duration_s else ""
    return f"{start}{lasted}{devices_note(run)}."
