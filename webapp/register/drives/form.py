"""The form above the tables of drives: its fields, their options, and the data that the page's script needs."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from html import escape
from typing import Any

from django.utils.html import json_script
from django.utils.safestring import SafeString, mark_safe

from results.models import Category
from webapp.register.drives.filters import CATEGORY, CHOICE, TPS_TOGETHER, Filter
from webapp.register.drives.layouts import ALWAYS_SHOWN, PageLayout
from webapp.register.drives.page import COLUMNS_SIDE_BY_SIDE, HIDDEN_BECAUSE, DrivesPage
from webapp.register.drives.query import active_filters
from webapp.register.drives.store.ranking import current_rows
from webapp.register.tables.columns import Column
from webapp.register.tables.groups import BANDS
from webapp.register.tables.sentences import HOW
from webapp.register.tables.tables import GROUP_LABELS, TableSpec
from webapp.templatetags import units

# The filters that most readers need; the others are behind "More filters", so that results are not far below.
ALWAYS_VISIBLE = {
    *("category", "vendor", "provider", "min_tb", "max_tb"),
    *("min_tps", "min_device_tps", "max_1ms", "min_dwpd"),
}

Option = tuple[str, str, bool]  # code and label of one thing that can be ticked, and whether it is


def form_context(page: DrivesPage) -> dict[str, Any]:
    """Return the form of a page. The data of its script is the same for all queries, so it is made once."""
    key, fields = ("script data", page.layout.name, page.profile), list(_fields(page))
    set_names = {*dict(page.query.choices), *dict(page.query.numbers)}
    # In a table of all categories, the speed of one device is the one that compares.
    visible = ALWAYS_VISIBLE - {TPS_TOGETHER.name} if CATEGORY in page.layout.filters else ALWAYS_VISIBLE
    return {
        "fields": [field for field in fields if field["name"] in visible],
        "more_fields": [field for field in fields if field["name"] not in visible],
        "has_more_set": bool(set_names - visible or page.query.included),
        "column_boxes": _column_boxes(page),
        "filters_sentence": filters_sentence(len(active_filters(page.query)), page.filtered_rows.bit_count()),
        "script_data": page.store.cached(key, lambda: json_script(_script_data(page), "drives-page")),
    }


def filters_sentence(number: int, results: int) -> str:
    """Return how many filters and limits are set, and how many results match; tables.js has the same.

    >>> filters_sentence(0, 1), filters_sentence(2, 7)
    ('Filter and limits: none, 1 result', 'Filter and limits: 2 set, 7 results')
    """
    return f"Filter and limits: {f'{number} set' if number else 'none'}, {units.counted(results, 'result')}"


def _fields(page: DrivesPage) -> Iterable[dict[str, Any]]:
    """Yield every filter: options to tick, or a number to type.

    A filter that is not set and would hide no row of the page is hidden.
    """
    choices, numbers = dict(page.query.choices), dict(page.query.numbers)
    for each in page.layout.filters:
        text = numbers.get(each.name, "")
        field: dict[str, Any] = {"name": each.name, "label": each.label, "unit": each.unit_words, "text": text}
        field["size"] = 6 if each.tolerance_pct else 8  # all fields of a list fit in one line
        if each.kind == CHOICE:
            options = _options(page, each, choices.get(each.name, ()))
            field["boxes"] = boxes(each.name, options, _counts(page, each))
            field["picked"] = ", ".join(label for _, label, is_chosen in options if is_chosen) or "any"
            field["is_hidden"] = len(options) < 2 and each.name not in choices
        yield field


def chosen_categories(page: DrivesPage) -> str:
    """Return the chosen categories in words; empty for all categories."""
    chosen = dict(page.query.choices).get(CATEGORY.name, ())
    return ", ".join(label for _, label, is_chosen in _options(page, CATEGORY, chosen) if is_chosen)


def _options(page: DrivesPage, each: Filter, chosen: tuple[str, ...]) -> list[Option]:
    store = page.store
    known = store.cached(each.name, lambda: each.options(store))
    offered = store.cached((page.layout.name, each.name), lambda: each.options(store, page.universe))
    return [(code, label, code in chosen) for code, label in known.items() if code in offered or code in chosen]


def _counts(page: DrivesPage, each: Filter) -> dict[str, int]:
    """Return for each option of a filter how many rows of the page have it, without any filter."""
    key = (page.layout.name, each.name, "counts")
    return page.store.cached(key, lambda: each.counts(page.store, page.default_rows & current_rows(page.store)))


def _column_boxes(page: DrivesPage) -> SafeString:
    """Return the columns to choose from, as HTML."""
    chosen = page.query.columns or page.layout.usual
    columns = [column for column in page.layout.columns if column.code != ALWAYS_SHOWN]
    return boxes("columns", [(column.code, _label(column), column.code in chosen) for column in columns])


def _script_data(page: DrivesPage) -> dict[str, Any]:
    """Return the page's layout for its script."""
    layout = page.layout
    return {
        "version": page.store.version,
        "isHistorical": layout.is_historical,
        "included": list(layout.included),
        "loads": list(layout.loads),
        "defaultSort": layout.default_sort.parameter,
        "hasOnlyInstances": layout.has_only_instances,
        "hasInstances": layout.has_instances,
        "deviceUnit": layout.device_unit,
        "filters": [asdict(each) | {"shows": each.shows, "expected": each.expected} for each in layout.filters],
        "sections": [_section_data(spec, layout) for spec in layout.specs],
        "usual": layout.usual,
        "groupLabels": GROUP_LABELS,
        "hiddenBecause": HIDDEN_BECAUSE,
        "statistics": [{"code": code, "how": how} for code, how in HOW.items()],
        "bands": [asdict(band) | {"code": band.code} for band in BANDS],
        "columnsSideBySide": COLUMNS_SIDE_BY_SIDE,
    }


def boxes(name: str, options: Iterable[Option], counts: Mapping[str, int] | None = None) -> SafeString:
    """Return options as check boxes, with the number of rows of each if `counts` are given.

    A form has a hundred, and a template takes five times as long for them.
    """
    written = (
        f'<label><input type="checkbox" name="{name}" value="{escape(code)}"'
        f"{' checked' if is_chosen else ''}>{escape(label)}"
        + ("" if counts is None else f' <span class="sub">({units.count(counts.get(code, 0))})</span>')
        + "</label>"
        for code, label, is_chosen in options
    )
    return mark_safe("".join(written))  # noqa: S308 - codes and labels are escaped above, names are our own


def _label(column: Column) -> str:
    return f"{column.head} (computed)" if column.kind == "computed" else column.head


def _section_data(spec: TableSpec, layout: PageLayout) -> dict[str, Any]:
    names = ("code", "kind", "group", "threshold_us", "falls_first")
    columns = [
        {name: getattr(column, name) for name in names}
        | {"is_usual": column in spec.usual}
        | ({"labels": dict(Category.choices)} if column.kind == "category" else {})
        for column in spec.columns
    ]
    data = {"code": spec.code, "title": spec.title, "sizeLabel": spec.size_label}
    return data | {"columns": columns, "categories": layout.categories_of(spec)}
