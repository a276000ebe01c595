"""The answer of a product's page: one sentence that can be quoted alone, made from figures by rules."""

from collections.abc import Sequence

from results.models import Category, Certificate
from results.models.categories import SYSTEMS
from results.rules.act.comparison_groups import ComparisonGroup
from results.rules.act.positions import Position, Standing
from webapp.register.product_pages.headline import Headline, State, worst_share
from webapp.register.tables.endurance_gap import GapView, gap_of
from webapp.register.tables.groups import NOT_RANKED_WORDS, NotRanked, group_of, why_not_ranked
from webapp.templatetags import units

NOUNS = {
    Category.NVME_3DXPOINT: ("NVMe 3D XPoint drive", "NVMe 3D XPoint drives"),
    Category.NVME_FLASH: ("NVMe flash drive", "NVMe flash drives"),
    Category.SATA_SAS_FLASH: ("SATA or SAS flash drive", "SATA and SAS flash drives"),
    Category.M2_FLASH: ("M.2 flash drive", "M.2 flash drives"),
    Category.NETWORKED: ("networked storage system", "networked storage systems"),
    Category.CLOUD: ("cloud instance", "cloud instances"),
}
SHORT_NOUNS = {Category.NETWORKED: "system", Category.CLOUD: "instance"}
ORDINALS = (
    "",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
)  # below ten drives


def short_noun(category: str) -> str:
    """Return the short word for a product: drive, system or instance."""
    return SHORT_NOUNS.get(Category(category), "drive")


def noun(category: str, group: ComparisonGroup, *, is_historical: bool, is_one: bool = False) -> str:
    """Return the words for products of a category that were tested with the devices of a group.

    >>> from results.rules.act.comparison_groups import ReadTime
    >>> noun("cloud", ComparisonGroup(ReadTime.SERVICE, "worst-slice", False, 4), is_historical=False)
    'cloud instances with 4 devices'
    >>> noun("nvme-flash", ComparisonGroup(ReadTime.SERVICE, "worst-slice", False, 4), is_historical=False)
    'NVMe flash drives tested 4 at a time'
    """
    one, more = NOUNS[Category(category)]
    words = ("historical " if is_historical else "") + (one if is_one else more)
    if (group.device_count or 1) == 1:
        return words
    if category in SYSTEMS:
        return f"{words} with {units.counted(group.device_count, 'device')}"
    return f"{words} tested {units.count(group.device_count)} at a time"


def speed_sentence(position: Position, one: str, more: str) -> str:
    """Return the position of a speed as a sentence; `one` and `more` are the words for a product and for several.

    >>> speed_sentence(Position(0, 0, 11), "flash drive", "flash drives")
    'The fastest of 12 comparable flash drives.'
    >>> speed_sentence(Position(2, 0, 27), "flash drive", "flash drives").replace(units.NBSP, " ")
    'Faster than 93 % of 29 other comparable flash drives.'
    """
    total, shared = units.count(position.total), units.count(position.equal + 1)
    sentences = {
        Standing.ONLY: f"No other comparable {one} is within the limits.",
        Standing.EQUAL: f"As fast as {_all(position.others)} other comparable {one if position.others == 1 else more}.",
        Standing.FIRST: f"The fastest of {total} comparable {more}.",
        Standing.SHARED_FIRST: f"One of the {shared} fastest of {total} comparable {more}.",
        Standing.LAST: f"The slowest of {total} comparable {more}.",
        Standing.SHARED_LAST: f"One of the {shared} slowest of {total} comparable {more}.",
        Standing.AHEAD: f"Faster than {_part(position)} other comparable {more}.",
        Standing.PLACE: f"{_place(position)} by speed of {total} comparable {more}.",
    }
    return sentences[position.standing]


def _all(others: int) -> str:
    return "the" if others == 1 else f"each of the {units.count(others)}"


def _part(position: Position) -> str:
    """Return how many of the other drives are beaten: a percentage, or a number where a percentage would be 0."""
    others = units.count(position.others)
    if position.beaten_pct is None:
        return f"{units.count(position.worse)} of {others}"
    return f"{position.beaten_pct}{units.NBSP}% of {others}"


def _place(position: Position) -> str:
    place = ORDINALS[position.place] if position.place < len(ORDINALS) else f"number {position.place}"
    return f"Shared {place}" if position.equal else place.capitalize()


def answer_sentence(
    headline: Headline,
    position: Position | None,
    certificates: Sequence[Certificate],
    category: str,
    *,
    historical: bool,
) -> str:
    """Return the answer: certificates, the position or the state of the headline, and the endurance gap."""
    certified = [_certified(certificates)] if certificates else []
    gap = gap_of(headline.run) if headline.run else None
    return " ".join([*certified, _first_sentence(headline, position, category, historical), *_gap_clause(gap)])


def _certified(certificates: Sequence[Certificate]) -> str:
    best = max(certificates, key=lambda each: each.nx_load)
    return f"Certified at {units.nx(best.nx_load)} on {units.counted(best.device_count, 'device')}."


def _gap_clause(gap: GapView | None) -> list[str]:
    return [gap.clause] if gap and gap.clause else []


def _first_sentence(headline: Headline, position: Position | None, category: str, historical: bool) -> str:
    this = short_noun(category)
    if headline.run is None:
        return _without_result(headline.state, this)
    at = f"{headline.speed} tps"
    if headline.state == State.WITHIN:
        group = group_of(headline.run)
        if position is None:
            return f"Tested at {at} within the limits. {_not_ranked(group, this)}"
        one, more = (noun(category, group, is_historical=historical, is_one=is_one) for is_one in (True, False))
        return speed_sentence(position, one, f"{more} within {'your' if headline.limits.is_own else 'the'} limits")
    return _not_within(headline, at, this)


def _without_result(state: State, this: str) -> str:
    sentences = {
        State.NONE_CURRENT: f"This {this} has no current result.",
        State.NOT_RATED: f"This {this} has no current act-storage result, so it is not ranked.",
        State.VIRTUAL_ONLY: f"All results were measured with a virtual device, so they say nothing about this {this}.",
        State.NO_SPEED: f"The speed of this {this} is not reported.",
    }
    return sentences[state]


def _not_ranked(group: ComparisonGroup, this: str) -> str:
    """Return why a result within the limits has no position."""
    reason = why_not_ranked(group) or NotRanked.NO_SHARES
    return f"This {this} is not ranked, because {NOT_RANKED_WORDS[reason]}."


def _not_within(headline: Headline, at: str, this: str) -> str:
    worst = worst_share(headline.run, headline.limits) if headline.run else None
    if worst is not None:
        limit, share = worst
        slow = f"{share}{units.NBSP}% of reads took over {units.threshold(limit.threshold_us)}"
        whose = "your limit" if headline.limits.is_own else "the limit"
        return f"Over a limit at {at}: {slow}; {whose} is {units.decimal(limit.limit_pct)}{units.NBSP}%."
    sentences = {
        State.UNDECIDED: f"No verdict at {at}: the log does not show whether this {this} passes.",
        State.VOID: f"No verdict at {at}: the log of the test is not a valid run.",
    }
    return sentences.get(headline.state, f"The test at {at} failed for a reason other than its slow reads.")
