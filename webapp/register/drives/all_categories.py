"""One list of the drives of all categories: the answer to what holds a load, whatever it is."""

from results.models import Category
from webapp.register.drives import filters
from webapp.register.drives.page import Room
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

NAME = "all"  # of the one table, as rows of it are exported
COLUMNS = (
    *(columns.DRIVE, columns.CATEGORY, columns.CAPACITY, columns.STORAGE, columns.SPEED, columns.DEVICES),
    *(columns.DEVICE_SPEED, *SHARES),
    *(columns.ENDURANCE, columns.NOTES, columns.ACT, columns.SOURCE, columns.TIER, columns.STARTED, columns.FIRMWARE),
)
NOTES = (*COMMON_NOTES, EVERY_CLOUD_NOTES[0], EVERY_CLOUD_NOTES[1], ENDURANCE_NOTE, STATES_NOTE)
# By choice what a desktop has no room for beside devices and the speed of one; notes warn, and always stand.
LESS_ASKED = frozenset({"storage", "endurance_dwpd", "act_version"})
SPEC = TableSpec(NAME, "Drives of all categories", COLUMNS, by_choice=BY_CHOICE | LESS_ASKED, reading_notes=NOTES)
FILTERS = (filters.CATEGORY, filters.DEVICE_TPS, filters.DEVICES, *filters.OF_DRIVES)


def every_room() -> Room:
    """Return the page of all categories; what is historical is left out unless asked for."""
    return Room(NAME, (SPEC,), FILTERS, categories=tuple(Category.values))
