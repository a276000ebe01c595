"""Every public result of the register as columns, read once for each state that the register is in.

A page asks the database one question: has anything changed? Where nothing has, what was read before is what it shows;
where something has, the rows that changed are read again and no other. The answer is exact: each row's place and the
transaction that wrote it are in it, so no change is missed or late. Where no transaction ended since it was last
worked out, it is what it was, and the tables are not looked at.
"""

from threading import Lock
from typing import Any

from django.db import connection
from django.utils.text import slugify

from results.models import Run
from webapp.register.drives.store.encoded_columns import Coding, Keyed, Shelf
from webapp.register.drives.store.row_reader import STANDS_IN_TABLES, RowReader, rows_state
from webapp.register.tables import categories
from webapp.register.tables.columns import Column, newest_verdict, notes_of, product_of, share_of, whole_device_tps
from webapp.register.tables.marks import TIERS_RISING, run_tier_word
from webapp.templatetags import units

STATE_OF_REGISTER = f"""
SELECT pg_current_snapshot()::text, pg_current_xact_id_if_assigned() IS NULL, CASE
  WHEN pg_current_snapshot()::text = %s AND pg_current_xact_id_if_assigned() IS NULL THEN NULL
  ELSE md5(concat_ws(' ',
    (SELECT {rows_state("run")} FROM results_run run WHERE {STANDS_IN_TABLES}),
    (SELECT {rows_state("product")} FROM results_product product),
    (SELECT {rows_state("note")} FROM results_annotation note),
    (SELECT {rows_state("share")} FROM results_share share),
    (SELECT {rows_state("verdict")} FROM results_verdict verdict)))
END
"""  # noqa: S608 - of constants
BANDS_TB = ((1, "to-1tb"), (2, "1-to-2tb"), (4, "2-to-4tb"), (8, "4-to-8tb"))  # a band holds its upper end
LARGEST_BAND = "over-8tb"
BILLIONTHS = 10**9


def band_of(capacity_gb: int) -> str:
    """Return the band of a capacity: its short code, which never changes."""
    return next((code for most_tb, code in BANDS_TB if capacity_gb <= most_tb * 1000), LARGEST_BAND)


def tier_code(word: str) -> str:
    """Return the tier of a tier's word: published, maker is published."""
    return word.partition(",")[0]


def _yes_no(is_so: bool | None) -> str | None:
    return None if is_so is None else ("yes" if is_so else "no")


def _compressible(run: Run) -> str | None:
    return _yes_no(None if run.compress_pct is None else run.compress_pct < 100)


def _over_provisioned(run: Run) -> str | None:
    """Yes by a percentage or a size; no only where it is stated as none."""
    if run.over_provisioning_pct or run.over_provisioned_to_gb:
        return "yes"
    return None if run.over_provisioning_pct is None else "no"


def _outcome(run: Run) -> str | None:
    verdict = newest_verdict(run)
    return verdict.outcome if verdict else None


def _decided_by_limits(run: Run) -> str | None:
    verdict = newest_verdict(run)
    return _yes_no(bool(verdict.is_decided_by_limits)) if verdict else None


def _share(column: Column) -> Coding:
    def pair(run: Run) -> Keyed | None:
        share = share_of(run, column.threshold_us or 0)
        return (share.share_pct, units.share(share.printed, share.over_count)) if share else None

    return Coding(column.order, pair=pair, value=lambda share_pct: int(share_pct * BILLIONTHS))


def _tier(run: Run) -> Keyed:
    word = run_tier_word(run)
    return (TIERS_RISING.index(run.tier), word), word


def _of(field: str) -> Coding:
    return Coding(lambda run: getattr(run, field) or None)


OWN = {
    "category": Coding(lambda run: product_of(run).category, option=str),
    "historical": Coding(lambda run: _yes_no(product_of(run).historical), option=str),
    "visibility": Coding(lambda run: run.visibility, option=str),
    "statistic": Coding(lambda run: run.statistic),
    "outcome": Coding(_outcome),
    "decided_by_limits": Coding(_decided_by_limits),
    "is_on_no_drive": Coding(lambda run: _yes_no(run.is_on_no_drive)),
    "vendor": Coding(
        lambda run: product_of(run).vendor.casefold(), lambda run: product_of(run).vendor, option=slugify
    ),
    "model": Coding(lambda run: product_of(run).model.casefold(), lambda run: product_of(run).model),
    "part_number": Coding(lambda run: product_of(run).part_number or None),
    "notes": Coding(lambda run: "\n".join(notes_of(run)) or None),
    "tier": Coding(lambda run: _tier(run)[0], pair=_tier, option=tier_code),
    "device_count": Coding(lambda run: run.device_count, option=str),
    "device_tps": Coding(whole_device_tps, text_of_key=units.count, value=int),
    "device_gb": Coding(lambda run: run.device_gb, lambda run: units.count(run.device_gb)),
    "compressible": Coding(_compressible, option=str),
    "over_provisioned": Coding(_over_provisioned, option=str),
}  # fmt: skip
BESIDE: dict[str, dict[str, Any]] = {
    "capacity_gb": {"value": int, "option_of_key": band_of},
    "tps": {"value": float},
    "endurance_dwpd": {"value": float},
    "sole_tenant": {"option": str},
    "protocol": {"option": slugify},
    "pcie_gen": {"option": str},
    "act_version": {"option": lambda version: version.partition(".")[0]},
}


def codings() -> dict[str, Coding]:
    """Return how each column is made, by its code: those of all tables, and those that are filtered by alone."""
    shown = {column.code: column for spec in categories.SPECS.values() for column in spec.columns}
    made = {code: _coding(column) for code, column in shown.items() if code != "drive"}
    return made | OWN


def _coding(column: Column) -> Coding:
    if column.threshold_us is not None:
        return _share(column)
    if column.kind == "computed":
        return Coding(column.order, text_of_key=units.decimal)
    return Coding(column.order, column.text, **BESIDE.get(column.code, {}))


_building = Lock()
_reader = RowReader(codings())
_kept: list[Shelf] = []
_known: list[tuple[str, str]] = [("", "")]  # what was visible to whoever asked last, and the version it is


def current_version() -> str:
    """Return what names the state that the register is in."""
    seen, version = _known[0]
    with connection.cursor() as cursor:
        cursor.execute(STATE_OF_REGISTER, [seen])
        now_seen, is_seen_by_all, changed = cursor.fetchone()
    if changed is None:
        return version
    if is_seen_by_all:  # what a transaction wrote itself may be rolled back, and its snapshot would not tell
        _known[0] = (str(now_seen), str(changed))
    return str(changed)


def current_shelf() -> Shelf:
    """Return every public result as the register holds it now.

    Who has to wait for another that reads it asks once more in which state the register is: it may have moved on.
    """
    kept, version = _kept[:1], current_version()
    if kept and kept[0].version == version:
        return kept[0]
    with _building:
        version = current_version()
        if not _kept or _kept[0].version != version:
            _kept[:] = [_reader.shelf(version)]
        return _kept[0]
