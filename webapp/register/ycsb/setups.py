"""The set-ups in which one drive met a load: what they differ in, and which of them are not held against each other."""

from collections.abc import Sequence

from results.models import Run
from webapp.register.comparability.comparable import NAMES, Conditioned, known_differences, value_text
from webapp.register.comparability.conditions import BESIDE_THE_LOAD, Setup, sweep_conditions

PARTS = ("firmware", *BESIDE_THE_LOAD)
LABELS = {"firmware": "firmware"} | {name: NAMES[name].lower() for name in BESIDE_THE_LOAD}


def names_of_setups(setups: Sequence[Setup]) -> list[list[str]]:
    """Return for each set-up the words of what it differs in from another; none where there is one alone."""
    differing = [place for place in range(len(PARTS)) if len({setup[place] for setup in setups}) > 1]
    return [[_words(PARTS[place], setup[place]) for place in differing] for setup in setups]


def _words(name: str, value: object) -> str:
    return f"{LABELS[name]} {value_text(name, value)}"


def difference_of(first: Run, second: Run) -> str:
    """Return in which conditions two runs are known to differ, as words with both values; "" where in none."""
    told = known_differences(*(Conditioned(run, sweep_conditions(run)) for run in (first, second)))
    return "; ".join(
        f"{NAMES[each.name].lower()} {value_text(each.name, each.first)} and {value_text(each.name, each.second)}"
        for each in told
    )
