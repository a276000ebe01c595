"""The landscape charts of pages as HTML and as share images, and the links that choose what they show."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from html import escape
from math import floor

from django.utils.safestring import SafeString

from results.models import Statistic
from webapp.register.drives.limit_check import name_of
from webapp.register.drives.page import DrivesPage
from webapp.register.drives.query import THRESHOLDS_US, DrivesQuery
from webapp.register.drives.store.charted_rows import ChartedRows, devices_words
from webapp.register.drives.store.ranking import providers_of
from webapp.register.landscape.marks import Fill, fill_of
from webapp.register.landscape.page_svg import ChartWords, Link, chart_svg
from webapp.register.landscape.picture import Cell
from webapp.register.landscape.share_image import share_svg
from webapp.register.svg.marks import PROVIDER_SHAPES, provider_symbol
from webapp.register.tables.groups import STATISTIC_WORDS, TIME_WORDS
from webapp.register.tables.parts import fill
from webapp.templatetags import units

ENDURANCE_TITLE = "Speed and endurance: tested speed, and the speed that the endurance rating allows"
ENDURANCE_SENTENCE = (
    "On the line, the rating allows the tested speed. A drive below the line needs more drive writes a day at its "
    "tested speed than it is rated for."
)
# Of each frontier: the style of its line, and its short name in the key, where the fill of the marks is explained, too.
FRONTIER_LINES = {Fill.SERVICE: ("solid", "ACT 6.x"), Fill.WITH_QUEUE: ("dashed", "ACT up to 5.3")}
MIDDLE_GB = 8_000  # the size of the marks in the key
FEWEST_CHARTED = 3  # fewer marks are no picture: a phone then shows the rows first
DEFAULT_LIMIT_PCT = 5  # of a profile that has no limit on the chosen threshold


@dataclass(frozen=True)
class Charts:
    """The charts of a page as HTML. `endurance` is empty if no shown drive has a rating."""

    shown_count: int
    speed: SafeString
    endurance: SafeString
    threshold: str
    statistic: str
    statistics: tuple[str, ...]
    legend: SafeString
    providers: tuple[tuple[str, str, str], ...] = ()  # name, symbol and classes of each, if marks show them
    endurance_title: str = ENDURANCE_TITLE
    endurance_sentence: str = ENDURANCE_SENTENCE

    @property
    def is_short(self) -> bool:
        """Return whether the charts have so few marks that a phone shows the rows first."""
        return self.shown_count < FEWEST_CHARTED

    @property
    def statistic_words(self) -> str:
        """Return the words for the shown statistic."""
        return STATISTIC_WORDS[Statistic(self.statistic)]


def charts_of(charted: ChartedRows, cell_link: Callable[[Cell], Link] | None = None, carried: str = "") -> Charts:
    """Return the charts of some rows, whose links have the query `carried` of the reader's load and own limits."""
    threshold = units.threshold(charted.threshold_us)
    speed = ChartWords("speed-chart", speed_title(charted), charts_sentence(charted))
    picture = charted.endurance_picture
    words = ChartWords("endurance-chart", ENDURANCE_TITLE, ENDURANCE_SENTENCE)
    return Charts(
        charted.shown.bit_count(),
        chart_svg(charted.speed_picture, speed, charted.link, cell_link, carried),
        chart_svg(picture, words, charted.endurance_link, carried=carried) if picture else SafeString(""),
        threshold,
        charted.shown_statistic,
        tuple(charted.statistics),
        SafeString(
            "".join(fill("frontier", style=style, words=short) for style, short, _ in frontier_legends(charted))
        ),
        _provider_legends(charted) if charted.shows_providers else (),
    )


def _provider_legends(charted: ChartedRows) -> tuple[tuple[str, str, str], ...]:
    last = len(PROVIDER_SHAPES) - 1
    found: dict[int, list[str]] = {}
    for name, place in providers_of(charted.store).items():
        found.setdefault(min(place, last), []).append(name)
    legends = (
        (", ".join(names), provider_symbol(place, MIDDLE_GB), f"full p{place}") for place, names in found.items()
    )
    return tuple(legends)


def speed_title(charted: ChartedRows) -> str:
    """Return the title of the chart of speed, which begins with its heading and differs from that of other charts."""
    of_what = " of one device" if charted.is_per_device else ""
    return f"Speed and slow reads: speed{of_what}, and share of reads over {units.threshold(charted.threshold_us)}"


def frontier_legends(charted: ChartedRows) -> list[tuple[str, str, str]]:
    """Return for each frontier of the chart of speed the style of its line, and what it joins, in short and in full."""
    groups = [group for group, _ in charted.ranked_groups]
    devices = [f", {devices_words(group.device_count)}" if len(charted.device_counts) > 1 else "" for group in groups]
    return [
        (style, f"fastest of {short}{with_devices}", f"fastest of {TIME_WORDS[group.time]}{with_devices}")
        for group, with_devices in zip(groups, devices, strict=True)
        for style, short in [FRONTIER_LINES[fill_of(group)]]
    ]


def charts_sentence(charted: ChartedRows) -> str:
    """Return what the chart of speed shows, in words."""
    answers, count = charted.answers.bit_count(), charted.shown.bit_count()
    speed = f"were tested at {units.count(floor(charted.load_tps + 0.5))} tps or more," if charted.load_tps else "are"
    sentences = [
        f"{units.counted(count, 'result')}. Right is faster, low is fewer slow reads.",
        f"{units.count(answers)} of them {speed} within the limits.",
        *(f"{style.capitalize()} line: {full}." for style, _, full in frontier_legends(charted)),
        "Marks show the frontier and the rows of this page; cells count all results." if charted.has_cells else "",
        "The table below has the same figures.",
    ]
    return " ".join(filter(None, sentences))


def charted_page(page: DrivesPage) -> ChartedRows:
    """Return the rows of a page of tables, with its filters and limits, as its charts plot them."""
    threshold_us = THRESHOLDS_US[page.query.threshold]
    return ChartedRows(
        page.store,
        page.filtered_rows,
        page.limit_check.passes,
        threshold_us,
        float(page.limits.by_threshold.get(threshold_us, DEFAULT_LIMIT_PCT)),
        page.query.statistic,
        page.plotted_load_tps,
        lambda: [row for section in page.sections for group in section["groups"] for row in group.rows],
        page.plots_devices,
        shows_providers=page.layout.has_only_instances,
    )


def page_charts(page: DrivesPage) -> Charts:
    """Return the charts of a page."""
    links = cell_links(page.query, page.plotted_loads[0])
    return charts_of(charted_page(page), links, page.limits.query_with_load(page.load_tps))


def cell_links(query: DrivesQuery, speed: str) -> Callable[[Cell], Link]:
    """Return a function that links a density cell to the results as fast and as low as its corner.

    `speed` is the name of the filter of the plotted speed.

    The beginning of the addresses is made once, because a chart has hundreds of cells.
    """
    share = f"max_{query.threshold}"

    def before(*replaced: str) -> str:
        others = tuple((name, text) for name, text in query.numbers if name not in replaced)
        address = replace(query, numbers=others, page=1).address
        return escape(address if address == "?" else f"{address}&")

    return cell_linker(before(speed, share), before(speed), speed, share, query.threshold)


def cell_linker(before: str, before_highest: str, speed: str, share: str, threshold: str) -> Callable[[Cell], Link]:
    """Return a function that links cells, given the escaped beginnings of addresses and the names of two filters.

    Cells of the highest row have no filter of shares: they also count the results above the picture.
    """

    def link(cell: Cell) -> Link:
        results = "1 result" if cell.drives_count == 1 else f"{cell.drives_count:,} results"
        fast = f"{results} here. Show those from {cell.min_tps:,} tps"
        if cell.max_share_pct is None:
            return Link(f"{before_highest}{speed}={cell.min_tps}", f"{fast}.")
        most = f"{cell.max_share_pct:g}"
        return Link(
            f"{before}{speed}={cell.min_tps}&amp;{share}={most}", f"{fast} with at most {most} % over {threshold}."
        )

    return link


def landscape_svg(page: DrivesPage) -> str:
    """Return the share image of a page's chart of speed, as SVG."""
    charted, title = charted_page(page), page.layout.specs[0].title
    shown = (
        f"{units.counted(charted.shown.bit_count(), 'result')}, {STATISTIC_WORDS[Statistic(charted.shown_statistic)]}"
    )
    fastest, group = charted.headline_row, charted.headline_group
    is_mixed = len(charted.device_counts) > 1
    devices = f" with {units.counted(group[0].device_count, 'device')}" if group and is_mixed else ""
    named = "" if fastest is None else f". Fastest within the limits{devices}: {name_of(page.store, fastest)}"
    axis = f"tps of one {page.plotted_unit}, against % of reads over {units.threshold(charted.threshold_us)}"
    return share_svg(charted.speed_picture, f"{title}: speed and slow reads", f"{shown}{named}", axis)


def switches_html(query: DrivesQuery, charts: Charts) -> SafeString:
    """Return the links to the other thresholds, and to other statistics if there are any."""
    thresholds = [
        (units.threshold(us), code == query.threshold, replace(query, threshold=code).address)
        for code, us in THRESHOLDS_US.items()
    ]
    statistics = [
        (STATISTIC_WORDS[Statistic(code)], code == charts.statistic, replace(query, statistic=code).address)
        for code in charts.statistics
    ]
    return SafeString(switch_html("over ", thresholds) + (switch_html("", statistics) if statistics[1:] else ""))


def switch_html(before: str, choices: Iterable[tuple[str, bool, str]]) -> str:
    """Return choices as links, each with its label, whether it is the current one, and its address."""
    links = (
        f'<b tabindex="-1">{label}</b>' if is_current else f'<a href="{escape(address)}">{label}</a>'
        for label, is_current, address in choices
    )
    return f'<span class="switch">{before}{" ".join(links)}</span>'
