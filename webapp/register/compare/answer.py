"""The sentences of a comparison: its result, why runs do not compare, and what is known of their conditions."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from django.utils.text import capfirst

from results.rules.act.comparison_groups import ReadTime
from results.rules.act.limits import Limit
from results.rules.endurance import needed_dwpd, sustained_tps, three_digits
from results.rules.plural import listed
from webapp.register.comparability.comparable import Condition, Unreported
from webapp.register.compare.figures import share_value
from webapp.register.compare.heads import Head
from webapp.register.tables.columns import device_tps, product_of, share_of
from webapp.register.tables.groups import STATISTIC_WORDS
from webapp.templatetags import units

# The conditions that change the meaning of a share come first: a reader learns the most important reason.
FIRST_REASONS = ("workload", "time", "statistic", "compress_pct", "device_count")
VALUE_WORDS = {ReadTime.SERVICE.value: "in the drive", ReadTime.WITH_QUEUE.value: "in drive plus queue"} | {
    statistic.value: words for statistic, words in STATISTIC_WORDS.items()
}
EXPLAINED_MOST = 3  # reasons of a pair with the sentence why they matter
NUMBER_WORDS = {2: "two", 3: "three", 4: "four", 5: "five"}
# Labels of rows that are no nouns, for sentences.
NOUNS = {
    "compress_pct": "compression",
    "read_at_us": "the times of the limits",
    "defrag_lwm_pct": "the defragmentation threshold",
    "devices_per_drive": "the number of device names for each drive",
    "over_provisioning_pct": "over-provisioning",
    "over_provisioned_to_pct": "the size after over-provisioning",
    "device_count": "the number of devices",
    "requests_together": "the number of requests that begin together",
}


def distinct_names(heads: Sequence[Head]) -> list[str]:
    """Return a name for each run in a sentence: its drive, or its id and letter if runs have the same drive."""
    names = [head.name for head in heads]
    if len(set(names)) == len(names):
        return names
    return [f"{head.run.public_id} ({head.letter})" for head in heads]


def list_of(heads: Sequence[Head]) -> str:
    """Return the names of all runs as the start of a sentence."""
    names = distinct_names(heads)
    return listed(names) if names == [head.name for head in heads] else f"Runs {listed(names)}"


def differs_sentence(heads: Sequence[Head], differing: Sequence[Condition], limits: Sequence[Limit]) -> str:
    """Return which runs do not compare and why, and the result of the others.

    Of two runs it has all reasons. Of more runs it has the reason that matters most, because each run has its own.
    """
    named = [replace(each, values=[VALUE_WORDS.get(value, value) for value in each.values]) for each in differing]
    if len(heads) == 2:
        return _pair_sentences(heads, sorted(named, key=_reason_order))
    names = distinct_names(heads)
    others = [place for place, head in enumerate(heads) if not head.is_grey]
    by_reason: dict[tuple[str, str], list[int]] = {}
    for place in (place for place, head in enumerate(heads) if head.is_grey):
        reason = min((each for each in named if _opposite_values(each, place, others)), key=_reason_order)
        by_reason.setdefault((reason.name, reason.values[place]), []).append(place)
    rest = listed([names[place] for place in others])
    if len(others) > 1 and len(by_reason) == 1:
        rest = f"the other {NUMBER_WORDS[len(others)]}"
    conditions = {each.name: each for each in named}
    sentences = [
        _grey_sentence([names[place] for place in places], rest, conditions[name], own, places[0], others)
        for (name, own), places in by_reason.items()
    ]
    if len(others) > 1:
        compared = [heads[place] for place in others]
        result = result_sentence(compared, limits)
        is_rated = all(head.run.tps for head in compared)
        sentences.append(f"The other {NUMBER_WORDS[len(others)]} are comparable: {result}" if is_rated else result)
    return " ".join(sentences)


def _pair_sentences(heads: Sequence[Head], ordered: Sequence[Condition]) -> str:
    """Return all reasons why two runs do not compare. Only the first reasons state why they matter."""
    first, *others = ordered
    sentences = [f"{list_of(heads)} are not comparable: {_noun(first)} differs ({first.sides}), and {first.why}."]
    explained, rest = others[: EXPLAINED_MOST - 1], others[EXPLAINED_MOST - 1 :]
    sentences += [f"{capfirst(_noun(each))} differs too ({each.sides}), and {each.why}." for each in explained]
    if rest:
        sentences.append(f"Also different: {listed([f'{_noun(each)} ({each.sides})' for each in rest])}.")
    if compressible := _compressible_sentence(heads, ordered):
        sentences.append(compressible)
    return " ".join(sentences)


def _compressible_sentence(heads: Sequence[Head], known: Iterable[Condition]) -> str:
    """Return that only one of two runs reports compressible data; empty if both report their data."""
    reported = [(head, head.run.compress_pct) for head in heads if head.run.compress_pct is not None]
    if len(reported) != 1 or any(each.name == "compress_pct" for each in known):
        return ""
    ((head, compress_pct),) = reported
    if compress_pct >= 100:
        return ""
    (other,) = (each for each in heads if each is not head)
    names = dict(zip((each.letter for each in heads), distinct_names(heads), strict=True))
    return (
        f"The data of {names[head.letter]} was compressible (to {compress_pct} %), and a drive that compresses data "
        f"writes less; {names[other.letter]} does not report its data."
    )


def _opposite_values(condition: Condition, place: int, others: Iterable[int]) -> list[str]:
    """Return the values of the other runs that differ from the value of a run; none if it reports no value."""
    own, values = condition.values[place], dict.fromkeys(condition.values[other] for other in others)
    return [value for value in values if value and value != own] if own else []


def _grey_sentence(
    names: list[str], rest: str, condition: Condition, own: str, place: int, others: Iterable[int]
) -> str:
    """Return why some runs do not compare with the others, as a sentence."""
    against = " or ".join(_opposite_values(condition, place, others))
    are = "is" if len(names) == 1 else "are"
    difference = f"{_noun(condition)} differs ({own} against {against})"
    return f"{listed(names)} {are} not comparable with {rest}: {difference}, and {condition.why}."


def _reason_order(condition: Condition) -> int:
    return FIRST_REASONS.index(condition.name) if condition.name in FIRST_REASONS else len(FIRST_REASONS)


def result_sentence(heads: Sequence[Head], limits: Sequence[Limit]) -> str:
    """Return the result of ACT runs that compare: their speeds, for two runs their slow reads, and the best rating.

    Runs without a speed, as those of YCSB, can be compared too.
    """
    if not all(head.run.tps for head in heads):
        return f"{list_of(heads)} can be compared."
    if len(heads) > 2:
        return f"{_order_sentence(heads, limits)}{_highest_rating(heads)}"
    fastest, *_, slowest = sorted(heads, key=lambda head: -(head.run.tps or 0))
    ratio = Fraction(fastest.run.tps or 0) / Fraction(slowest.run.tps or 1)
    speed = units.decimal(slowest.run.tps)
    if ratio == 1:
        start = f"{list_of(heads)} were tested at the same speed, {speed} tps."
    else:
        names = {head.letter: name for head, name in zip(heads, distinct_names(heads), strict=True)}
        first, last = names[fastest.letter], names[slowest.letter]
        times = three_digits(ratio)
        slight = "was slightly faster than"
        faster = slight if times == 1 else f"was tested at {units.decimal(times)} times the speed of"
        start = f"{first} {faster} {last}: {units.decimal(fastest.run.tps)} against {speed} tps."
    slow_reads = _slow_reads(fastest, slowest, limits[0]) if limits else ""
    return f"{start}{slow_reads}{_highest_rating(heads)}"


def _order_sentence(heads: Sequence[Head], limits: Sequence[Limit]) -> str:
    """Return three or more runs with their speeds, fastest first, and which of them has the fewest slow reads."""
    names = {head.letter: name for head, name in zip(heads, distinct_names(heads), strict=True)}
    first, *others = sorted(heads, key=lambda head: -(head.run.tps or 0))
    rest = [f"{names[head.letter]} ({units.decimal(head.run.tps)})" for head in others]
    speed = units.decimal(first.run.tps)
    if others[0].run.tps == first.run.tps:
        start = f"Speeds in tps: {listed([f'{names[first.letter]} ({speed})', *rest])}."
    else:
        start = f"{names[first.letter]} is the fastest of {len(heads)}: {speed} tps, before {listed(rest)}."
    shares = [(share, head) for head in heads if limits and (share := share_of(head.run, limits[0].threshold_us))]
    if len(shares) < len(heads):
        return start
    least, fewest = min(shares, key=lambda each: each[0].share_pct)
    if sum(share.share_pct == least.share_pct for share, _ in shares) > 1:
        return start
    text, threshold = share_value(fewest.run, limits[0]).text, units.threshold(limits[0].threshold_us)
    who = "It also" if fewest is first else names[fewest.letter]
    return f"{start} {who} has the fewest slow reads: {text} % over {threshold}."


def _highest_rating(heads: Sequence[Head]) -> str:
    """Return whose rating allows the highest speed, as a sentence; empty if none of several is the highest."""
    rated = [(sustained, head.name) for head in heads if (sustained := _sustained(head)) is not None]
    if len({sustained for sustained, _ in rated}) < 2:
        return ""
    highest = max(sustained for sustained, _ in rated)
    names = list(dict.fromkeys(name for sustained, name in rated if sustained == highest))
    of = f"The rating of {names[0]} allows" if len(names) == 1 else f"The ratings of {listed(names)} allow"
    return f" {of} the highest speed: {units.decimal(highest)} tps."


def _sustained(head: Head) -> Decimal | None:
    product = product_of(head.run)
    return None if head.run.is_on_no_drive else three_digits(sustained_tps(product.endurance_dwpd, product.capacity_gb))


def _slow_reads(first: Head, second: Head, limit: Limit) -> str:
    """Return the shares of two runs over a threshold as a sentence; empty if one is not reported."""
    shares = [share_value(head.run, limit).text for head in (first, second)]
    threshold = units.threshold(limit.threshold_us)
    return f" {shares[0]} % against {shares[1]} % of their reads took over {threshold}." if all(shares) else ""


def conditions_sentence(conditions: Sequence[Condition], unreported: Unreported) -> str:
    """Return how many conditions agree, differ and are unknown; empty if the runs have no condition in common."""
    if not unreported.conditions:
        return ""
    agree = sum(1 for each in conditions if not each.differs and not each.is_unknown)
    differ = sum(1 for each in conditions if each.differs)
    unknown = unreported.conditions - agree - differ
    parts = [f"{agree} of {unreported.conditions} test conditions agree"]
    if differ:
        parts.append(f"{differ} {'differs' if differ == 1 else 'differ'}")
    if unknown:
        parts.append(f"{unknown} {'is' if unknown == 1 else 'are'} not reported")
    comparable = "Comparable as far as known: " if unreported.is_weak else "Comparable: "
    return f"{'' if differ else comparable}{'; '.join(parts)}."


def _noun(condition: Condition) -> str:
    """Return a condition within a sentence: abbreviations such as PCIe keep their letters."""
    label = NOUNS.get(condition.name, condition.label)
    return label if label[:2].isupper() else label[:1].lower() + label[1:]


def endurance_sentences(heads: Iterable[Head]) -> list[tuple[Head, str]]:
    """Return for each drive with a rating what its tested speed needs of it, and the speed that the rating allows."""
    return [(head, sentence) for head in heads if (sentence := _endurance_sentence(head))]


def _endurance_sentence(head: Head) -> str:
    if head.run.is_on_no_drive:
        return ""
    product, tps = product_of(head.run), device_tps(head.run)
    needed, sustained = (
        three_digits(needed_dwpd(tps, product.capacity_gb)),
        three_digits(sustained_tps(product.endurance_dwpd, product.capacity_gb)),
    )
    if needed is None or sustained is None or tps is None:
        return ""
    speed = units.count(round(tps))
    rated = units.decimal(product.endurance_dwpd)
    start = f"At {speed} tps, one drive needs {units.decimal(needed)} drive writes a day; it is rated for {rated}."
    if sustained >= tps:
        return f"{start} Its rating allows this speed."
    return f"{start} Its rating allows {units.decimal(sustained)} tps."
