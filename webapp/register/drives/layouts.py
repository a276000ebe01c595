"""The layouts of the pages of drives: one per category, one of all categories, and one of historical products."""

from dataclasses import dataclass, replace

from results.models import Category
from results.models.categories import SYSTEMS
from webapp.register.drives import filters
from webapp.register.drives.filters import Filter
from webapp.register.tables import columns
from webapp.register.tables.categories import (
    BY_CHOICE,
    COMMON_NOTES,
    ENDURANCE_NOTE,
    SHARES,
    STATES_NOTE,
    historical_spec,
)
from webapp.register.tables.columns import Column
from webapp.register.tables.parameters import FASTEST_FIRST, Sort
from webapp.register.tables.tables import TableSpec

INCLUDED = ("historical", "withdrawn", "superseded")
ALWAYS_SHOWN = "drive"
LOADS = (filters.TPS.name, filters.DEVICE_TPS.name)
# Rows are ranked by one device: a phone always shows its speed, and that of the whole instance next to the devices.
WHOLE_SPEED = replace(columns.SPEED, kind="number", group="device")
RANKED_SPEED = replace(columns.DEVICE_SPEED, kind="speed", group="")
ALL_COLUMNS = (
    *(columns.DRIVE, columns.CATEGORY, columns.TOTAL_CAPACITY, columns.STORAGE, WHOLE_SPEED, columns.DEVICES),
    *(RANKED_SPEED, *SHARES),
    *(columns.ENDURANCE, columns.SUSTAINED, columns.NOTES, columns.ACT, columns.SOURCE, columns.TIER),
    *(columns.STARTED, columns.FIRMWARE),
)
ALL_NOTES = (*COMMON_NOTES, ENDURANCE_NOTE, STATES_NOTE)
# Shown by choice only: a desktop has no room for them next to the columns on devices.
LESS_NEEDED = frozenset({"storage", "endurance_dwpd", "sustained_tps", "act_version"})
ALL = TableSpec(
    "all", "Drives of all categories", ALL_COLUMNS, by_choice=BY_CHOICE | LESS_NEEDED, reading_notes=ALL_NOTES
)
ALL_FILTERS = (
    *(filters.CATEGORY, filters.DEVICE_TPS, filters.DEVICES),
    *(filters.TPS_TOGETHER if each is filters.TPS else each for each in filters.OF_DRIVES),
)
# Columns that had another code on a page: old addresses keep their meaning.
RENAMED_COLUMNS = {"capacity_gb": "total_gb"}


@dataclass(frozen=True)
class PageLayout:
    """The layout of a page: its name, tables and filters, and which kinds of rows it hides by default."""

    name: str
    specs: tuple[TableSpec, ...]
    filters: tuple[Filter, ...]
    included: tuple[str, ...] = INCLUDED
    is_historical: bool = False
    categories: tuple[str, ...] = ()  # of its one table, if that has several

    def current_code(self, code: str) -> str:
        """Return the code that a column has today; unknown codes unchanged."""
        known = {column.code for column in self.columns}
        renamed = RENAMED_COLUMNS.get(code, code)
        return renamed if code not in known and renamed in known else code

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return every column of its tables, once."""
        return tuple({column.code: column for spec in self.specs for column in spec.columns}.values())

    @property
    def plotted_unit(self) -> str:
        """Return the word for what the charts of the page plot the speed of."""
        if len(self.listed) > 1:
            return "drive or instance"
        return {Category.CLOUD: "whole instance", Category.NETWORKED: "system"}.get(Category(*self.listed), "drive")

    @property
    def loads(self) -> tuple[str, ...]:
        """Return the filters whose speed is one of the charts' axis: that of a whole system, or of one drive."""
        return LOADS[:1] if self.listed <= set(SYSTEMS) else LOADS

    @property
    def default_sort(self) -> Sort:
        """Return the order of an address without `sort`. With all categories, rows are ranked by one device."""
        return Sort(columns.DEVICE_SPEED.code, falls=True) if self.categories else FASTEST_FIRST

    @property
    def listed(self) -> set[str]:
        """Return the categories that the page lists."""
        return {category for spec in self.specs for category in self.categories_of(spec)}

    @property
    def has_only_instances(self) -> bool:
        """Return whether the page lists only cloud instances."""
        return self.listed == {Category.CLOUD.value}

    @property
    def has_instances(self) -> bool:
        """Return whether the page lists cloud instances, also if it lists drives as well."""
        return Category.CLOUD.value in self.listed

    @property
    def device_unit(self) -> str:
        """Return the word for what the charts plot the speed of if they plot one device of each instance."""
        return "device of an instance" if self.has_only_instances else "drive or device"

    def categories_of(self, spec: TableSpec) -> tuple[str, ...]:
        """Return the categories whose rows one of its tables lists."""
        return self.categories or (spec.code,)

    @property
    def usual(self) -> tuple[str, ...]:
        """Return the codes of the default columns, without the drive's name, which is always shown."""
        usual = {column.code for spec in self.specs for column in spec.usual} - {ALWAYS_SHOWN}
        return tuple(column.code for column in self.columns if column.code in usual)


def category_layout(spec: TableSpec) -> PageLayout:
    """Return the layout of a category's page."""
    of_category = {Category.CLOUD: filters.OF_CLOUD, Category.NETWORKED: filters.OF_NETWORKED}
    return PageLayout(spec.code, (spec,), of_category.get(Category(spec.code), filters.OF_DRIVES))


HISTORICAL_LAYOUT = PageLayout(
    "historical", tuple(map(historical_spec, Category)), filters.OF_DRIVES, INCLUDED[1:], is_historical=True
)
# It shows historical products only on request.
ALL_CATEGORIES_LAYOUT = PageLayout(ALL.code, (ALL,), ALL_FILTERS, categories=tuple(Category.values))
