"""Every public result of the register as columns, read once for each state that the register is in.

A page asks the database one question: has anything changed? Where nothing has, what was read before is what it shows.
The answer is exact: each row's place and the transaction that wrote it are in it, so no change is missed or late.
"""

from collections.abc import Iterable
from threading import Lock
from typing import Any

from django.db import connection
from django.utils.text import slugify

from results.models import Run
from webapp.register import categories
from webapp.register.columns import Column, drive_order, notes_of, product_of, share_of
from webapp.register.drives.coded import Coding, Shelf
from webapp.register.drives.search import SEARCHED, names_of
from webapp.register.marks import TIERS_RISING, run_tier_mark
from webapp.register.tables import remarks_of
from webapp.templatetags import units

ROWS_STATE = "hashtidextended(ctid, hashint8extended(id, xmin::text::bigint))"
STATE_OF_REGISTER = f"""
SELECT md5(concat_ws(' ',
  (SELECT count(*) || ' ' || bit_xor({ROWS_STATE}) FROM results_run WHERE visibility <> 'unreviewed'),
  (SELECT count(*) || ' ' || bit_xor({ROWS_STATE}) FROM results_product),
  (SELECT count(*) || ' ' || bit_xor({ROWS_STATE}) FROM results_annotation),
  (SELECT max(id) FROM results_share),
  (SELECT max(id) FROM results_verdict)))
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
    verdicts = run.verdicts.all()
    return verdicts[0].outcome if verdicts else None


def _share(column: Column) -> Coding:
    def printed(run: Run) -> str:
        share = share_of(run, column.threshold_us or 0)
        return share.printed if share else ""

    return Coding(column.order, printed, value=lambda share_pct: int(share_pct * BILLIONTHS))


def _of(field: str) -> Coding:
    return Coding(lambda run: getattr(run, field) or None)


OWN = {
    "category": Coding(lambda run: product_of(run).category, option=str),
    "historical": Coding(lambda run: _yes_no(product_of(run).historical), option=str),
    "visibility": Coding(lambda run: run.visibility, option=str),
    "statistic": Coding(lambda run: run.statistic),
    "outcome": Coding(_outcome),
    "vendor": Coding(
        lambda run: product_of(run).vendor.casefold(), lambda run: product_of(run).vendor, option=slugify
    ),
    "model": Coding(lambda run: product_of(run).model.casefold(), lambda run: product_of(run).model),
    "part_number": Coding(lambda run: product_of(run).part_number or None),
    "notes": Coding(lambda run: "\n".join(notes_of(run)) or None),
    "tier": Coding(
        lambda run: (TIERS_RISING.index(run.tier), run_tier_mark(run).word), lambda run: run_tier_mark(run).word,
        option=tier_code,
    ),
    "device_count": Coding(lambda run: run.device_count, option=str),
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
    return Coding(column.order, column.text, **BESIDE.get(column.code, {}))


def fill(version: str, runs: Iterable[Run]) -> Shelf:
    """Return the columns of these runs."""
    rows = sorted(runs, key=lambda run: (drive_order(run), run.pk))
    remarks = {place: remarks_of(run) for place, run in enumerate(rows)}
    coded = {code: coding.code(rows) for code, coding in codings().items()}
    return Shelf(
        version=version,
        count=len(rows),
        runs=tuple(run.public_id for run in rows),
        slugs=tuple(product_of(run).slug for run in rows),
        columns=coded,
        names=names_of(tuple(coded[code].word(row) for code in SEARCHED) for row in range(len(rows))),
        remarks={
            place: [(remark.word, remark.text, remark.successor) for remark in said]
            for place, said in remarks.items()
            if said
        },
    )


_building = Lock()
_kept: list[Shelf] = []


def current_version() -> str:
    """Return what names the state that the register is in."""
    with connection.cursor() as cursor:
        cursor.execute(STATE_OF_REGISTER)
        return str(cursor.fetchone()[0])


def current_shelf() -> Shelf:
    """Return every public result as the register holds it now."""
    version = current_version()
    with _building:
        if not _kept or _kept[0].version != version:
            runs = Run.objects.public().rated().for_table().defer("facts", "source_row", "notes")
            _kept[:] = [fill(version, runs)]
        return _kept[0]
