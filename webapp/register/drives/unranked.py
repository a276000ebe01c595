"""Why results within the limits are not ranked, and what a reader can do.

static/js/drives/headline.js has the same words.
"""

from collections import Counter

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
