"""The filters of the tables of drives: what may be asked, what an answer keeps, and why it leaves rows out.

Inside one filter any choice will do, between filters all must hold. Codes of choices are made of the words themselves
(intel, western-digital, 6, to-1tb) and never change: an old address asks the same question for ever.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from results.models import Category
from webapp.register.drives.store.encoded_columns import UNSTATED, Coded, Rows, Shelf
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
    """One filter: its parameter, the column it looks at, and how it is said.

    `kind`: CHOICE of the column's options, LEAST or MOST by the column's numbers, which an address gives divided by
    `scale`. `labels` names the options where they are fixed; elsewhere they are the column's own words.
    """

    name: str
    column: str
    kind: str
    label: str
    subject: str
    unit: str = ""
    scale: int = 1
    labels: dict[str, str] = field(default_factory=dict)

    def options(self, shelf: Shelf, rows: Rows | None = None) -> dict[str, str]:
        """Return code -> label of what can be chosen: of the whole register, or of some of its rows."""
        coded = shelf.columns[self.column]
        used = [rows is None or bool(having & rows) for having in coded.sets]
        present = {coded.options[code]: self._label(coded, code) for code, is_used in enumerate(used[:-1]) if is_used}
        fixed = {code: label for code, label in self.labels.items() if code in present or rows is None}
        return (fixed or present) | ({UNSTATED: "not stated"} if used[-1] else {})

    def _label(self, coded: Coded, code: int) -> str:
        option = coded.options[code]
        return self.labels.get(option) or coded.words[code]


def _share_filter(threshold_us: int) -> Filter:
    threshold = units.threshold(threshold_us).replace(units.NBSP, " ")
    name = share_code(threshold_us).replace("pct_over_", "max_")
    subject = f"share over {threshold}"
    return Filter(name, share_code(threshold_us), MOST, f"Over {threshold}, at most", subject, "%", 10**9)


CATEGORY = Filter("category", "category", CHOICE, "Category", "category", labels=dict(Category.choices))
VENDOR = Filter("vendor", "vendor", CHOICE, "Vendor", "vendor")
PROVIDER = Filter("provider", "vendor", CHOICE, "Provider", "provider")
CAPACITY = Filter("capacity", "capacity_gb", CHOICE, "Capacity", "capacity", labels=BAND_LABELS)
TPS = Filter("min_tps", "tps", LEAST, "Speed, at least", "speed", "tps")
DEVICE_TPS = Filter("min_device_tps", "device_tps", LEAST, "One device, at least", "speed of one device", "tps")
SHARES = tuple(_share_filter(threshold_us) for threshold_us in (1_000, 8_000, 64_000))
DWPD = Filter("min_dwpd", "endurance_dwpd", LEAST, "Endurance, at least", "endurance", "DWPD")
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
EVERY = (
    *(
        CATEGORY,
        VENDOR,
        PROVIDER,
        CAPACITY,
        TPS,
        DEVICE_TPS,
        *SHARES,
        DWPD,
        PCIE,
        PROTOCOL,
        TENANCY,
        DEVICES,
        ACT,
        TIER,
    ),
    *(COMPRESSIBLE, OVER_PROVISIONED),
)
BY_NAME = {each.name: each for each in EVERY}
ALWAYS = (TPS, *SHARES, ACT, TIER, COMPRESSIBLE)
OF_DRIVES = (VENDOR, CAPACITY, TPS, *SHARES, DWPD, PCIE, ACT, TIER, COMPRESSIBLE, OVER_PROVISIONED)
OF_NETWORKED = (VENDOR, PROTOCOL, *ALWAYS, OVER_PROVISIONED)
OF_CLOUD = (PROVIDER, TENANCY, DEVICES, *ALWAYS)


@dataclass(frozen=True)
class Reason:
    """Why rows are left out: a sentence's end, how many it hides, and how many come back without it."""

    name: str
    text: str
    hidden: int
    back: int


@dataclass(frozen=True)
class Test:
    """One thing that a row must be, and what is said where it is not."""

    name: str
    text: str
    kept: Rows


@dataclass(frozen=True)
class Kept:
    """The rows that pass every test, how many do not, and why."""

    rows: Rows
    hidden: int
    reasons: list[Reason]


def choice_test(chosen: Filter, codes: Sequence[str], shelf: Shelf) -> Test:
    """Return the test for one of several options."""
    coded = shelf.columns[chosen.column]
    wanted = [option in codes for option in coded.options] + [UNSTATED in codes]
    labels = chosen.options(shelf)
    names = " or ".join(labels[code] for code in codes)
    return Test(chosen.name, f"{chosen.subject} is not {names}", coded.having(wanted))


def number_test(chosen: Filter, text: str, shelf: Shelf) -> Test:
    """Return the test for a number at least, or at most, as large as asked; what is not stated is neither."""
    coded, asked = shelf.columns[chosen.column], Decimal(text) * chosen.scale
    bound = int(asked) if chosen.scale > 1 else float(asked)
    passes = [value >= bound if chosen.kind == LEAST else value <= bound for value in coded.values] + [False]
    side = "below" if chosen.kind == LEAST else "over"
    said = f"{chosen.subject} is {side} {units.decimal(Decimal(text))} {chosen.unit} or not stated"
    return Test(chosen.name, said, coded.having(passes))


def keep(universe: Rows, tests: Sequence[Test]) -> Kept:
    """Return the rows of a table that pass every test, and for each test that hides some, how many."""
    kept = universe
    for test in tests:
        kept &= test.kept
    reasons = [
        Reason(test.name, test.text, (universe & ~test.kept).bit_count(), _hidden_alone(universe, tests, test))
        for test in tests
        if universe & ~test.kept
    ]
    return Kept(kept, (universe & ~kept).bit_count(), reasons)


def _hidden_alone(universe: Rows, tests: Sequence[Test], alone: Test) -> int:
    """Return how many rows one test hides that no other does."""
    rows = universe & ~alone.kept
    for test in tests:
        if test is not alone:
            rows &= test.kept
    return rows.bit_count()
