"""What a result needs to be ranked, and sentences about results within the limits that lack it.

static/js/drives/ranking-requirements.js makes the same sentences; tests/data/ranking_requirements.json has their cases.
"""

from collections import Counter

from webapp.register.drives.limit_check import name_of
from webapp.register.drives.store.encoded_columns import ColumnStore, Rows
from webapp.register.drives.store.ranking import groups_of
from webapp.register.tables.groups import NOT_RANKED_WORDS, NotRanked, why_not_ranked
from webapp.templatetags import units


def unranked_sentences(store: ColumnStore, rows: Rows, whose: str) -> str:
    """Return that these rows are within the limits but none is ranked, and why. `whose` is "the" or "your"."""
    count = rows.bit_count()
    subject = name_of(store, rows.bit_length() - 1) if count == 1 else f"{units.count(count)} results"
    verb, they = ("is", "it is") if count == 1 else ("are", "they are")
    return f"{subject} {verb} within {whose} limits, but {they} {not_ranked_because(store, rows)}"


def reasons_not_ranked(store: ColumnStore, rows: Rows) -> dict[NotRanked, int]:
    """Return why none of these rows is ranked: each reason with the number of its rows, in the order of the codes."""
    numbers: Counter[NotRanked] = Counter()
    for word, group in groups_of(store).items():
        members = rows & store.columns["comparison_group"].of(word)
        numbers[why_not_ranked(group) or NotRanked.NO_SPEED] += members.bit_count()
    return {reason: numbers[reason] for reason in NotRanked if numbers[reason]}


def not_ranked_because(store: ColumnStore, rows: Rows) -> str:
    """Return that none of these rows is ranked, and why; each of several reasons has the number of its rows.

    The text follows a verb: "they are not ranked, because ...".
    """
    reasons = reasons_not_ranked(store, rows)
    counted = [
        f"{NOT_RANKED_WORDS[reason]} ({units.count(number)})" if len(reasons) > 1 else NOT_RANKED_WORDS[reason]
        for reason, number in reasons.items()
    ]
    return (
        f"not ranked, because {' or '.join(counted)}. A result is ranked if its data was not compressible "
        "and it reports speed, version of ACT and number of devices. "
        "A published result of a drive counts as one device."
    )
