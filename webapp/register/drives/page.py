"""A page of tables of drives: the matching rows, the hidden ones with reasons, and the effect of reader limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from html import escape
from math import ceil
from operator import or_
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from results.rules.act.limits import Limit
from webapp.register.drives import filters
from webapp.register.drives.cells import RowWriter
from webapp.register.drives.device_counts import notes_on_other_counts
from webapp.register.drives.filters import Test
from webapp.register.drives.layouts import ALWAYS_SHOWN, LOADS, PageLayout
from webapp.register.drives.limit_check import LimitCheck, limits_sentence
from webapp.register.drives.order import ROWS_A_PAGE, JoinedRows, RowGroup, grouped, page_of, pages_count
from webapp.register.drives.query import DrivesQuery
from webapp.register.drives.store.encoded_columns import ColumnStore, Rows, set_of
from webapp.register.drives.store.ranking import (
    current_rows,
    on_drives,
    rated_rows,
    rows_rated_for,
    sustaining_rows,
)
from webapp.register.http.query_params import ParameterError
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.products.name_search import NameQuery, search
from webapp.register.tables.columns import DEVICE_SPEED, Column
from webapp.register.tables.parameters import FASTEST_FIRST, Sort
from webapp.register.tables.sentences import rating_sentence
from webapp.register.tables.tables import TableSpec, column_groups, head_html
from webapp.templatetags import units

COLUMNS_SIDE_BY_SIDE = 14  # that a desktop shows
ROWS_BEFORE_FIRST_PAINT = 6000  # a compressed data file of so many rows has 250 kB
BY_NAME = Sort(ALWAYS_SHOWN, falls=False)
FASTEST_ORDERS = (FASTEST_FIRST, Sort(DEVICE_SPEED.code, falls=True))
CURRENT = ' aria-current="page"'
ROWS_ID = "-rows"  # after the code of a table: the id of its first body
HIDDEN_BECAUSE = {
    "historical": ("historical", "yes", "historical"),
    "withdrawn": ("visibility", "withdrawn", "withdrawn"),
    "superseded": ("visibility", "superseded", "superseded by another run"),
}


@dataclass(frozen=True)
class DrivesPage:
    """The content of a page of tables of drives, computed from a query when it is first needed."""

    layout: PageLayout
    store: ColumnStore
    query: DrivesQuery
    profile: tuple[Limit, ...]

    @property
    def queries_server_first(self) -> bool:
        """Return whether the page's script shows the server's answer before it loads the data file, which is large."""
        return self.store.count > ROWS_BEFORE_FIRST_PAINT

    @cached_property
    def limits(self) -> YourLimits:
        """Return the limits that shares are compared with."""
        return self.query.limits

    @property
    def load_tps(self) -> float | None:
        """Return the reader's load: the speed that the filters require."""
        return self.query.load_tps(self.layout.loads)

    @property
    def plots_devices(self) -> bool:
        """Return whether the charts plot one device of each instance, because the table ranks them by it."""
        return self.layout.has_instances and self.query.sort.code == DEVICE_SPEED.code

    @property
    def plotted_loads(self) -> tuple[str, ...]:
        """Return the filters whose speed is that of the charts' axis."""
        return LOADS[1:] if self.plots_devices else self.layout.loads

    @property
    def plotted_load_tps(self) -> float | None:
        """Return the load of the charts' axis."""
        return self.query.load_tps(self.plotted_loads)

    @property
    def plotted_unit(self) -> str:
        """Return the word for what the charts plot the speed of."""
        return self.layout.device_unit if self.plots_devices else self.layout.plotted_unit

    @cached_property
    def limit_check(self) -> LimitCheck:
        """Return the rows that pass these limits."""
        return LimitCheck(self.store, self.limits)

    @cached_property
    def name_query(self) -> NameQuery:
        """Return the search as it is read."""
        return search(self.store.names, self.query.search_text)

    @cached_property
    def universes(self) -> list[Rows]:
        """Return the rows of each table before any filter."""
        category, historical = self.store.columns["category"], self.store.columns["historical"]
        listed = historical.of("yes") if self.layout.is_historical else self.store.all_rows
        codes = [self.layout.categories_of(spec) for spec in self.layout.specs]
        return [listed & reduce(or_, map(category.of, shown)) for shown in codes]

    @cached_property
    def universe(self) -> Rows:
        """Return the rows of all tables."""
        return reduce(or_, self.universes)

    @property
    def default_rows(self) -> Rows:
        """Return the rows without any filter: historical ones only on their own page."""
        historical = self.store.columns["historical"].of("yes")
        return self.universe if self.layout.is_historical else self.universe & ~historical

    @cached_property
    def tests(self) -> list[Test]:
        """Return the requirements for a row to be shown, in the order of their reasons."""
        query, store = self.query, self.store
        tests = [self._default_test(name) for name in self.layout.included if name not in query.included]
        if query.search_text:
            named = set_of(store.names.having(self.name_query))
            tests.append(Test("q", f"name does not contain {query.search_text}", named))
        tests += [filters.choice_test(filters.BY_NAME[name], codes, store) for name, codes in query.choices]
        tests += [filters.number_test(filters.BY_NAME[name], text, store) for name, text in query.numbers]
        if query.only_within:
            tests.append(Test("within", "not within the limits", self.limit_check.passes))
        return tests

    def _default_test(self, name: str) -> Test:
        column, word, reason = HIDDEN_BECAUSE[name]
        return Test(name, reason, self.store.all_rows & ~self.store.columns[column].of(word))

    @cached_property
    def sections(self) -> list[dict[str, Any]]:
        """Return the tables that have rows before filters; on a page with one table, always that one."""
        pages = pages_count(self.filtered_rows.bit_count())
        if self.query.page > pages:
            raise ParameterError("page", f"expected a number from 1 to {pages}", str(self.query.page))
        counts = [rows.bit_count() for rows in self.filtered]
        before = [sum(counts[:place]) for place in range(len(counts))]
        parts = zip(self.layout.specs, self.groups, self.universes, before, strict=True)
        return [self._section(spec, each, start) for spec, each, universe, start in parts if universe or self.is_alone]

    @cached_property
    def groups(self) -> list[list[RowGroup]]:
        """Return the matching rows of each table in order, divided into bands; made once for the default rows."""
        query = self.query
        if query.is_narrowed or query.only_within or query.included:
            return self._grouped()
        return self.store.cached(("groups", self.layout.name, query.sort), self._grouped)

    def _grouped(self) -> list[list[RowGroup]]:
        return [grouped(self.store, filtered, self.query.sort) for filtered in self.filtered]

    @cached_property
    def filtered_rows(self) -> Rows:
        """Return the matching rows of all tables."""
        return filters.rows_that_pass(self.universe, self.tests)

    @property
    def filtered(self) -> list[Rows]:
        """Return the matching rows of each table."""
        return [universe & self.filtered_rows for universe in self.universes]

    @property
    def is_alone(self) -> bool:
        """Return whether the page has one table, which is shown also if it is empty."""
        return len(self.layout.specs) == 1

    def _section(self, spec: TableSpec, groups: list[RowGroup], before: int) -> dict[str, Any]:
        codes = self._shown_codes(spec)
        columns = tuple(column for column in spec.columns if column.code in codes)
        shown = page_of(groups, self.query.page, before)
        rows = [row for group in shown for row in group.rows]
        writer = RowWriter(self.store, columns, self.limits, rows, layout=self.layout, load_tps=self.load_tps)
        by_choice = [column for column in spec.columns if column not in columns]
        offered = column_groups(spec, columns)
        return {
            "spec": spec,
            "heads": [self._head(column) for column in columns],
            "heads_by_choice": [self._head(column) for column in by_choice],
            "groups": shown,
            "bodies": writer.table(shown, f"{spec.code}{ROWS_ID}", notes_on_other_counts(self.store, self.limit_check)),
            "is_wide": len(columns) > COLUMNS_SIDE_BY_SIDE,  # it then scrolls in a box of its own
            "column_groups": offered,  # that a narrow screen offers
            "chosen_group": self._chosen_group(columns, dict(offered), rows),
        }

    def _chosen_group(self, columns: Sequence[Column], offered: Mapping[str, str], rows: Sequence[int]) -> str:
        """Return the group that a narrow screen shows first: that of the sorted column, except in the default order.

        A group with a column that has no value in these rows is not shown first.
        """
        group = next((column.group for column in columns if column.code == self.query.sort.code), "")
        first = next(iter(offered), "")
        if group not in offered or self.query.sort == self.query.default_sort:
            return first
        words = [self.store.columns[column.code].word for column in columns if column.group == group]
        return group if all(any(map(word, rows)) for word in words) else first

    def _shown_codes(self, spec: TableSpec) -> set[str]:
        """Return the codes of a table's shown columns: the chosen ones, or the usual and filtered ones."""
        if self.query.columns:
            return {*self.query.columns, ALWAYS_SHOWN}
        set_filters = (filters.BY_NAME[name] for name, _ in (*self.query.choices, *self.query.numbers))
        return {column.code for column in spec.usual}.union(*(each.shows for each in set_filters))

    @property
    def first_rows_id(self) -> str:
        """Return the id of the first rows, which a skip link leads to; of the first table if no table has rows."""
        sections = [section for section in self.sections if section["groups"]] or self.sections
        return f"{sections[0]['spec'].code}{ROWS_ID}" if sections else "main"

    @property
    def reading_notes(self) -> list[str]:
        """Return the notes on how to read the tables, each of them once."""
        return list(dict.fromkeys(note for spec in self.layout.specs for note in spec.reading_notes))

    def _head(self, column: Column) -> SafeString:
        return head_html(column, self.query.sort, self.limits.by_threshold, self._sorted_address, has_code=True)

    def _sorted_address(self, sort: Sort) -> str:
        """Return the address of the same rows in another order, made from one address, because a page has twenty."""
        if sort == self.query.default_sort:
            return replace(self.query, sort=sort, page=1).address
        return self._address_by_name.replace(f"sort={BY_NAME.parameter}", f"sort={sort.parameter}")

    @cached_property
    def _address_by_name(self) -> str:
        return replace(self.query, sort=BY_NAME, page=1).address

    @cached_property
    def rows(self) -> Sequence[int]:
        """Return every matching row of all pages, in order. A band is sorted when one of its rows is read."""
        return JoinedRows([group.rows for groups in self.groups for group in groups])

    @cached_property
    def reasons(self) -> list[tuple[Test, int, int]]:
        """Return the reasons for hidden rows, each with the numbers of rows that it hides, and that only it hides."""
        return filters.reasons_of(self.universe, self.tests)

    @property
    def shown_sentence(self) -> str:
        """Return the number of shown rows and of all rows, as a sentence."""
        shown = self.filtered_rows.bit_count()
        return f"{units.count(shown)} of {units.count(shown + self._hidden_count)} shown."

    @property
    def first_over_sentence(self) -> str:
        """Return how many rows at the top are over a limit, if the fastest are first: the headline names others.

        It is empty if the first row is within the limits, and on later pages.
        """
        if self.query.page > 1 or self.query.sort not in FASTEST_ORDERS:
            return ""
        groups = [group for of_table in self.groups for group in of_table]
        rows, over = groups[0].rows[:ROWS_A_PAGE] if groups else (), self.limit_check.over
        count = next((place for place, row in enumerate(rows) if not over >> row & 1), len(rows))
        limit = "one of your limits" if self.limits.is_own else "a limit of the profile"
        if count < 2:
            return f"The first row is over {limit}." if count else ""
        return f"The first {units.count(count)} rows are over {limit}."

    @property
    def rating_sentence(self) -> str:
        """Return how many shown rows have a rating that allows the load, or the tested speed if only DWPD is set.

        It is empty without such a filter, and if no shown row has a rating.
        """
        rows, load_tps = self.filtered_rows, ceil(self.load_tps or 0)
        has_question = load_tps or filters.DWPD.name in dict(self.query.numbers)
        if not has_question or not rows & rated_rows(self.store):
            return ""
        sustained = (
            rows_rated_for(self.store, load_tps) if load_tps else rated_rows(self.store) & sustaining_rows(self.store)
        )
        speed = f"{units.count(load_tps)} tps" if load_tps else "the tested speed"
        return rating_sentence((rows & sustained).bit_count(), rows.bit_count(), speed)

    @property
    def _hidden_count(self) -> int:
        return (self.universe & ~self.filtered_rows).bit_count()

    @property
    def hidden_sentence(self) -> str:
        """Return the number of hidden rows with the reason, or with the number of reasons; empty if none is hidden."""
        if not self._hidden_count:
            return ""
        hidden = f"{units.count(self._hidden_count)} hidden"
        if len(self.reasons) == 1:
            return f"{hidden}: {self.reasons[0][0].text}."
        return f"{hidden} for {len(self.reasons)} reasons."

    @property
    def lift(self) -> dict[str, str]:
        """Return text and address of the link that shows all hidden rows; empty if none is hidden."""
        if len(self.reasons) == 1:
            return {"text": "Show them", "address": self.query.without(self.reasons[0][0].name).address}
        return {"text": "Show all", "address": self.query.with_everything().address} if self.reasons else {}

    @property
    def hidden_lines(self) -> list[dict[str, str]]:
        """Return for each of several reasons its text, and text and address of its link; no link if it shows no row."""
        if len(self.reasons) == 1:
            return []
        return [
            {
                "text": f"{test.text}: {units.count(hidden)}{_alone(hidden, hidden_only)}",
                "link": f"Show {units.count(hidden_only)}" if hidden_only else "",
                "address": self.query.without(test.name).address,
            }
            for test, hidden, hidden_only in self.reasons
        ]

    @property
    def overlap_note(self) -> str:
        """Return a note that explains why the reasons add up to more than the hidden rows."""
        is_more = sum(hidden for _, hidden, _ in self.reasons) > self._hidden_count
        return "A drive can fail several filters." if is_more else ""

    @property
    def limits_sentence(self) -> str:
        """Return how many rows pass the limits and which results change, including rows that only the limits hide."""
        return limits_sentence(self.store, self.rows_before_limits, self.limit_check, self.limits)

    @cached_property
    def rows_before_limits(self) -> Rows:
        """Return the matching rows, with those that only the limits hide."""
        return filters.rows_that_pass(self.universe, (test for test in self.tests if test.name != "within"))

    @property
    def summarised_rows(self) -> Rows:
        """Return the rows that the headline summarises: the default rows, or those that match the filters."""
        return self.rows_before_limits if self.query.is_narrowed else self.default_rows

    @cached_property
    def passing_rows(self) -> Rows:
        """Return the current summarised rows within the limits, on physical drives: the fastest is one of them."""
        return self.summarised_rows & current_rows(self.store) & self.limit_check.passes & on_drives(self.store)

    @property
    def page_links(self) -> SafeString:
        """Return the links to the pages as HTML; empty if there is only one page.

        There are up to fifty, and a template takes ten times as long.
        """
        count = pages_count(self.filtered_rows.bit_count())
        first = replace(self.query, page=1).address  # page is the last parameter of an HTML address
        after = first if first == "?" else f"{first}&"
        links = (
            f'<a href="{escape(first if number == 1 else f"{after}page={number}")}"'
            f"{CURRENT if number == self.query.page else ''}>{number}</a> "
            for number in range(1, count + 1)
        )
        return mark_safe("".join(links) if count > 1 else "")  # noqa: S308 - addresses are escaped above


def _alone(hidden: int, hidden_only: int) -> str:
    """Return how many of the rows that a reason hides have no other reason; empty if all or none of them."""
    return f", {units.count(hidden_only)} only for this reason" if 0 < hidden_only < hidden else ""
