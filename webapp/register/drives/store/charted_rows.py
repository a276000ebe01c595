"""The rows that landscape charts plot: their groups, frontiers, marks and links.

Only current results on physical drives with a speed and a share are plotted, all with one statistic.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress, islice
from math import floor
from operator import add

from results.models import Statistic
from results.rules.act.comparison_groups import ComparisonGroup
from results.rules.act.frontier import frontier_of_ordered
from webapp.register.drives.limit_check import name_of
from webapp.register.drives.store.encoded_columns import BILLIONTHS, NOT_REPORTED, ColumnStore, Rows, flags_of, rows_of
from webapp.register.drives.store.ranking import (
    capacity_of,
    fastest_first,
    groups_of,
    largest_group,
    plottable_rows,
    providers_of,
    ranked_rows,
    rated_rows,
    rows_from,
    shares_of,
    shares_of_words,
    speeds_of,
    sustained_by_rating,
    sustaining_rows,
)
from webapp.register.landscape.density import MARKS_AT_MOST, ROWS, column_of, density_cells, rows_of_shares
from webapp.register.landscape.endurance_chart import endurance_chart
from webapp.register.landscape.marks import Fill, PlottedDrive, fill_of
from webapp.register.landscape.page_svg import Link, link_to
from webapp.register.landscape.picture import Picture
from webapp.register.landscape.speed_chart import Frontier, SpeedQuestion, speed_chart
from webapp.register.tables.columns import share_code
from webapp.register.tables.groups import TIME_WORDS
from webapp.templatetags import units

SORTED_BELOW = 2000  # rows; the first of more rows are found sooner in the order of all rows
FRONTIER_NAMES = {
    Fill.SERVICE: (("frontier of ACT 6.x:", "none is faster with", "fewer slow reads"), "ACT 6.x"),
    Fill.WITH_QUEUE: (("dashed: the same", "for ACT up to 5.3"), "ACT up to 5.3"),
}


@dataclass(frozen=True)
class ChartedRows:
    """Rows of a store and the question that their charts answer.

    `first_rows` returns the rows that the page lists, which have marks also if there are too many for one mark each.
    With `is_per_device`, systems are plotted with the speed of one of their devices. `is_short` is for the charts of
    the home page.
    """

    store: ColumnStore
    rows: Rows
    passes: Rows
    threshold_us: int
    limit_pct: float
    statistic: str = ""
    load_tps: float | None = None
    first_rows: Callable[[], Iterable[int]] = tuple
    is_per_device: bool = False
    is_short: bool = False
    shows_providers: bool = False

    @cached_property
    def speeds(self) -> Sequence[float]:
        """Return the plotted speed of each row of the store; 0 if it is not known."""
        return speeds_of(self.store, per_device=self.is_per_device)

    @property
    def shares(self) -> Sequence[float]:
        """Return the share of reads over the threshold of each row of the store, in percent."""
        return shares_of(self.store, self.threshold_us)

    @cached_property
    def plottable(self) -> Rows:
        """Return the rows that could be plotted with some statistic."""
        return self.rows & plottable_rows(self.store, self.threshold_us, per_device=self.is_per_device)

    @cached_property
    def statistics(self) -> dict[str, int]:
        """Return the number of rows that could be plotted with each statistic, in the order of tables."""
        found = {code: self._having(code).bit_count() for code in Statistic.values}
        return {code: number for code, number in found.items() if number}

    @cached_property
    def shown_statistic(self) -> str:
        """Return the chosen statistic if a row has it, otherwise that of most rows."""
        most = max(self.statistics, key=lambda code: self.statistics[code], default=str(Statistic.STEADY_AS_PUBLISHED))
        return self.statistic if self.statistic in self.statistics else most

    @cached_property
    def shown(self) -> Rows:
        """Return the plotted rows."""
        return self._having(self.shown_statistic)

    def _having(self, statistic: str) -> Rows:
        return self.plottable & self.store.columns["statistic"].of(statistic)

    @cached_property
    def ordered(self) -> list[int]:
        """Return all plotted rows in order. Use `first_of` if only the first ones are needed."""
        return list(self.in_order(self.shown))

    def in_order(self, rows: Rows, *, slowest_first: bool = False) -> Iterator[int]:
        """Yield some plotted rows, fastest first; of equal speeds, the one with fewer slow reads first.

        Few rows are sorted by their place. The first of many rows are near the beginning of the order of all rows.
        """
        if rows.bit_count() < SORTED_BELOW:
            return iter(sorted(rows_of(rows), key=self._places.__getitem__, reverse=slowest_first))
        flags = flags_of(rows, self.store.count)
        in_order = self._order[::-1] if slowest_first else self._order
        return compress(in_order, map(flags.__getitem__, in_order))

    def first_of(self, rows: Rows, count: int) -> list[int]:
        """Return the first of some plotted rows, fastest first."""
        return list(islice(self.in_order(rows), count))

    @property
    def _order(self) -> Sequence[int]:
        """Return all rows that could be plotted, fastest first."""
        return fastest_first(self.store, self.threshold_us, per_device=self.is_per_device)

    @property
    def _places(self) -> Sequence[int]:
        """Return the place of each row in this order."""

        def read() -> Sequence[int]:
            places = array("i", bytes(4 * self.store.count))
            for place, row in enumerate(self._order):
                places[row] = place
            return places

        return self.store.cached(("places", self.threshold_us, self.is_per_device), read)

    @cached_property
    def _ends(self) -> list[int]:
        """Return the fastest and the slowest plotted row; nothing if no row is plotted."""
        slowest = list(islice(self.in_order(self.shown, slowest_first=True), 1))
        return self.first_of(self.shown, 1) + slowest

    @cached_property
    def question(self) -> SpeedQuestion:
        """Return the question, with the extent of the plotted rows. Without rows, the axes are those of 1x to 100x."""
        speeds, encoded = self.speeds, self.store.columns[share_code(self.threshold_us)]
        fastest = max(map(speeds.__getitem__, self._ends), default=300_000.0)
        slowest = min(map(speeds.__getitem__, self._ends), default=3_000.0)
        largest = encoded.largest_code(self.shown)
        share = 0.0 if largest == NOT_REPORTED else encoded.values[largest] / BILLIONTHS
        answers = self.answers.bit_count()
        return SpeedQuestion(self.limit_pct, slowest, fastest, share, self.load_tps, answers)

    @cached_property
    def answers(self) -> Rows:
        """Return the plotted rows that sustain the load within the limits."""
        is_filtered = not self.load_tps or not self._ends or self.speeds[self._ends[-1]] >= self.load_tps
        if is_filtered:
            return self.shown & self.passes
        return self.shown & self.passes & rows_from(self.store, self.load_tps or 0, per_device=self.is_per_device)

    @property
    def ranked_groups(self) -> list[tuple[ComparisonGroup, Rows]]:
        """Return the comparison groups that have a frontier, and their rows within the limits."""
        return [(group, rows) for group, rows, _ in self._ranked]

    @property
    def frontiers(self) -> list[Frontier]:
        """Return the frontier of each of these groups."""
        return [frontier for _, _, frontier in self._ranked]

    @cached_property
    def _ranked(self) -> list[tuple[ComparisonGroup, Rows, Frontier]]:
        """Return for each kind of time the group with most rows within the limits, these rows and their frontier.

        A group has none if a plotted result of another group beats it, such as that of another number of devices: no
        result is shown beyond a line that says that none is.
        """

        def read() -> list[tuple[ComparisonGroup, Rows, Frontier]]:
            within = self.shown & self.passes
            largest = [each for fill in FRONTIER_NAMES if (each := largest_group(self.store, within, fill))]
            found = [(group, rows, self._frontier(group, rows)) for group, rows in largest]
            return [each for each in found if not self._is_beaten(*each)]

        # Kept, because most requests have no filters.
        key = ("frontiers", self.shown, self.shown & self.passes, self.threshold_us, self.is_per_device)
        return self.store.recent(key, read)

    def _is_beaten(self, group: ComparisonGroup, rows: Rows, frontier: Frontier) -> bool:
        """Return whether a result of the same kind of time but of another group is on the frontier of both."""
        kind = self.shown & self.passes & ranked_rows(self.store, group.statistic, fill_of(group))
        if kind == rows:
            return False
        all_of_kind = list(self.in_order(kind))
        edges = frontier_of_ordered(all_of_kind, self.speeds, self.shares)
        return set(edges) != {row for row, _, _ in frontier.edges}

    def _frontier(self, group: ComparisonGroup, rows: Rows) -> Frontier:
        speeds, shares = self.speeds, shares_of(self.store, self.threshold_us)
        members = list(self.in_order(rows))
        found = reversed(frontier_of_ordered(members, speeds, shares))
        name, short_name = FRONTIER_NAMES[fill_of(group)]
        if len(self.device_counts) > 1:
            name, short_name = named_devices(name, short_name, group.device_count)
        edges = tuple((row, speeds[row], shares[row]) for row in found)
        return Frontier(fill_of(group), speeds[members[-1]], edges, name, short_name)

    @cached_property
    def device_counts(self) -> set[int | None]:
        """Return the numbers of devices of the plotted rows."""
        column = self.store.columns["comparison_group"]
        return {group.device_count for word, group in groups_of(self.store).items() if self.shown & column.of(word)}

    @cached_property
    def has_cells(self) -> bool:
        """Return whether there are too many rows for one mark each."""
        return self.shown.bit_count() > MARKS_AT_MOST

    @cached_property
    def drives(self) -> list[PlottedDrive]:
        """Return the drives that have a mark: all, or those of the frontiers and of the listed rows."""
        marked = self.ordered
        if self.has_cells:
            edges = [row for frontier in self.frontiers for row, _, _ in frontier.edges]
            marked = [row for row in dict.fromkeys([*edges, *self.first_rows()]) if self.shown >> row & 1]
        within = flags_of(self.passes, self.store.count)
        key = ("plotted", self.threshold_us, self.is_per_device, self.shows_providers)
        places = providers_of(self.store) if self.shows_providers else {}
        known: dict[tuple[int, int], PlottedDrive] = self.store.cached(key, dict)
        for row in marked:
            if (row, within[row]) not in known:
                tps, share = self.speeds[row], shares_of(self.store, self.threshold_us)[row]
                drive = plotted_drive(self.store, row, tps, share, is_within=bool(within[row]))
                provider = places.get(self.store.columns["vendor"].word(row))
                known[row, within[row]] = replace(drive, provider=provider) if self.shows_providers else drive
        return [known[row, within[row]] for row in marked]

    @cached_property
    def speed_picture(self) -> Picture:
        """Return the chart of speed and slow reads."""
        cells = density_cells(self.question, self._cell_counts()) if self.has_cells else ()
        return speed_chart(self.question, self.drives, self.frontiers, cells, is_short=self.is_short)

    def _cell_counts(self) -> Counter[int]:
        """Return the number of rows in each density cell."""
        axes = self.question.x, self.question.y
        return self.store.recent(
            ("cells", self.shown, axes, self.threshold_us, self.is_per_device), self._counted_cells
        )

    def _counted_cells(self) -> Counter[int]:
        question, encoded = self.question, self.store.columns[share_code(self.threshold_us)]
        key = ("landscape columns", question.x, self.is_per_device)
        columns = self.store.recent(key, self._density_columns)
        shares = shares_of_words(self.store, self.threshold_us)
        rows = [*rows_of_shares(question, shares), 0]  # the last one at NOT_REPORTED
        flags = flags_of(self.shown, self.store.count)
        in_rows = map(rows.__getitem__, compress(encoded.codes, flags))
        return Counter(map(add, compress(columns, flags), in_rows))

    def _density_columns(self) -> Sequence[int]:
        """Return the first density cell of the column of each row. Speeds repeat, so each is placed once."""
        of_speed = {tps: ROWS * column_of(self.question, tps or 1) for tps in set(self.speeds)}
        return array("i", map(of_speed.__getitem__, self.speeds))

    @cached_property
    def headline_group(self) -> tuple[ComparisonGroup, Rows] | None:
        """Return the group that the fastest answer is chosen from: that of service time, if it has any answer."""
        groups = (largest_group(self.store, self.answers, fill) for fill in FRONTIER_NAMES)
        return next((group for group in groups if group), None)

    @cached_property
    def headline_row(self) -> int | None:
        """Return the fastest answer of this group."""
        _, rows = self.headline_group or (None, 0)
        return next(iter(self.first_of(rows, 1)), None)

    @cached_property
    def endurance_picture(self) -> Picture | None:
        """Return the chart of speed and endurance; None if no plotted row has a rating."""
        rated = self.shown & rated_rows(self.store)
        if not rated:
            return None
        counts = (rated & sustaining_rows(self.store)).bit_count(), rated.bit_count()
        return endurance_chart(self.question, self.drives, self.headline_row, counts, is_short=self.is_short)

    def link(self, row: int) -> Link:
        """Return the link of a mark in the chart of speed."""
        sentences: dict[int, Link] = self.store.cached(("marks", self.threshold_us, self.is_per_device), dict)
        if row not in sentences:
            speed = f"{units.count(floor(self.speeds[row] + 0.5))} tps{' per device' if self.is_per_device else ''}"
            sentences[row] = _link(self.store, row, mark_sentence(self.store, row, self.threshold_us, speed))
        return sentences[row]

    def endurance_link(self, row: int) -> Link:
        """Return the link of a mark in the chart of endurance."""
        sentences: dict[int, Link] = self.store.cached("endurance marks", dict)
        if row not in sentences:
            sentences[row] = _link(self.store, row, endurance_sentence(self.store, row))
        return sentences[row]


def _link(store: ColumnStore, row: int, sentence: str) -> Link:
    return link_to(f"/drive/{store.slugs[row]}/", sentence.replace(units.NBSP, " "))


def named_devices(name: tuple[str, ...], short_name: str, devices: int | None) -> tuple[tuple[str, ...], str]:
    """Return the name of a frontier with its number of devices, which a colon at the end of a line follows.

    >>> named_devices(("frontier:", "of all"), "ACT 6.x", 1)
    (('frontier, 1 device:', 'of all'), 'ACT 6.x, 1 device')
    >>> named_devices(("dashed: the same", "for all"), "all", 2)
    (('dashed: the same', 'for all, 2 devices'), 'all, 2 devices')
    """
    words = f", {devices_words(devices)}"
    if name[0].endswith(":"):
        return (name[0].removesuffix(":") + words + ":", *name[1:]), short_name + words
    return (*name[:-1], name[-1] + words), short_name + words


def devices_words(devices: int | None) -> str:
    """Return a number of devices in words."""
    return f"{devices} {'device' if devices == 1 else 'devices'}"


def plotted_drive(store: ColumnStore, row: int, tps: float, share_pct: float, *, is_within: bool) -> PlottedDrive:
    """Return a row as charts plot it. An instance has the capacity of all its devices."""
    columns = store.columns
    storage = columns["storage"].word(row)
    return PlottedDrive(
        key=row,
        tps=tps,
        share_pct=share_pct,
        fill=fill_of(groups_of(store)[columns["comparison_group"].word(row)]),
        is_within=is_within,
        capacity_gb=capacity_of(store, row),
        endurance_dwpd=columns["endurance_dwpd"].value(row),
        model=columns["model"].word(row),
        name=" ".join(filter(None, (columns["model"].word(row), columns["capacity_gb"].word(row) or storage))),
        sustained_tps=float(sustained) if (sustained := sustained_by_rating(store, row)) else None,
    )


def mark_sentence(store: ColumnStore, row: int, threshold_us: int, speed: str) -> str:
    """Return what a mark in the chart of speed shows, as a sentence."""
    columns = store.columns
    parts = [
        speed,
        f"{columns[share_code(threshold_us)].word(row)} % of reads over {units.threshold(threshold_us)}",
        TIME_WORDS[groups_of(store)[columns["comparison_group"].word(row)].time],
        _endurance_words(store, row),
    ]
    return f"{name_of(store, row)}: {'; '.join(filter(None, parts))}."


def endurance_sentence(store: ColumnStore, row: int) -> str:
    """Return what a mark in the chart of endurance shows, as a sentence that differs from that of the other chart."""
    tested = f"tested at {units.count(floor(speeds_of(store)[row] + 0.5))} tps"
    parts = [
        f"its rating allows {store.columns['sustained_tps'].word(row)} tps",
        tested,
        _endurance_words(store, row),
    ]
    return f"Endurance of {name_of(store, row)}: {'; '.join(filter(None, parts))}."


def _endurance_words(store: ColumnStore, row: int) -> str:
    needed, rated = store.columns["needed_dwpd"].word(row), store.columns["endurance_dwpd"].word(row)
    words = f"needs {needed} drive writes a day" if needed else ""
    return f"{words}, rated {rated}" if words and rated else words
