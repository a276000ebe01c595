"""Sizing page: rows by comparison group, the smallest and cheapest cluster, and the steps of one candidate."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, overload

from results.models import Statistic
from results.rules import sizing
from results.rules.act.comparison_groups import ComparisonGroup, ReadTime
from results.rules.act.loads import printed_decimal
from results.rules.capacity import capacity_bound
from results.rules.endurance import sustained_tps, three_digits
from results.rules.plural import counted, listed
from results.rules.sizing import Demand, Mix, Size, Tested, differences_from_test, mix_of
from webapp.register.http.files import Value
from webapp.register.sizing.candidates import Candidate, Candidates
from webapp.register.sizing.query import Kind, Restrictions, SizingQuestion
from webapp.register.sizing.steps import UNTESTED, figure, steps
from webapp.register.tables.groups import STATISTIC_WORDS, TIME_WORDS, group_label, why_separate
from webapp.register.tables.makers import vendor_slug
from webapp.register.tables.prices import PricedDrive
from webapp.templatetags import units

FIELDS = (
    *("product", "name", "drives", "nodes", "working_drives", "binding", "by_throughput", "by_capacity"),
    *("by_endurance", "needed_dwpd", "rated_dwpd", "tested_tps", "capacity_gb", "basis", "tier", "statistic", "price"),
    *("at_least_drives", "at_least_nodes", "mix", "group", "endurance_margin_pct", "use_pct"),
)
WORST_SLICE = Statistic.WORST_SLICE.value  # certificates always use it
SHOWN_ROWS = 100
FIRST_ROWS = 8  # the others are folded
TIED_NAMED = 5  # other winners in the sentence
SMALL_MARGIN = Fraction(1, 10)
LOAD_WITH_RESERVE = Fraction(4, 5)  # of the tested speed: the answer says when a drive is loaded with more
BYTES_PER_GB = 10**9


@dataclass(frozen=True)
class SizingRow:
    """One drive or instance with the size of its cluster for a demand."""

    candidate: Candidate
    size: Size
    demand: Demand

    @property
    def limiting_rate(self) -> str:
        """Return the rate that needs more drives."""
        reads = sizing.drives_for_reads(self.demand, self.candidate.offer)
        return "reads" if reads >= sizing.drives_for_writes(self.demand, self.candidate.offer) else "writes"

    @property
    def speed_ratio(self) -> Fraction:
        """Return the part of its tested speed that it is loaded with at most."""
        return self.demand.speed_ratio

    @property
    def key(self) -> str:
        """Return the name in addresses: the slug of a drive, or the run of an instance."""
        return self.candidate.key

    @property
    def slug(self) -> str:
        """Return the product's name in URLs."""
        return self.candidate.product.slug

    @property
    def name(self) -> str:
        """Return the name of the drive, or of the instance with its storage."""
        return self.candidate.name

    @property
    def dwpd(self) -> str:
        """Return the drive writes per day that the load needs; empty if not known or not rated."""
        is_of_drives = self.candidate.run is None or not self.candidate.run.device_gb
        return "" if self.size.dwpd is None or not is_of_drives else figure(self.size.dwpd)

    @property
    def rating(self) -> str:
        """Return the rated drive writes per day; empty if not reported."""
        return "" if self.candidate.offer.dwpd is None else figure(self.candidate.offer.dwpd)

    @property
    def is_unrated(self) -> bool:
        """Return whether the number of drives does not include endurance, because the rating is not reported."""
        return self.size.needs.endurance is None

    @property
    def margin(self) -> str:
        """Return the part of the rating that is left, in percent; empty if not known."""
        return "" if self.size.margin is None else f"{figure(self.size.margin * 100)}{units.NBSP}%"

    @property
    def is_margin_small(self) -> bool:
        """Return whether less than a tenth of the rating is left."""
        return self.size.margin is not None and self.size.margin < SMALL_MARGIN

    @property
    def limited_by(self) -> str:
        """Return the need that requires most drives; for a mix that was not tested, with its rate."""
        is_by_rate = self.size.binding == sizing.THROUGHPUT and self.size.mix is Mix.BOUND
        return f"{self.size.binding}: {self.limiting_rate}" if is_by_rate else self.size.binding

    @property
    def price(self) -> str:
        """Return the price of all drives; empty without a price."""
        return "" if self.size.price is None else f"{round(self.size.price):,d}"

    @property
    def price_of_one(self) -> str:
        """Return the entered price of one drive."""
        return "" if self.candidate.offer.price is None else printed_decimal(self.candidate.offer.price, 2)

    @property
    def priced(self) -> PricedDrive:
        """Return the drive with the facts that a reader's price is divided by."""
        sustained = three_digits(sustained_tps(self.candidate.offer.dwpd, self.capacity_gb))
        return PricedDrive(self.slug, self.name, round(self.candidate.offer.tps), sustained, self.capacity_gb)

    @property
    def capacity_gb(self) -> int:
        """Return the capacity of one drive or instance."""
        return self.candidate.offer.capacity_bytes // BYTES_PER_GB


class Sizes:
    """The number of drives of each candidate for a demand. A row with everything that is shown is made on request."""

    def __init__(self, demand: Demand, found: Candidates, tested: Tested) -> None:
        self.demand, self.found, self.tested = demand, found, tested
        self.drives = found.offers.drives(demand, tested)
        self.is_untested = mix_of(demand, tested) is Mix.UNTESTED
        # Drives of unknown endurance come last.
        after_all = max(self.drives, default=0) + 1
        self.ranks = [
            drives + after_all * is_unrated for drives, is_unrated in zip(self.drives, found.is_unrated, strict=True)
        ]
        self._rows: dict[int, SizingRow] = {}

    def row(self, place: int) -> SizingRow:
        """Return the row of a candidate, always the same one."""
        if place not in self._rows:
            candidate = self.found.every[place]
            self._rows[place] = SizingRow(
                candidate, sizing.size(self.demand, candidate.offer, self.tested), self.demand
            )
        return self._rows[place]

    def ordered(self, places: Iterable[int], sort: str) -> list[int]:
        """Return places, which are in the order of speed, in the requested one; unknown values come last."""
        if sort == "name":
            return sorted(places, key=self.found.rank_by_name.__getitem__)
        if sort == "cheapest":
            return sorted(sorted(places, key=self.found.rank_by_key.__getitem__), key=self.by_price)
        return sorted(places, key=self.ranks.__getitem__)

    def by_price(self, place: int) -> tuple[bool, Fraction, int]:
        """Return the sort key by price, then by drives; those without a price come last."""
        drives = 0 if self.is_untested else self.drives[place]
        price = self.price(place)
        return price is None, price or Fraction(0), drives

    def price(self, place: int) -> Fraction | None:
        """Return the price of all drives; None without a price, or if their number is not known."""
        of_one = self.found.every[place].offer.price
        return None if of_one is None or self.is_untested else of_one * self.drives[place]

    def allowed(self, places: Iterable[int], restrictions: Restrictions) -> list[int]:
        """Return the places that no restriction leaves out.

        A margin that is not known is not large enough. An untested load has no margin, so it leaves no row out.
        """
        vendor, least_margin = restrictions.vendor, None if self.is_untested else restrictions.least_margin
        least, most = (
            None if bound is None else capacity_bound(bound, is_least=is_least)
            for bound, is_least in ((restrictions.least_bytes, True), (restrictions.most_bytes, False))
        )
        margins: dict[tuple[int, int, Fraction | None], Fraction | None] = {}

        def is_allowed(place: int) -> bool:
            candidate = self.found.every[place]
            capacity_bytes, dwpd = candidate.offer.capacity_bytes, candidate.offer.dwpd
            if vendor not in {"", vendor_slug(candidate.product.vendor)}:
                return False
            if (least is not None and capacity_bytes < least) or (most is not None and capacity_bytes > most):
                return False
            if least_margin is None:
                return True
            key = self.drives[place], capacity_bytes, dwpd  # drives with the same values have the same margin
            if key not in margins:
                margins[key] = self.row(place).size.margin
            margin = margins[key]
            return margin is not None and margin >= least_margin

        return [place for place in places if is_allowed(place)]


class Rows(Sequence[SizingRow]):
    """Rows of a group, at least one, each made when it is read: a page shows a hundred of thousands."""

    def __init__(self, sizes: Sizes, by_speed: Sequence[int], sort: str) -> None:
        self.sizes, self.places = sizes, sizes.ordered(by_speed, sort)
        self._fewest = min(by_speed, key=sizes.ranks.__getitem__)

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> SizingRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[SizingRow]: ...
    def __getitem__(self, index: int | slice) -> SizingRow | list[SizingRow]:
        if isinstance(index, slice):
            return list(map(self.sizes.row, self.places[index]))
        return self.sizes.row(self.places[index])

    @property
    def fewest(self) -> SizingRow:
        """Return the row with the fewest drives, the fastest of these."""
        return self.sizes.row(self._fewest)

    @property
    def cheapest(self) -> SizingRow | None:
        """Return the row with the lowest price; those of unknown endurance come last."""
        sizes, found = self.sizes, self.sizes.found
        priced = [place for place in self.places if sizes.price(place) is not None]
        if not priced:
            return None
        return sizes.row(
            min(priced, key=lambda each: (found.is_unrated[each], *sizes.by_price(each), found.rank_by_key[each]))
        )

    @property
    def tied(self) -> list[int]:
        """Return the places of the others with as few drives as `fewest`."""
        ranks, fewest = self.sizes.ranks, self._fewest
        return [place for place in self.places if ranks[place] == ranks[fewest] and place != fewest]

    def find(self, name: str) -> SizingRow | None:
        """Return the first row of a key or a product."""
        every = self.sizes.found.every
        return next((self.sizes.row(each) for each in self.places if every[each].is_named(name)), None)


@dataclass(frozen=True)
class SizingGroup:
    """The rows of one comparison group, which are ranked among each other; `total` also counts rows not shown."""

    group: ComparisonGroup
    rows: Sequence[SizingRow]
    kind: Kind
    total: int

    @property
    def label(self) -> str:
        """Return what the group has in common."""
        if self.kind is Kind.INSTANCES:
            statistic = STATISTIC_WORDS[Statistic(self.group.statistic)]
            return f"{TIME_WORDS[self.group.time]}, {statistic}, all devices of an instance together"
        return group_label(self.group)

    @property
    def note(self) -> str:
        """Return why its rows are not ranked with those of other groups."""
        return why_separate(self.group)


def sizing_page(question: SizingQuestion, found: Candidates, tested: Tested) -> dict[str, Any]:
    """Return the answer to a query. The page lists at most SHOWN_ROWS rows, and files list all of them."""
    ranked = _rows_by_group(Sizes(question.demand, found, tested), question)
    groups = [SizingGroup(group, rows, question.kind, len(rows)) for group, rows in ranked.items()]
    count = sum(group.total for group in groups)
    first = next(iter(ranked.values()), None)  # sizes of two groups do not compare
    fewest = first.fewest if first else None
    cheapest = first.cheapest if first and question.prices else None
    named = (rows.find(question.drive) for rows in ranked.values()) if question.drive else iter(())
    shown = next(filter(None, named), None) or fewest
    differences = differences_from_test(question.demand, tested)
    shown_groups = _first_rows(groups, SHOWN_ROWS if question.form == "html" else count)
    first_groups = _first_rows(shown_groups, FIRST_ROWS)
    more_groups = _rows_after(shown_groups, FIRST_ROWS)
    return {
        "question": question,
        "is_of_drives": question.kind is Kind.DRIVES,
        "mix": mix_of(question.demand, tested).value,
        "rows": [row for group in shown_groups for row in group.rows],
        "groups": first_groups,
        "more_groups": more_groups,
        "group_count": len(shown_groups),
        "vendors": _vendors(found, question.restrictions.vendor),
        "hidden": len(found.every) - count,
        "shown": shown,
        "steps": steps(question.demand, shown.candidate, shown.size, tested) if shown else [],
        "sentence": _sentence(question, first, cheapest, differences),
        "remarks": " ".join(filter(None, [_reserve(question, fewest, tested), _remarks(question, groups, differences)]))
        if fewest
        else "",
        "count_sentence": _count_sentence(question, count),
        "object_size_note": sizing.object_size_note(question.demand, tested),
    }


def _vendors(found: Candidates, chosen: str) -> list[tuple[str, str]]:
    """Return code and name of the vendors of all candidates, and of the chosen one."""
    return sorted((({chosen: chosen} if chosen else {}) | found.vendors).items())


def _rows_by_group(sizes: Sizes, question: SizingQuestion) -> dict[ComparisonGroup, Rows]:
    """Return the rows by comparison group: those that can be ranked, current versions of ACT and large groups first."""
    found = sizes.found.by_group
    if question.restrictions.is_set:
        allowed = {group: sizes.allowed(places, question.restrictions) for group, places in found.items()}
        found = {group: places for group, places in allowed.items() if places}
    ordered = sorted(
        found,
        key=lambda group: (not group.is_ranked, group.time is not ReadTime.SERVICE, -len(found[group]), group.code),
    )
    return {group: Rows(sizes, found[group], question.sort) for group in ordered}


def _first_rows(groups: Iterable[SizingGroup], count: int) -> list[SizingGroup]:
    """Return the groups with their first rows, so many together."""
    shown, left = [], count
    for group in groups:
        if left > 0:
            shown.append(replace(group, rows=group.rows[:left]))
        left -= len(group.rows)
    return shown


def _rows_after(groups: Iterable[SizingGroup], count: int) -> list[SizingGroup]:
    """Return the groups with the rows after the first ones, so many together."""
    shown, left = [], count
    for group in groups:
        if group.rows[left:]:
            shown.append(replace(group, rows=group.rows[left:]))
        left = max(left - len(group.rows), 0)
    return shown


def _sentence(
    question: SizingQuestion, rows: Rows | None, cheapest: SizingRow | None, differences: Sequence[str]
) -> str:
    """Return the answer in sentences that can be quoted."""
    noun = question.kind.one
    if rows is None and question.restrictions.is_set:
        return f"No {noun} with a result within these limits meets your restrictions."
    if rows is None:
        return f"No {noun} has a result within these limits. Historical {noun}s are left out."
    fewest = rows.fewest
    if fewest.size.mix is Mix.UNTESTED:
        start = f"No {noun} was tested at this workload: {'; '.join(differences)}. Results are not scaled."
        return start + _least(fewest)
    nodes = f" in {units.count(fewest.size.nodes)} nodes" if question.kind is Kind.DRIVES else ""
    start = f"Fewest {noun}s: {_times(fewest)}{nodes}, limited by {fewest.limited_by}"
    is_bound = fewest.size.mix is Mix.BOUND and fewest.size.binding == sizing.THROUGHPUT
    bound = " This is an upper bound: it may be fewer." if is_bound else ""
    smallest = f"{start}{_tied(rows)}.{bound}{_unrated(question, fewest)}"
    if cheapest is None:
        return smallest
    priced = f"Cheapest of those with a price: {_times(cheapest)}, {cheapest.price}.{_unrated(question, cheapest)}"
    return f"{smallest} {priced}"


def _tied(rows: Rows) -> str:
    """Return the others with the same number of drives as the row that is named; empty if no other has."""
    same = rows.tied
    names = [_times(rows.sizes.row(place)) for place in same[:TIED_NAMED]]
    if len(same) > TIED_NAMED:
        names.append(f"{units.count(len(same) - TIED_NAMED)} more")
    return f"; equally {listed(names)}" if names else ""


def _unrated(question: SizingQuestion, row: SizingRow) -> str:
    """Return the note on a drive without a rating; empty for instances, which never have one."""
    is_noted = question.kind is Kind.DRIVES and row.is_unrated
    return " Endurance is not included: the rating is not reported." if is_noted else ""


def _reserve(question: SizingQuestion, row: SizingRow, tested: Tested) -> str:
    """Return how near to its tested speed each drive is, and the size that keeps a reserve; empty if this one does."""
    load = sizing.load_ratio(question.demand, row.candidate.offer, row.size)
    if load is None or load <= LOAD_WITH_RESERVE:
        return ""
    demand = replace(question.demand, speed_ratio=LOAD_WITH_RESERVE)
    enough = replace(row, size=sizing.size(demand, row.candidate.offer, tested))
    nodes = f" in {units.count(enough.size.nodes)} nodes" if question.kind is Kind.DRIVES else ""
    reserve = figure((1 - LOAD_WITH_RESERVE) * 100)
    return (
        f"Each working {question.kind.one} then runs at {figure(load * 100)}{units.NBSP}% of its tested speed. "
        f"To keep {reserve}{units.NBSP}% in reserve, use {_times(enough)}{nodes}."
    )


def _remarks(question: SizingQuestion, groups: Sequence[SizingGroup], differences: Sequence[str]) -> str:
    """Return what to know about the answer: the ranked comparison group, and the rule for a mix without a test."""
    noun, first = question.kind.one, groups[0]
    sentences = []
    if question.demand.speed_ratio < 1 and first.rows[0].size.mix is not Mix.UNTESTED:
        used = f"{figure(question.demand.speed_ratio * 100)}{units.NBSP}%"
        sentences.append(f"Each {noun} is loaded with at most {used} of its tested speed.")
    if first.rows[0].size.mix is Mix.BOUND:
        sentences += [
            f"Your mix was not tested: {'; '.join(differences)}.",
            f"Each {noun} counts with at most its tested reads and its tested writes, so fewer may suffice.",
        ]
    if len(groups) > 1:
        sentences.append(f"The ranking has {counted(len(first.rows), noun)} of one comparison group ({first.label}).")
    return " ".join(sentences)


def _times(row: SizingRow) -> str:
    return f"{units.count(row.size.drives)} x {row.name}"


def _least(row: SizingRow) -> str:
    """Return the minimum number of drives that capacity and endurance need, as a sentence."""
    least = row.size.least
    if least is None:
        return ""
    known = "capacity" if row.is_unrated else "capacity and endurance"
    return (
        f" For {known} alone you need at least {units.count(least.drives)} x {row.name} in {units.count(least.nodes)} "
        f"nodes (limited by {least.binding}); the load may need more."
    )


def _count_sentence(question: SizingQuestion, count: int) -> str:
    noun = question.kind.one
    every = f"{counted(count, noun)} with a result within the limits, historical {noun}s left out"
    if count > SHOWN_ROWS and question.form == "html":
        return f"The table shows the first {SHOWN_ROWS} of {every}; the CSV has them all."
    return f"The table shows {every}. Each {noun} counts with the load at which it was tested."


def sizing_values(row: SizingRow) -> dict[str, Value]:
    """Return a row as it is exported."""
    candidate, found = row.candidate, row.size
    return {
        "product": row.slug,
        "name": row.name,
        "drives": found.drives,
        "nodes": found.nodes,
        "working_drives": found.working_drives,
        "binding": found.binding or UNTESTED,
        "by_throughput": found.needs.throughput,
        "by_capacity": found.needs.capacity,
        "by_endurance": found.needs.endurance,
        "needed_dwpd": row.dwpd.replace(",", "") or None,
        "rated_dwpd": row.rating.replace(",", "") or None,
        "tested_tps": figure(candidate.offer.tps).replace(",", ""),
        "capacity_gb": row.capacity_gb,
        "basis": candidate.basis,
        "tier": candidate.tier.word if candidate.tier else "certified",
        "statistic": candidate.run.statistic if candidate.run else WORST_SLICE,
        "price": row.price.replace(",", "") or None,
        "at_least_drives": found.least.drives if found.least else None,
        "at_least_nodes": found.least.nodes if found.least else None,
        "mix": found.mix.value,
        "group": candidate.group.code,
        "use_pct": figure(row.speed_ratio * 100).replace(",", ""),
        "endurance_margin_pct": None if found.margin is None else figure(found.margin * 100).replace(",", ""),
    }
