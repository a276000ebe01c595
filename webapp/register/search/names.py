"""The names that a search field offers while a reader types: drives, then publications, claims, terms and pages."""

from django.urls import reverse

from webapp.register.drives.search import drive_name, found_slugs, lookup
from webapp.register.drives.store.encoded_columns import ColumnStore
from webapp.register.search.groups import entries_named
from webapp.templatetags import units

DRIVES_AT_MOST, OTHERS_AT_MOST = 6, 4
FEWEST_CHARACTERS = 2  # one letter is in nearly every name


def offered_names(store: ColumnStore, typed: str) -> list[dict[str, str]]:
    """Return the first names that match what was typed, each with its address. Current drives come first."""
    if len(typed) < FEWEST_CHARACTERS:
        return []
    rows, historical = store.rows_by_product, store.columns["historical"]
    slugs = sorted(found_slugs(store, lookup(store, typed)), key=lambda slug: historical.word(rows[slug][0]) == "yes")
    drives = [(_typed_name(store, rows[slug][0]), reverse("product", args=[slug])) for slug in slugs[:DRIVES_AT_MOST]]
    entries = sorted(entries_named(typed), key=lambda entry: len(entry.title))  # a short title is mostly what was typed
    others = [(entry.title, entry.address) for entry in entries[:OTHERS_AT_MOST]]
    return [{"name": name, "address": address} for name, address in drives + others]


def _typed_name(store: ColumnStore, row: int) -> str:
    """Return the name of a drive with the blanks that a keyboard types: browsers compare what was typed with it."""
    return drive_name(store, row).replace(units.NBSP, " ")
