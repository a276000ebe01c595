"""A page of tables of drives: the rows asked for, what is hidden and why, and what changes with the reader's limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from html import escape
from operator import and_, or_
from typing import Any

from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe

from results.models import Category
from results.rules.act.limits import Limit
from webapp.register.drives import filters
from webapp.register.drives.cells import RowWriter
from webapp.register.drives.filters import Filter, Kept, Reason, Test
from webapp.register.drives.limit_check import Judge, limits_sentence
from webapp.register.drives.order import RowGroup, grouped, page_of, pages_count
from webapp.register.drives.query import ALWAYS_SHOWN, INCLUDED, Askable, DrivesQuestion
from webapp.register.drives.store.encoded_columns import Rows, Shelf, set_of
from webapp.register.http.parameter_errors import ParameterError
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.products.names import NameQuery, search
from webapp.register.tables.columns import Column
from webapp.register.tables.parameters import Sort
from webapp.register.tables.tables import GROUP_LABELS, Head, TableSpec
from webapp.templatetags import units

COLUMNS_SIDE_BY_SIDE = 14
CURRENT = ' aria-current="page"'
HIDDEN_BECAUSE = {
    "historical": ("historical", "yes", "historical"),
    "withdrawn": ("visibility", "withdrawn", "withdrawn"),
    "superseded": ("visibility", "superseded", "superseded by another run"),
}


@dataclass(frozen=True)
class Room:
    """A page: its name, its tables, what they can be filtered by, and which rows they leave out by themselves."""

    name: str
    specs: tuple[TableSpec, ...]
    filters: tuple[Filter, ...]
    included: tuple[str, ...] = INCLUDED
    is_historical: bool = False
    categories: tuple[str, ...] = ()  # those of its one table, where it is of several

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every column of its tables, once."""
        return tuple({column.code: column for spec in self.specs for column in spec.columns}.values())

    def categories_of(self, spec: TableSpec) -> tuple[str, ...]:
        """Return the categories whose rows stand in one of its tables."""
        return self.categories or (spec.code,)

    def askable(self, profile: tuple[Limit, ...]) -> Askable:
        """Return what may be asked of it."""
        usual = {column.code for spec in self.specs for column in spec.usual} - {ALWAYS_SHOWN}
        codes = tuple(column.code for column in self.columns if column.code in usual)
        return Askable(self.filters, self.columns, codes, profile, self.included)


def room_of(spec: TableSpec) -> Room:
    """Return the page of a category."""
    of_category = {Category.CLOUD: filters.OF_CLOUD, Category.NETWORKED: filters.OF_NETWORKED}
    return Room(spec.code, (spec,), of_category.get(Category(spec.code), filters.OF_DRIVES))


def historical_room(specs: Sequence[TableSpec]) -> Room:
    """Return the page of everything that is not recommended any more."""
    return Room("historical", tuple(specs), filters.OF_DRIVES, INCLUDED[1:], is_historical=True)


@dataclass(frozen=True)
class Section:
    """One table of a page, ready for its template."""

    spec: TableSpec
    heads: list[Head]
    kept: Kept
    groups: list[RowGroup]
    bodies: SafeString

    @property
    def is_wide(self) -> bool:
        """It has more columns than a desktop shows side by side, so it scrolls in a box of its own."""
        return len(self.heads) > COLUMNS_SIDE_BY_SIDE

    @property
    def column_groups(self) -> list[tuple[str, str]]:
        """Code and label of the column groups that a narrow screen chooses from."""
        used = {head.column.group for head in self.heads}
        has_rating = any(head.column.code == "endurance_dwpd" for head in self.heads)
        labels = GROUP_LABELS | {"size": self.spec.size_label, "end": "Endurance" if has_rating else "Notes"}
        return [(code, label) for code, label in labels.items() if code in used]


@dataclass(frozen=True)
class DrivesPage:
    """Everything that a page of tables of drives says."""

    room: Room
    shelf: Shelf
    question: DrivesQuestion
    profile: tuple[Limit, ...]

    @cached_property
    def limits(self) -> YourLimits:
        """The limits that hold."""
        return self.question.limits

    @cached_property
    def judge(self) -> Judge:
        """The rows held against them."""
        return Judge(self.shelf, self.limits)

    @cached_property
    def found(self) -> NameQuery:
        """What the search is taken for."""
        return search(self.shelf.names, self.question.query)

    @cached_property
    def universes(self) -> list[Rows]:
        """The rows of each table, whatever is asked."""
        category, historical = self.shelf.columns["category"], self.shelf.columns["historical"]
        every = historical.having([word == "yes" or not self.room.is_historical for word in historical.words] + [False])
        codes = [self.room.categories_of(spec) for spec in self.room.specs]
        return [every & category.having([word in held for word in category.words] + [False]) for held in codes]

    @cached_property
    def universe(self) -> Rows:
        """The rows of all tables."""
        return reduce(or_, self.universes)

    @cached_property
    def tests(self) -> list[Test]:
        """What a row must be to be shown, in the order that reasons are told in."""
        question, shelf = self.question, self.shelf
        tests = [self._left_out(name) for name in self.room.included if name not in question.included]
        if question.query:
            named = set_of(self.found.matches(text) for text in shelf.names.texts)
            tests.append(Test("q", f"not named {question.query}", named))
        tests += [filters.choice_test(filters.BY_NAME[name], codes, shelf) for name, codes in question.choices]
        tests += [filters.number_test(filters.BY_NAME[name], text, shelf) for name, text in question.numbers]
        if question.only_within:
            tests.append(Test("within", "not within the limits", self.judge.passes))
        return tests

    def _left_out(self, name: str) -> Test:
        column, word, reason = HIDDEN_BECAUSE[name]
        coded = self.shelf.columns[column]
        return Test(name, reason, coded.having([each != word for each in coded.words] + [True]))

    @cached_property
    def sections(self) -> list[Section]:
        """The tables that have rows, whatever is asked; on a page of one table that one."""
        pages = pages_count(self.kept_rows.bit_count())
        if self.question.page > pages:
            raise ParameterError("page", f"expected a number from 1 to {pages}", str(self.question.page))
        counts = [kept.rows.bit_count() for kept in self.kept]
        before = [sum(counts[:place]) for place in range(len(counts))]
        parts = zip(self.room.specs, self.kept, self.universes, before, strict=True)
        return [self._section(spec, kept, rows) for spec, kept, every, rows in parts if every or self.is_alone]

    @cached_property
    def kept(self) -> list[Kept]:
        """What each table keeps."""
        return [filters.keep(universe, self.tests) for universe in self.universes]

    @cached_property
    def kept_rows(self) -> Rows:
        """What all tables keep."""
        return reduce(or_, (kept.rows for kept in self.kept))

    @property
    def is_alone(self) -> bool:
        """The page has one table, which stands there also where it is empty."""
        return len(self.room.specs) == 1

    def _section(self, spec: TableSpec, kept: Kept, before: int) -> Section:
        chosen = self.question.columns
        columns = (
            tuple(column for column in spec.columns if column.code in (*chosen, ALWAYS_SHOWN)) if chosen else spec.usual
        )
        groups = grouped(self.shelf, kept.rows, self.question.sort, by_vendor=spec.is_by_vendor)
        shown = page_of(groups, self.question.page, before)
        rows = [row for group in shown for row in group.rows]
        tags_historical = not self.room.is_historical
        writer = RowWriter(self.shelf, columns, self.limits, rows, tags_historical=tags_historical)
        heads = [self._head(column) for column in columns]
        return Section(spec, heads, kept, shown, writer.table(shown))

    def _head(self, column: Column) -> Head:
        sort = self.question.sort
        is_sorted = sort.code == column.code
        falls = not sort.falls if is_sorted else column.falls_first
        asked = replace(self.question, sort=Sort(column.code, falls), page=1)
        aria_sort = ("descending" if sort.falls else "ascending") if is_sorted else ""
        return Head(column, self._unit(column), asked.address if column.is_sortable else "", aria_sort)

    def _unit(self, column: Column) -> str:
        if column.threshold_us is None:
            return column.unit
        limit_pct = self.limits.by_threshold.get(column.threshold_us)
        return f"limit {units.decimal(limit_pct)}{units.NBSP}%" if limit_pct is not None else "%, no limit"

    @cached_property
    def rows(self) -> list[int]:
        """Every row kept, of all pages, in the order they are shown."""
        rows: list[int] = []
        for spec, kept in zip(self.room.specs, self.kept, strict=True):
            groups = grouped(self.shelf, kept.rows, self.question.sort, by_vendor=spec.is_by_vendor)
            rows += [row for group in groups for row in group.rows]
        return rows

    @cached_property
    def reasons(self) -> list[Reason]:
        """Why rows are hidden, over all tables of the page."""
        merged: dict[str, Reason] = {}
        for reason in (reason for kept in self.kept for reason in kept.reasons):
            before = merged.get(reason.name, replace(reason, hidden=0, back=0))
            merged[reason.name] = replace(reason, hidden=before.hidden + reason.hidden, back=before.back + reason.back)
        return list(merged.values())

    @property
    def shown_sentence(self) -> str:
        """How many rows are shown, of how many."""
        kept, hidden = self.kept_rows.bit_count(), sum(each.hidden for each in self.kept)
        return f"{units.count(kept)} of {units.count(kept + hidden)} shown."

    @property
    def hidden_sentence(self) -> str:
        """How many rows are hidden; empty where none is."""
        hidden = sum(each.hidden for each in self.kept)
        return f"Hidden by your filter: {units.count(hidden)}, because " if hidden else ""

    @property
    def hidden_lines(self) -> list[tuple[str, str, str]]:
        """For each reason its words, and the link that lifts it; a link without text would bring no row back."""
        alone = len(self.reasons) == 1
        return [
            (
                reason.text if alone else f"{reason.text}: {units.count(reason.hidden)}",
                self._lift(reason, alone=alone),
                self.question.without(reason.name).address,
            )
            for reason in self.reasons
        ]

    @staticmethod
    def _lift(reason: Reason, *, alone: bool) -> str:
        if not reason.back:
            return ""
        others = " hidden for this alone" if reason.back < reason.hidden else ""
        return "Show them" if alone else f"show {units.count(reason.back)}{others}"

    @property
    def overlap_words(self) -> str:
        """That a row may have several reasons, where they sum to more than is hidden."""
        is_more = sum(reason.hidden for reason in self.reasons) > sum(each.hidden for each in self.kept)
        return "; a row may have more than one reason" if is_more else ""

    @property
    def everything_address(self) -> str:
        """The question that hides nothing; empty where one reason alone hides rows, or none."""
        return self.question.with_everything().address if len(self.reasons) > 1 else ""

    @property
    def limits_sentence(self) -> str:
        """How many rows pass under the limits, and what changed by them: also of those that only limits hide."""
        return limits_sentence(self.shelf, self.judged_rows, self.judge, self.limits)

    @cached_property
    def judged_rows(self) -> Rows:
        """The rows asked for, with those that only limits hide."""
        return reduce(and_, (test.kept for test in self.tests if test.name != "within"), self.universe)

    def as_form(self, form: str) -> str:
        """Return the address of the same rows in another form."""
        return replace(self.question, form=form, page=1).address

    @property
    def pages(self) -> list[tuple[int, str]]:
        """Number and address of each page; empty where one holds all."""
        count = pages_count(self.kept_rows.bit_count())
        first = replace(self.question, page=1).address  # a page is the last that an address of HTML names
        after = first if first == "?" else f"{first}&"
        return [(1, first), *((number, f"{after}page={number}") for number in range(2, count + 1))] if count > 1 else []

    @property
    def page_links(self) -> SafeString:
        """The links to them as HTML: fifty, and a template takes ten times as long for them."""
        links = (
            f'<a href="{escape(address)}"{CURRENT if number == self.question.page else ""}>{number}</a> '
            for number, address in self.pages
        )
        return mark_safe("".join(links))  # noqa: S308 - addresses are escaped above

    @property
    def profile_address(self) -> str:
        """The same question under the profile's limits."""
        parameters = {name: text for name, text in self.question.parameters.items() if not name.startswith("limit_")}
        return "?" + urlencode(parameters)


def context_of(page: DrivesPage) -> Mapping[str, Any]:
    """Return what the templates of a page of tables are given."""
    return {
        "section": "drives",
        "page": page,
        "limits": page.limits,
        "limits_sentence": page.limits_sentence,
        "profile_address": page.profile_address,
        "csv_address": page.as_form("csv"),
        "json_address": page.as_form("json"),
    }
