"""The page with the drives of all categories in one table, for readers who start from their load."""

from results.models import Category
from webapp.register.drives import filters
from webapp.register.drives.page import PageLayout
from webapp.register.tables import columns
from webapp.register.tables.categories import (
    BY_CHOICE,
    COMMON_NOTES,
    ENDURANCE_NOTE,
    EVERY_CLOUD_NOTES,
    SHARES,
    STATES_NOTE,
)
from webapp.register.tables.tables import TableSpec

NAME = "all"  # of the table, also in its exports
COLUMNS = (
    *(columns.DRIVE, columns.CATEGORY, columns.CAPACITY, columns.STORAGE, columns.SPEED, columns.DEVICES),
    *(columns.DEVICE_SPEED, *SHARES),
    *(columns.ENDURANCE, columns.NOTES, columns.ACT, columns.SOURCE, columns.TIER, columns.STARTED, columns.FIRMWARE),
)
NOTES = (*COMMON_NOTES, EVERY_CLOUD_NOTES[0], EVERY_CLOUD_NOTES[1], ENDURANCE_NOTE, STATES_NOTE)
# Shown by choice only: a desktop has no room for them next to the columns on devices.
LESS_NEEDED = frozenset({"storage", "endurance_dwpd", "act_version"})
SPEC = TableSpec(NAME, "Drives of all categories", COLUMNS, by_choice=BY_CHOICE | LESS_NEEDED, reading_notes=NOTES)
FILTERS = (filters.CATEGORY, filters.DEVICE_TPS, filters.DEVICES, *filters.OF_DRIVES)


def all_categories_layout() -> PageLayout:
    """Return the page of all categories, which shows historical products only on request."""
    return PageLayout(NAME, (SPEC,), FILTERS, categories=tuple(Category.values))
