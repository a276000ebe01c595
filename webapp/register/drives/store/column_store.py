"""All public results of the register as columns in memory, read again only when the register has changed.

Each page runs one query: has anything changed? If not, the columns in memory are current; otherwise only the changed
rows are read. Triggers record each change (results/lifecycle/listing_changes.py), so the query reads a small table. The
columns of a large register are also in a file, from which a new process starts.
"""

import ctypes
from contextlib import suppress
from threading import Lock
from typing import Any

from django.utils.text import slugify

from results.lifecycle.listing_changes import ListingState, current_state, current_version
from results.models import Run
from results.rules.act.comparison_groups import is_compressible
from webapp.register.drives.store import saved_store
from webapp.register.drives.store.encoded_columns import BILLIONTHS, ColumnEncoding, ColumnStore, SortedText
from webapp.register.drives.store.row_reader import RowReader
from webapp.register.tables import categories
from webapp.register.tables.columns import (
    SUSTAINED,
    Column,
    newest_verdict,
    notes_of,
    product_of,
    ranked_tps,
    share_of,
    tested_gb,
    total_gb,
    whole_device_tps,
)
from webapp.register.tables.groups import group_of
from webapp.register.tables.marks import TIERS_RISING, run_tier_word, tier_code
from webapp.templatetags import units

BANDS_TB = ((1, "to-1tb"), (2, "1-to-2tb"), (4, "2-to-4tb"), (8, "4-to-8tb"))  # a band includes its upper end
LARGEST_BAND = "over-8tb"


def band_of(capacity_gb: int) -> str:
    """Return the code of a capacity's band. Codes never change."""
    return next((code for most_tb, code in BANDS_TB if capacity_gb <= most_tb * 1000), LARGEST_BAND)


def _yes_no(is_so: bool | None) -> str | None:
    return None if is_so is None else ("yes" if is_so else "no")


def _compressible(run: Run) -> str | None:
    return _yes_no(None if run.compress_pct is None else is_compressible(run.compress_pct))


def _over_provisioned(run: Run) -> str | None:
    """Return yes for a percentage or a size, no only if over-provisioning is stated as none."""
    if run.over_provisioning_pct or run.over_provisioned_to_gb:
        return "yes"
    return None if run.over_provisioning_pct is None else "no"


def _over_rating(run: Run) -> str | None:
    """Return whether the tested speed exceeds the speed that the rating sustains, as tables print it; None if unknown.

    It decides as `sustaining_rows` does, which counts for sentences.
    """
    sustained, tested = SUSTAINED.order(run), ranked_tps(run)
    is_known = sustained is not None and tested and not run.is_on_no_drive
    return _yes_no(tested > sustained) if is_known else None


def _mix(run: Run) -> SortedText | None:
    """Return the reads and the writes a second, if the source reports both."""
    mix = (run.reads_per_s, run.writes_per_s)
    return (mix, " ".join(map(str, mix))) if run.is_mix_reported else None


def _outcome(run: Run) -> str | None:
    verdict = newest_verdict(run)
    return verdict.outcome if verdict else None


def _decided_by_limits(run: Run) -> str | None:
    verdict = newest_verdict(run)
    return _yes_no(bool(verdict.is_decided_by_limits)) if verdict else None


def _share(column: Column) -> ColumnEncoding:
    def pair(run: Run) -> SortedText | None:
        share = share_of(run, column.threshold_us or 0)
        return (share.share_pct, units.share(share.printed, share.over_count)) if share else None

    return ColumnEncoding(column.order, pair=pair, value=lambda share_pct: int(share_pct * BILLIONTHS))


def _tier(run: Run) -> SortedText:
    word = run_tier_word(run)
    return (TIERS_RISING.index(run.tier), word), word


OWN = {
    "category": ColumnEncoding(lambda run: product_of(run).category, option=str),
    "historical": ColumnEncoding(lambda run: _yes_no(product_of(run).historical), option=str),
    "visibility": ColumnEncoding(lambda run: run.visibility, option=str),
    "statistic": ColumnEncoding(lambda run: run.statistic),
    "comparison_group": ColumnEncoding(lambda run: group_of(run).code),
    "outcome": ColumnEncoding(_outcome),
    "decided_by_limits": ColumnEncoding(_decided_by_limits),
    "is_on_no_drive": ColumnEncoding(lambda run: _yes_no(run.is_on_no_drive)),
    "vendor": ColumnEncoding(
        lambda run: product_of(run).vendor.casefold(), lambda run: product_of(run).vendor, option=slugify
    ),
    "model": ColumnEncoding(lambda run: product_of(run).model.casefold(), lambda run: product_of(run).model),
    "part_number": ColumnEncoding(lambda run: product_of(run).part_number or None),
    "notes": ColumnEncoding(lambda run: "\n".join(notes_of(run)) or None),
    "tier": ColumnEncoding(lambda run: _tier(run)[0], pair=_tier, option=tier_code),
    "device_count": ColumnEncoding(lambda run: run.device_count, option=str),
    "device_tps": ColumnEncoding(whole_device_tps, text_of_key=units.count, value=int),
    "device_gb": ColumnEncoding(lambda run: run.device_gb, lambda run: units.count(run.device_gb)),
    "total_gb": ColumnEncoding(total_gb, text_of_key=units.capacity, value=int),
    "compressible": ColumnEncoding(_compressible, option=str),
    "over_provisioned": ColumnEncoding(_over_provisioned, option=str),
    "over_rating": ColumnEncoding(_over_rating, option=str),
    "mix": ColumnEncoding(_mix, pair=_mix),
    "tested_gb": ColumnEncoding(tested_gb, value=int),
}  # fmt: skip
EXTRA_OPTIONS: dict[str, dict[str, Any]] = {
    "capacity_gb": {"value": int, "option_of_key": band_of},
    "tps": {"value": float},
    "endurance_dwpd": {"value": float},
    "sole_tenant": {"option": str},
    "protocol": {"option": slugify},
    "pcie_gen": {"option": str},
    "act_version": {"option": lambda version: version.partition(".")[0]},
}


def column_encodings() -> dict[str, ColumnEncoding]:
    """Return the encoding of each column by its code: the columns of all tables, and those used only by filters."""
    shown = {column.code: column for spec in categories.SPECS.values() for column in spec.columns}
    made = {code: _coding(column) for code, column in shown.items() if code != "drive"}
    return made | OWN


def _coding(column: Column) -> ColumnEncoding:
    if column.threshold_us is not None:
        return _share(column)
    if column.kind == "computed":
        return ColumnEncoding(column.order, text_of_key=units.decimal)
    return ColumnEncoding(column.order, column.text, **EXTRA_OPTIONS.get(column.code, {}))


_building = Lock()
_current: list[ColumnStore] = []
_reader: list[RowReader] = []  # of a small register; that of a large one is read from its file when it is needed


def current_store() -> ColumnStore:
    """Return all public results in their present state.

    A thread that waited for another one's read checks the version again, because the register may have changed.
    """
    current, version = _current[:1], current_version()
    if current and current[0].version == version:
        return current[0]
    del current  # it would keep the memory of the earlier state
    with _building:
        state = current_state()
        if not _current or _current[0].version != state.version:
            earlier = [*_current]
            _current[:] = [_read_store(state)]
            while earlier:  # no variable keeps the earlier state
                earlier.pop().forget_results()
            if not _reader:  # a large register, whose update has freed the most
                return_freed_memory()
        return _current[0]


def return_freed_memory() -> None:
    """Return to the system what this process has freed, if its C library can: 50 MB after a change at 100,000 runs."""
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def prepare_file() -> None:
    """Write the column file of this release for a large register, so that the first page after an upgrade is fast."""
    if Run.objects.count() >= saved_store.SAVED_FROM_ROWS:
        current_store()


def _read_store(state: ListingState) -> ColumnStore:
    """Return the store of a state: from the file of this machine if that has it, otherwise with the changed rows read.

    One process of the machine reads changed rows at a time; the others then find its file.
    """
    if _reader:
        return _updated(_reader[0], state)
    encodings = column_encodings()
    if store := saved_store.load_store(encodings, state):
        return store
    with saved_store.writing():
        state = current_state()
        if store := saved_store.load_store(encodings, state):
            return store
        return _updated(saved_store.load_reader(encodings) or RowReader(encodings), state)


def _updated(reader: RowReader, state: ListingState) -> ColumnStore:
    """Return the store of a state, and keep its reader: in the file if there are many rows, otherwise in memory."""
    store = reader.updated(state)
    is_in_file = store.count >= saved_store.SAVED_FROM_ROWS and saved_store.save(reader, store)
    _reader[:] = [] if is_in_file else [reader]
    return store
