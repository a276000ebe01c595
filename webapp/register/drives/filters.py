"""The filters of the tables of drives, the rows that pass them, and the reasons why others are hidden.

A row passes a filter if it has any of the chosen options; it is shown if it passes all filters. The codes of options
are made from the words themselves (intel, western-digital, 6, to-1tb) and never change, so that old links keep working.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce
from math import ceil, floor
from operator import and_

from results.models import Category
from results.rules.capacity import TOLERANCE_PCT, capacity_bound
from webapp.register.drives.store.encoded_columns import UNSTATED, ColumnStore, Rows
from webapp.register.tables.columns import share_code
from webapp.templatetags import units

CHOICE, LEAST, MOST = "choice", "least", "most"
BAND_LABELS = {
    "to-1tb": "up to 1 TB",
    "1-to-2tb": "1 to 2 TB",
    "2-to-4tb": "2 to 4 TB",
    "4-to-8tb": "4 to 8 TB",
    "over-8tb": "over 8 TB",
}
YES_NO = {"yes": "yes", "no": "no"}
TIER_LABELS = {name: name for name in ("published", "vendor-reported", "reviewed", "lab-verified")}


@dataclass(frozen=True)
class Filter:
    """One filter: its parameter, its column, and its texts.

    `kind` is CHOICE (of the column's options), LEAST or MOST (by the column's numbers; an address has them divided by
    `scale`, with at most `places` decimals). `labels` names fixed options; without it the options are named by the
    column's own words. `also_shows` are the codes of columns that a set filter shows next to its own. A row also
    passes if its number is beyond the requested one by at most `tolerance_pct`.
    """

    name: str
    column: str
    kind: str
    label: str
    subject: str
    unit: str = ""
    scale: int = 1
    places: int = 4
    largest: int = 10**12
    example: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    also_shows: tuple[str, ...] = ()
    tolerance_pct: int = 0

    @property
    def unit_words(self) -> str:
        """Return the unit with the tolerance of the filter, as a field states them."""
        tolerance = f" \N{PLUS-MINUS SIGN}{self.tolerance_pct} %" if self.tolerance_pct else ""
        return f"{self.unit}{tolerance}".replace(" ", units.NBSP)

    @property
    def expected(self) -> str:
        """Return what a number of the filter may be, with an example, for an error message."""
        words = "percentage from 0 to 100" if self.unit == "%" else f"number from 0 to {self.largest:,} {self.unit}"
        return f"expected a {words}, for example {self.example}"

    @property
    def shows(self) -> tuple[str, ...]:
        """Return the codes of the columns that a set filter shows."""
        return (self.column, *self.also_shows)

    def counts(self, store: ColumnStore, rows: Rows) -> Counter[str]:
        """Return the number of these rows for each option."""
        encoded = store.columns[self.column]
        found: Counter[str] = Counter()
        for option, having in zip((*encoded.options, UNSTATED), encoded.sets, strict=True):
            found[option] += (having & rows).bit_count()
        return found

    def options(self, store: ColumnStore, rows: Rows | None = None) -> dict[str, str]:
        """Return the label of each option by its code: for the whole register, or for some of its rows."""
        encoded = store.columns[self.column]
        used = [rows is None or bool(having & rows) for having in encoded.sets]
        codes = [code for code, is_used in enumerate(used[:-1]) if is_used]
        words = {encoded.options[code]: encoded.words[code] for code in codes}
        present = {option: self.labels.get(option) or word for option, word in words.items()}
        fixed = {code: label for code, label in self.labels.items() if code in present or rows is None}
        return (fixed or present) | ({UNSTATED: "not reported"} if used[-1] else {})


def _share_filter(threshold_us: int) -> Filter:
    threshold = units.threshold(threshold_us).replace(units.NBSP, " ")
    name = share_code(threshold_us).replace("pct_over_", "max_")
    subject = f"share over {threshold}"
    label = f"Over {threshold}, at most"
    return Filter(name, share_code(threshold_us), MOST, label, subject, "%", 10**9, 9, 100, "0.5")


CATEGORY = Filter("category", "category", CHOICE, "Category", "category", labels=dict(Category.choices))
VENDOR = Filter("vendor", "vendor", CHOICE, "Vendor", "vendor")
PROVIDER = Filter("provider", "vendor", CHOICE, "Provider", "provider")
CAPACITY = Filter("capacity", "capacity_gb", CHOICE, "Capacity class", "capacity", labels=BAND_LABELS)
_capacity_side = partial(
    Filter,
    column="total_gb",
    subject="capacity",
    unit="TB",
    scale=1000,
    places=3,
    largest=10**6,
    example="6.4 TB or 800 GB",
    tolerance_pct=TOLERANCE_PCT,
)
CAPACITY_RANGE = (
    _capacity_side("min_tb", kind=LEAST, label="Capacity, from"),
    _capacity_side("max_tb", kind=MOST, label="Capacity, to"),
)
_speed = partial(Filter, kind=LEAST, unit="tps", example="500k or 1,500,000")
TPS = _speed("min_tps", "tps", label="Speed, at least", subject="speed")
DEVICE_TPS = _speed("min_device_tps", "device_tps", label="One device, at least", subject="speed of one device")
# On pages that also filter by the speed of one device.
TPS_TOGETHER = replace(TPS, label="All devices together, at least")
SHARES = tuple(_share_filter(threshold_us) for threshold_us in (1_000, 8_000, 64_000))
DWPD = Filter(
    "min_dwpd",
    "endurance_dwpd",
    LEAST,
    "Endurance, at least",
    "endurance",
    "DWPD",
    largest=10**6,
    example="3 or 0.8",
    also_shows=("sustained_tps",),
)
PCIE = Filter("pcie", "pcie_gen", CHOICE, "PCIe generation", "PCIe generation")
PROTOCOL = Filter("protocol", "protocol", CHOICE, "Protocol", "protocol")
TENANCY = Filter("sole_tenant", "sole_tenant", CHOICE, "Sole tenant", "sole tenancy", labels=YES_NO)
DEVICES = Filter("devices", "device_count", CHOICE, "Devices", "number of devices")
ACT = Filter(
    "act", "act_version", CHOICE, "ACT version", "ACT version", labels={code: f"{code}.x" for code in "123456789"}
)
TIER = Filter("tier", "tier", CHOICE, "Tier", "tier", labels=TIER_LABELS)
COMPRESSIBLE = Filter("compressible", "compressible", CHOICE, "Compressible data", "compressible data", labels=YES_NO)
OVER_PROVISIONED = Filter(
    "over_provisioned", "over_provisioned", CHOICE, "Over-provisioned", "over-provisioning", labels=YES_NO
)
OVER_RATING = Filter(
    "over_rating",
    "over_rating",
    CHOICE,
    "Tested speed",
    "tested speed",
    labels={"yes": "over the endurance rating", "no": "within the endurance rating"},
    also_shows=("endurance_dwpd", "sustained_tps"),
)
ALWAYS = (*SHARES, ACT, TIER, COMPRESSIBLE)
OF_DRIVES = (
    VENDOR,
    *CAPACITY_RANGE,
    CAPACITY,
    TPS,
    *SHARES,
    DWPD,
    OVER_RATING,
    PCIE,
    ACT,
    TIER,
    COMPRESSIBLE,
    OVER_PROVISIONED,
)
OF_NETWORKED = (VENDOR, PROTOCOL, TPS, *ALWAYS, OVER_PROVISIONED)
OF_CLOUD = (PROVIDER, TENANCY, DEVICES, *CAPACITY_RANGE, DEVICE_TPS, TPS_TOGETHER, *ALWAYS)
BY_NAME = {each.name: each for each in (CATEGORY, *OF_CLOUD, *OF_NETWORKED, *OF_DRIVES)}


@dataclass(frozen=True)
class Test:
    """One requirement: the rows that meet it, and the text of the reason for those that do not."""

    name: str
    text: str
    rows: Rows


def choice_test(chosen: Filter, codes: Sequence[str], store: ColumnStore) -> Test:
    """Return the test for one of several options."""
    encoded = store.columns[chosen.column]
    wanted = [option in codes for option in encoded.options] + [UNSTATED in codes]
    labels = chosen.options(store)
    names = " or ".join(labels[code] for code in codes)
    return Test(chosen.name, f"{chosen.subject} is not {names}", encoded.having(wanted))


def number_test(chosen: Filter, text: str, store: ColumnStore) -> Test:
    """Return the test for a number that is at least, or at most, as large as requested; a missing one fails."""
    encoded, bound = store.columns[chosen.column], bound_of(chosen, text)
    passes = encoded.stated & ~encoded.below(bound) if chosen.kind == LEAST else encoded.up_to(bound)
    side = "below" if chosen.kind == LEAST else "over"
    by = f" by more than {chosen.tolerance_pct} %" if chosen.tolerance_pct else ""
    reason = f"{chosen.subject} is {side} {units.decimal(Decimal(text))} {chosen.unit}{by} or not reported"
    return Test(chosen.name, reason, passes)


def bound_of(chosen: Filter, text: str) -> float:
    """Return the number of a filter in the unit of its column, which has whole numbers if it has a scale.

    It is rounded so that no row passes that is beyond the number and its tolerance. static/js/drives/filters.js does
    the same.
    """
    requested = Decimal(text) * chosen.scale
    if chosen.tolerance_pct:
        return capacity_bound(Fraction(requested), is_least=chosen.kind == LEAST)
    if chosen.scale == 1:
        return float(requested)
    return ceil(requested) if chosen.kind == LEAST else floor(requested)


def rows_that_pass(universe: Rows, tests: Iterable[Test]) -> Rows:
    """Return the rows that pass every test."""
    return reduce(and_, (test.rows for test in tests), universe)


def reasons_of(universe: Rows, tests: Sequence[Test]) -> list[tuple[Test, int, int]]:
    """Return each test that hides rows, how many it hides, and how many of them no other test hides."""
    return [
        (test, hidden.bit_count(), rows_that_pass(hidden, [each for each in tests if each is not test]).bit_count())
        for test in tests
        if (hidden := universe & ~test.rows)
    ]
