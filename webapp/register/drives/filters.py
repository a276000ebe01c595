"""The filters of the tables of drives: what may be asked, what an answer keeps, and why it leaves rows out.

Inside one filter any choice will do, between filters all must hold. Codes of choices are made of the words themselves
(intel, western-digital, 6, to-1tb) and never change: an old address asks the same question for ever.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from webapp.register.columns import share_code
from webapp.register.drives.coded import UNSTATED, Coded, Shelf
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

    def options(self, shelf: Shelf, rows: Iterable[int] | None = None) -> dict[str, str]:
        """Return code -> label of what can be chosen: of the whole register, or of some of its rows."""
        coded = shelf.columns[self.column]
        used = set(coded.codes) if rows is None else {coded.codes[row] for row in rows}
        present = {coded.options[code]: self._label(coded, code) for code in sorted(used - {-1})}
        fixed = {code: label for code, label in self.labels.items() if code in present or rows is None}
        return (fixed or present) | ({UNSTATED: "not stated"} if -1 in used or rows is None else {})

    def _label(self, coded: Coded, code: int) -> str:
        option = coded.options[code]
        return self.labels.get(option) or coded.words[code]


def _share_filter(threshold_us: int) -> Filter:
    threshold = units.threshold(threshold_us).replace(units.NBSP, " ")
    name = share_code(threshold_us).replace("pct_over_", "max_")
    subject = f"share over {threshold}"
    return Filter(name, share_code(threshold_us), MOST, f"Over {threshold}, at most", subject, "%", 10**9)


VENDOR = Filter("vendor", "vendor", CHOICE, "Vendor", "vendor")
PROVIDER = Filter("provider", "vendor", CHOICE, "Provider", "provider")
CAPACITY = Filter("capacity", "capacity_gb", CHOICE, "Capacity", "capacity", labels=BAND_LABELS)
TPS = Filter("min_tps", "tps", LEAST, "Speed, at least", "speed", "tps")
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
    *(VENDOR, PROVIDER, CAPACITY, TPS, *SHARES, DWPD, PCIE, PROTOCOL, TENANCY, DEVICES, ACT, TIER),
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
    kept: Sequence[bool]


@dataclass(frozen=True)
class Kept:
    """The rows that pass every test, in the shelf's order, how many do not, and why."""

    rows: list[int]
    hidden: int
    reasons: list[Reason]


def choice_test(chosen: Filter, codes: Sequence[str], shelf: Shelf) -> Test:
    """Return the test for one of several options."""
    coded = shelf.columns[chosen.column]
    wanted = [option in codes for option in coded.options] + [UNSTATED in codes]  # the last: code -1
    labels = chosen.options(shelf)
    names = " or ".join(labels[code] for code in codes)
    return Test(chosen.name, f"{chosen.subject} is not {names}", [wanted[code] for code in coded.codes])


def number_test(chosen: Filter, text: str, shelf: Shelf) -> Test:
    """Return the test for a number at least, or at most, as large as asked; what is not stated is neither."""
    coded, asked = shelf.columns[chosen.column], Decimal(text) * chosen.scale
    bound = int(asked) if chosen.scale > 1 else float(asked)
    passes = [value >= bound if chosen.kind == LEAST else value <= bound for value in coded.values] + [False]
    side = "below" if chosen.kind == LEAST else "over"
    said = f"{chosen.subject} is {side} {units.decimal(Decimal(text))} {chosen.unit} or not stated"
    return Test(chosen.name, said, [passes[code] for code in coded.codes])


def keep(universe: Sequence[int], tests: Sequence[Test]) -> Kept:
    """Return the rows of a table that pass every test, and for each test that hides some, how many."""
    failed = {row: [place for place, test in enumerate(tests) if not test.kept[row]] for row in universe}
    kept = [row for row in universe if not failed[row]]
    hidden, back = [0] * len(tests), [0] * len(tests)
    for row in universe:
        for place in failed[row]:
            hidden[place] += 1
            back[place] += len(failed[row]) == 1
    reasons = [
        Reason(test.name, test.text, hidden[place], back[place]) for place, test in enumerate(tests) if hidden[place]
    ]
    return Kept(kept, len(universe) - len(kept), reasons)
