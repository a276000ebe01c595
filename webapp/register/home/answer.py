"""The answer of the home page: a sentence, the charts, and the drives by comparison group with their endurance gap."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from html import escape
from itertools import compress
from math import floor
from urllib.parse import parse_qsl

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from results.models import Statistic, Tier
from results.rules.act.endurance_gap import times
from results.rules.act.limits import Limit
from results.rules.endurance import is_within_rating
from webapp.register.drives.filters import OVER_RATING, Test, bound_of, number_test, reasons_of, rows_that_pass
from webapp.register.drives.landscape import Charts, cell_linker, charts_of, switch_html
from webapp.register.drives.limit_check import LimitCheck, name_of
from webapp.register.drives.order import rows_by_band
from webapp.register.drives.query import SEPARATOR, THRESHOLDS_US
from webapp.register.drives.ranking_requirements import not_ranked_because
from webapp.register.drives.store.charted_rows import ChartedRows
from webapp.register.drives.store.encoded_columns import (
    BILLIONTHS,
    NOT_REPORTED,
    ColumnStore,
    flags_of,
    number_in,
    rows_of,
)
from webapp.register.drives.store.ranking import (
    needed_at_load,
    row_glyph,
    rows_from,
    rows_rated_for,
    speeds_of,
    sustained_by_rating,
)
from webapp.register.home.question import HomeQuestion, drive_choices
from webapp.register.landscape.marks import GROUP_WORDS, fill_of
from webapp.register.landscape.page_svg import gap_html, glyph_html
from webapp.register.svg.scales import LogScale, enclosing_log_scale
from webapp.register.tables.columns import share_code
from webapp.register.tables.endurance_gap import digits, load_sentence
from webapp.register.tables.groups import BANDS, STATISTIC_WORDS, group_label
from webapp.register.tables.marks import nearness_html, tier_code
from webapp.register.tables.sentences import rating_sentence
from webapp.templatetags import units

ROWS_AT_MOST = 15
PUBLISHED_ONLY = "Makers mostly publish tests that pass; none of these is verified."


@dataclass(frozen=True)
class AnswerShare:
    """A share with its mark."""

    text: str
    mark: SafeString


@dataclass(frozen=True)
class AnswerRow:
    """One drive of the answer as the table shows it."""

    glyph: SafeString
    slug: str
    run: str
    vendor: str
    model: str
    size: str
    speed: str
    shares: list[AnswerShare]
    at_load: str
    of_rating: str
    needed: str
    rated: str
    gap: SafeString
    times: str
    sustained: str
    tier: str
    evidence: str
    is_over_rating: bool


@dataclass(frozen=True)
class Answer:
    """The answer to a question, computed from the column store."""

    store: ColumnStore
    question: HomeQuestion
    profile: tuple[Limit, ...]

    @cached_property
    def charted(self) -> ChartedRows:
        """Return the drives of the categories, as the charts plot them."""
        category, historical = self.store.columns["category"], self.store.columns["historical"]
        rows = sum(category.of(code) for code in self.question.categories) & ~historical.of("yes")
        tests = [number_test(each, text, self.store) for each, text in self.question.filters if text]
        rows = rows_that_pass(rows, tests)
        return ChartedRows(
            self.store,
            rows,
            LimitCheck(self.store, self.question.limits).passes,
            self.question.threshold_us,
            float(self.question.limits.by_threshold[self.question.threshold_us]),
            self.question.statistic,
            self.question.tps or None,
            lambda: [row for _, rows in self._listed for row in rows],
            is_short=True,
        )

    @cached_property
    def charts(self) -> Charts:
        """Return the charts; those of the last questions are kept."""
        question = self.question
        before = escape(f"{reverse('drives')}{question.query_of_results({})}&")
        links = cell_linker(before, before, question.speed_filter, f"max_{question.threshold}", question.threshold)
        key = ("home charts", self.profile, question.address())
        return self.store.recent(key, lambda: charts_of(self.charted, links, question.drive_query))

    @property
    def explored(self) -> str:
        """Return what static/js/landscape/explore.js needs to draw the chart of speed, as JSON."""
        limits = self.question.limits
        return json.dumps(
            {
                "categories": self.question.categories,
                "threshold": self.question.threshold,
                "statistic": self.charts.statistic,
                "loadTps": self.question.tps,
                "bounds": [
                    (each.column, each.kind, bound_of(each, text)) for each, text in self.question.filters if text
                ],
                "limits": {us: units.decimal(limit) for us, limit in limits.by_threshold.items()},
                "profile": {us: units.decimal(limit) for us, limit in limits.profile_by_threshold.items()},
                "toDrive": parse_qsl(self.question.drive_query.removeprefix("?")),
                "listed": [self.store.runs[row] for row in self.charted.first_rows()],
            }
        )

    @property
    def switches(self) -> SafeString:
        """Return the links to the other thresholds and statistics."""
        thresholds = [
            (units.threshold(us), code == self.question.threshold, self.question.address(threshold=code))
            for code, us in THRESHOLDS_US.items()
        ]
        statistics = [
            (STATISTIC_WORDS[Statistic(code)], code == self.charts.statistic, self.question.address(statistic=code))
            for code in self.charts.statistics
        ]
        return SafeString(switch_html("over ", thresholds) + (switch_html("", statistics) if statistics[1:] else ""))

    @property
    def count_sentence(self) -> str:
        """Return how many drives were tested at the load."""
        answers, shown = self.charted.answers.bit_count(), self.charted.shown.bit_count()
        if not shown:
            return "The register has no result of such drives with a speed and slow reads."
        count = f"{units.count(answers) if answers else 'None'} of {units.count(shown)}"
        if self.question.tps:
            verb = f"{'was' if answers < 2 else 'were'} tested at {self.question.tps_text} tps or more,"
        else:
            verb = "is" if answers < 2 else "are"
        return f"{count} {self._subject} {verb} within these limits."

    @cached_property
    def _is_published_only(self) -> bool:
        tier, shown = self.store.columns["tier"], self.charted.shown
        published = tier.having([*(tier_code(word) == Tier.PUBLISHED for word in tier.words), False])
        return bool(shown) and not shown & ~published

    @property
    def caution(self) -> str:
        """Return that no log supports the results, and what publications leave out; empty if there is a log."""
        return PUBLISHED_ONLY if self._is_published_only else ""

    @property
    def empty_sentence(self) -> str:
        """Return what to do if no drive matches, with the fastest tested drive of this kind."""
        speeds = [speeds_of(self.store)[row] for row in self.charted.first_of(self.charted.shown, 1)]
        fastest = speeds[0] if speeds else 0
        if not fastest or fastest >= self.question.tps:
            return "Lower the speed, raise a limit, or see"
        return f"Lower the speed: the fastest tested of this kind has {units.count(floor(fastest))} tps. Or see"

    @property
    def _subject(self) -> str:
        """Return the kind of drives, or results of it if a drive has several or if there is only one."""
        rows = rows_of(self.charted.shown)
        if len(rows) > 1 and _are_different(self.store.slugs[row] for row in rows):
            return self.question.kind
        return f"{'result' if len(rows) == 1 else 'results'} of {self.question.kind}"

    @property
    def fastest_sentence(self) -> str:
        """Return the fastest drive of one comparison group; without one, why none is ranked."""
        charted, row, group = self.charted, self.charted.headline_row, self.charted.headline_group
        if row is None or group is None:
            they = "The result is" if charted.answers.bit_count() == 1 else "The results are"
            return f"{they} {not_ranked_because(self.store, charted.answers)}" if charted.answers else ""
        name, count = name_of(self.store, row), group[1].bit_count()
        if count > 1:
            alike = f"{GROUP_WORDS[fill_of(group[0])]}, {units.counted(group[0].device_count, 'device')}"
            fastest = f"{name} is the fastest of {units.count(count)} of them that are comparable"
            return format_html(
                '{}<span class="wide-only"> ({})</span>.', fastest, alike
            )  # a phone has it above the rows
        if charted.answers.bit_count() == 1:
            return f"The result is of {name}."
        measured = group_label(group[0])
        return f"{name} is the only one of them in its comparison group ({measured}); other groups are not comparable."

    @property
    def endurance_sentence(self) -> str:
        """Return what the load and the tested speed mean for the endurance of the fastest drive; empty if not known."""
        row = self.charted.headline_row
        if row is None:
            return ""
        needed = self.store.columns["needed_dwpd"].word(row)
        rated = self.store.columns["endurance_dwpd"].word(row)
        if not needed or not rated:
            return ""
        if not self.question.tps:
            speed = units.count(round(speeds_of(self.store)[row]))
            return f"At {speed} tps this drive takes {needed} drive writes a day; it is rated for {rated}."
        at_load = needed_at_load(self.store, row, self.question.tps)
        return f"{load_sentence(self.question.tps, at_load, rated)} {self._rated_sentence}"

    @property
    def _rated_sentence(self) -> str:
        """Return how many answers have a rating that allows the load."""
        answers = self.charted.answers
        rated = answers & rows_rated_for(self.store, self.question.tps)
        return rating_sentence(
            rated.bit_count(), answers.bit_count(), "it", speed_of_one=f"{self.question.tps_text} tps"
        )

    @property
    def elsewhere_sentence(self) -> SafeString:
        """Return the drive of another category whose rating allows the load, if no answer has such a rating."""
        question, (all_kinds, _) = self.question, drive_choices()[0]
        codes = tuple(all_kinds.split(SEPARATOR))
        is_part = set(question.categories) < set(codes)
        if not question.tps or not is_part or self.charted.answers & rows_rated_for(self.store, question.tps):
            return SafeString("")
        everywhere = replace(self, question=replace(question, categories=codes))
        rated = everywhere.charted.answers & rows_rated_for(self.store, question.tps)
        found = list(everywhere.charted.in_order(rated))
        if not found:
            return SafeString("")
        row = max(found, key=lambda each: sustained_by_rating(self.store, each) or 0)
        what = "such a rating" if self.charted.answers else f"a rating that allows {question.tps_text} tps"
        link = '<a href="{}">Among all kinds of drives</a>, {} has {}.'
        return format_html(link, everywhere.question.address(), name_of(self.store, row), what)

    @cached_property
    def _listed(self) -> list[tuple[tuple[str, str], list[int]]]:
        """Return the first answers by comparison group: the title of each band, and its rows, fastest first."""
        of_band, left, found = rows_by_band(self.store), ROWS_AT_MOST, []
        for band in BANDS:
            rows = self.charted.answers & of_band.get(band.code, 0)
            if rows and left:
                first = self.charted.first_of(rows, left)
                found.append((band.title_line(rows.bit_count(), is_first=False), first))
                left -= len(first)
        return found

    @cached_property
    def bands(self) -> list[tuple[tuple[str, str], list[AnswerRow]]]:
        """Return the first answers by comparison group, as the table shows them."""
        return [(title, [self._row(row) for row in rows]) for title, rows in self._listed]

    @property
    def left_out_count(self) -> int:
        """Return the number of answers that are not listed."""
        return self.charted.answers.bit_count() - sum(len(rows) for _, rows in self._listed)

    @property
    def hidden_count(self) -> int:
        """Return the number of plotted drives that are no answer."""
        return (self.charted.shown & ~self.charted.answers).bit_count()

    @property
    def hidden_sentence(self) -> str:
        """Return how many plotted drives are no answer, with the reasons; several reasons have their numbers."""
        charted, store = self.charted, self.store
        check = LimitCheck(store, self.question.limits)
        tests = [
            Test("tps", f"slower than {self.question.tps_text} tps", rows_from(store, self.question.tps)),
            Test("over", "over a limit", store.all_rows & ~check.over),
            Test("verdict", "not passed for another reason", check.passes | check.over),
        ]
        reasons = reasons_of(charted.shown & ~charted.answers, tests)
        words = [f"{test.text} ({units.count(hidden)})" if reasons[1:] else test.text for test, hidden, _ in reasons]
        verb = "does" if self.hidden_count == 1 else "do"
        results = f"{units.counted(self.hidden_count, 'result')} of {self.question.kind}"
        several = " A result can have several reasons." if self._has_overlap(reasons) else ""
        return f"{results} {verb} not match: {', '.join(words)}.{several}"

    def _has_overlap(self, reasons: Sequence[tuple[Test, int, int]]) -> bool:
        return sum(hidden for _, hidden, _ in reasons) > self.hidden_count

    @cached_property
    def _gap_scale(self) -> LogScale:
        """Return the axis of the endurance gaps, which all rows share."""
        x, sustained = self.charted.question.x, self.store.columns["sustained_tps"]
        codes = set(compress(sustained.codes, flags_of(self.charted.shown, self.store.count))) - {NOT_REPORTED}
        known = [tps for code in codes if (tps := number_in(sustained.words[code]))]
        return enclosing_log_scale(min([*known, x.low]), max([*known, x.high]))

    def _row(self, row: int) -> AnswerRow:
        def word(code: str) -> str:
            return self.store.columns[code].word(row)

        tps, sustained = speeds_of(self.store)[row], sustained_by_rating(self.store, row)
        symbol, fill = row_glyph(self.store, row)
        at_load, of_rating = self._at_load(row)
        return AnswerRow(
            glyph=glyph_html(symbol, fill),
            slug=self.store.slugs[row],
            run=self.store.runs[row],
            vendor=word("vendor"),
            model=word("model"),
            size=word("capacity_gb") or word("storage"),
            speed=units.count(round(tps)),
            shares=[self._share(row, us, limit) for us, limit in self.question.limits.by_threshold.items()],
            at_load=at_load,
            of_rating=of_rating,
            needed=word("needed_dwpd"),
            rated=word("endurance_dwpd"),
            gap=gap_html(self._gap_scale, float(sustained), tps) if sustained else SafeString(""),
            times=f"{units.decimal(times(Fraction(tps) / sustained))}x rating" if sustained else "",
            sustained=word("sustained_tps"),
            tier=tier_code(word("tier")),
            evidence=word("tier"),
            is_over_rating=self._is_over_rating(row),
        )

    def _is_over_rating(self, row: int) -> bool:
        """Return whether the load, or without one the tested speed, is over what the endurance rating allows."""
        if self.question.tps:
            return self._is_within_rating(row) is False
        return self.store.columns[OVER_RATING.column].word(row) == "yes"

    def _at_load(self, row: int) -> tuple[str, str]:
        """Return the drive writes per day of a row at the load, and how they compare with its rating."""
        needed, is_within = needed_at_load(self.store, row, self.question.tps), self._is_within_rating(row)
        if is_within is None:
            return digits(needed), ""
        rated = self.store.columns["endurance_dwpd"].word(row)
        return digits(needed), f"of {rated}, {'within' if is_within else 'over'}"

    def _is_within_rating(self, row: int) -> bool | None:
        """Return whether the rating of a row sustains the load; None if that is not known."""
        needed = needed_at_load(self.store, row, self.question.tps)
        rating = self.store.columns["endurance_dwpd"].value(row)
        return None if needed is None or rating is None else is_within_rating(needed, Decimal(str(rating)))

    def _share(self, row: int, threshold_us: int, limit_pct: object) -> AnswerShare:
        encoded, limit = self.store.columns[share_code(threshold_us)], float(str(limit_pct))
        share = encoded.value(row)
        if share is None:
            return AnswerShare("", SafeString(""))
        ratio = share / BILLIONTHS / limit if limit else 0
        return AnswerShare(encoded.word(row), nearness_html(ratio, is_over=False))


def _are_different(names: Iterable[str]) -> bool:
    """Return whether no name comes twice; the first repetition decides."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return False
        seen.add(name)
    return True
