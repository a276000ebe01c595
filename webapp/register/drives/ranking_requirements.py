"""What a result needs to be ranked, and sentences about results within the limits that lack it.

static/js/drives/ranking-requirements.js makes the same sentences; tests/data/ranking_requirements.json has their cases.
"""

from collections import Counter

from webapp.register.drives.limit_check import name_of
from webapp.register.drives.store.encoded_columns import ColumnStore, Rows
from webapp.register.drives.store.ranking import groups_of
from webapp.register.tables.groups import (
    NOT_RANKED_COMPRESSIBLE,
    NOT_RANKED_DEVICES,
    NOT_RANKED_VERSION,
    why_not_ranked,
)
from webapp.templatetags import units

NO_SPEED = "the speed is not reported"
REASONS = (NOT_RANKED_COMPRESSIBLE, NOT_RANKED_VERSION, NOT_RANKED_DEVICES, NO_SPEED)


def unranked_sentences(store: ColumnStore, rows: Rows, whose: str) -> str:
    """Return that these rows are within the limits but none is ranked, and why. `whose` is "the" or "your"."""
    count = rows.bit_count()
    subject = name_of(store, rows.bit_length() - 1) if count == 1 else f"{units.count(count)} results"
    verb, they = ("is", "it is") if count == 1 else ("are", "they are")
    return f"{subject} {verb} within {whose} limits, but {they} {not_ranked_because(store, rows)}"


def not_ranked_because(store: ColumnStore, rows: Rows) -> str:
    """Return that none of these rows is ranked, and why; each of several reasons has the number of its rows.

    The text follows a verb: "they are not ranked, because ...".
    """
    numbers: Counter[str] = Counter()
    for word, group in groups_of(store).items():
        members = rows & store.columns["comparison_group"].of(word)
        numbers[why_not_ranked(group) or NO_SPEED] += members.bit_count()
    found = [(reason, numbers[reason]) for reason in REASONS if numbers[reason]]
    counted = [f"{reason} ({units.count(number)})" if found[1:] else reason for reason, number in found]
    return (
        f"not ranked, because {' or '.join(counted)}. A result is ranked if its data was not compressible "
        "and it reports speed, version of ACT and number of devices."
    )
