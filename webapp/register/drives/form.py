"""The form above the tables of drives: its fields, what can be chosen in each, and what a script is told of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

from django.utils.html import json_script
from django.utils.safestring import SafeString, mark_safe

from results.models import Category
from webapp.register.drives.filters import CHOICE, Filter
from webapp.register.drives.page import COLUMNS_SIDE_BY_SIDE, DrivesPage, Room
from webapp.register.drives.query import ALWAYS_SHOWN, named_filters
from webapp.register.tables.columns import Column
from webapp.register.tables.meanings.drives import meaning_address
from webapp.register.tables.tables import GROUP_LABELS, TableSpec

INCLUDE_LABELS = {"historical": "historical", "withdrawn": "withdrawn", "superseded": "superseded"}


@dataclass(frozen=True)
class Option:
    """One thing that can be ticked."""

    code: str
    label: str
    is_chosen: bool


@dataclass(frozen=True)
class Field:
    """One filter in the form: options to tick, or a number to type."""

    name: str
    label: str
    unit: str
    text: str
    options: list[Option]
    is_hidden: bool = False

    @property
    def boxes(self) -> SafeString:
        """Its options as HTML."""
        return boxes(self.name, self.options)

    @property
    def picked(self) -> str:
        """What is ticked, or any."""
        return ", ".join(option.label for option in self.options if option.is_chosen) or "any"


@dataclass(frozen=True)
class DrivesForm:
    """The form of a page."""

    page: DrivesPage

    @property
    def fields(self) -> Iterable[Field]:
        """Every filter; one that would part none of the page's rows, and is not set, is hidden."""
        choices, numbers = dict(self.page.question.choices), dict(self.page.question.numbers)
        for each in self.page.room.filters:
            if each.kind != CHOICE:
                yield Field(each.name, each.label, each.unit, numbers.get(each.name, ""), [])
            else:
                options = self._options(each, choices.get(each.name, ()))
                parts_none = len(options) < 2 and each.name not in choices
                yield Field(each.name, each.label, "", "", options, is_hidden=parts_none)

    def _options(self, each: Filter, chosen: tuple[str, ...]) -> list[Option]:
        shelf, page = self.page.shelf, self.page
        every = shelf.remember(each.name, lambda: each.options(shelf))
        offered = shelf.remember((page.room.name, each.name), lambda: each.options(shelf, page.universe))
        return [
            Option(code, label, code in chosen) for code, label in every.items() if code in offered or code in chosen
        ]

    @property
    def column_boxes(self) -> SafeString:
        """The columns that can be shown, as HTML."""
        askable = self.page.room.askable(self.page.profile)
        chosen = self.page.question.columns or askable.usual
        options = [
            Option(column.code, _label(column), column.code in chosen)
            for column in askable.columns
            if column.code != ALWAYS_SHOWN
        ]
        return boxes("columns", options)

    @property
    def include_options(self) -> list[Option]:
        """The rows that are left out unless asked for."""
        included = self.page.question.included
        return [Option(name, INCLUDE_LABELS[name], name in included) for name in self.page.room.included]

    @property
    def named_sentence(self) -> str:
        """What is set, for the button that the filters fold behind."""
        return "Filter and limits: " + (", ".join(named_filters(self.page.question)) or "none set")

    @property
    def told_to_script(self) -> SafeString:
        """What the page's script works with beside the data file: the same whatever is asked, so written once."""
        key = ("told to script", self.page.room.name, self.page.profile)
        return self.page.shelf.remember(key, lambda: json_script(self._told_to_script(), "drives-page"))

    def _told_to_script(self) -> dict[str, Any]:
        room = self.page.room
        return {
            "version": self.page.shelf.version,
            "isHistorical": room.is_historical,
            "included": list(room.included),
            "filters": [_told_filter(each) for each in room.filters],
            "sections": [_told_section(spec, room) for spec in room.specs],
            "usual": room.askable(self.page.profile).usual,
            "groupLabels": GROUP_LABELS,
            "columnsSideBySide": COLUMNS_SIDE_BY_SIDE,
        }


def boxes(name: str, options: Iterable[Option]) -> SafeString:
    """Return options as boxes to tick; a form has a hundred, and a template takes five times as long for them."""
    written = (
        f'<label><input type="checkbox" name="{name}" value="{escape(option.code)}"'
        f"{' checked' if option.is_chosen else ''}>{escape(option.label)}</label>"
        for option in options
    )
    return mark_safe("".join(written))  # noqa: S308 - codes and labels are escaped above, names are our own


def _label(column: Column) -> str:
    head = f"Over {column.head}" if column.threshold_us and not column.head.startswith("Over") else column.head
    return f"{head} (computed)" if column.kind == "computed" else head


def _told_filter(each: Filter) -> dict[str, Any]:
    names = ("name", "column", "kind", "label", "subject", "unit", "scale", "labels")
    return {name: getattr(each, name) for name in names}


def _told_section(spec: TableSpec, room: Room) -> dict[str, Any]:
    names = ("code", "head", "kind", "unit", "group", "threshold_us", "falls_first", "is_sortable", "is_number")
    columns = [
        {name: getattr(column, name) for name in names}
        | {"is_usual": column in spec.usual, "meaning": meaning_address(column.code)}
        | ({"labels": dict(Category.choices)} if column.kind == "category" else {})
        for column in spec.columns
    ]
    told = {"code": spec.code, "title": spec.title, "isByVendor": spec.is_by_vendor, "sizeLabel": spec.size_label}
    return told | {"columns": columns, "categories": room.categories_of(spec)}
