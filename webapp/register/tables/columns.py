"""The columns of tables of runs: code, head, text of a run, and sort order."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from operator import attrgetter
from typing import Any

from results.models import Product, Run, Share, Statistic, Verdict
from results.models.categories import OF_DRIVES, SYSTEMS
from results.rules.endurance import needed_dwpd, sustained_tps, three_digits, tps_per_tb
from webapp.templatetags import units

Order = Any  # values of one column compare with each other; None if a run does not report it
PROFILE_RUN_S, PROFILE_SLICE_S = 86_400, 3_600  # the profile's values; only others need a note
BY_RULE = " (assumed: the source requires this duration, but does not state it for this result)"
YES_OR_NO = {True: "yes", False: "no", None: ""}
SHARE_THRESHOLDS_US = (256, 512, 1_000, 8_000, 64_000)


@dataclass(frozen=True, eq=False)  # a comparison of all fields is slow, and each column exists once
class Column:
    """One column.

    `code` is part of addresses and never changes. `kind` names the template of its cells. `group` is the set of columns
    that a narrow screen shows together; it is empty for a column that is always shown.
    """

    code: str
    head: str
    kind: str
    order: Callable[[Run], Order]
    text: Callable[[Run], str] = str
    unit: str = ""
    group: str = ""
    threshold_us: int | None = None
    falls_first: bool = False
    is_sortable: bool = True

    @property
    def template(self) -> str:
        """Return the template of its cells in a table of runs; empty if they have only a word."""
        return f"register/tables/cells/{self.kind}.html" if self.kind in {"run", "share", "tier"} else ""

    @property
    def is_number(self) -> bool:
        """Return whether the column has numbers, which are aligned to the right."""
        return self.kind in {"number", "speed", "share", "computed"}


def product_of(run: Run) -> Product:
    """Return the run's product. Raises ValueError for a run without one, because tables do not list it."""
    if run.product is None:
        raise ValueError(f"run {run.public_id}: expected a product, got none")
    return run.product


def share_of(run: Run, threshold_us: int) -> Share | None:
    """Return the run's share over a threshold in the run's own statistic, from what was fetched with it."""
    own = (share for share in run.shares.all() if share.statistic == run.statistic)
    return next((share for share in own if share.threshold_us == threshold_us), None)


def newest_verdict(run: Run) -> Verdict | None:
    """Return the current verdict, from what was fetched with the run; None for a published run."""
    return next(iter(run.verdicts.all()), None)


def drive_order(run: Run) -> tuple[str, str, int]:
    """Sort by maker, model and capacity, ignoring case."""
    product = product_of(run)
    return product.vendor.casefold(), product.model.casefold(), product.capacity_gb or 0


def is_taken_as_one(run: Run) -> bool:
    """Return whether a run counts as one device because its publication's table lists drives, not systems."""
    is_of_drives = run.product is not None and run.product.category in OF_DRIVES
    return run.device_count is None and run.statistic == Statistic.STEADY_AS_PUBLISHED and is_of_drives


def is_duration_assumed(run: Run) -> bool:
    """Return whether the duration of a published run is the rule of its source, not a statement of its row.

    The source tests for 24 h, and its rows state no duration. It marks the one row with another duration.
    """
    return run.statistic == Statistic.STEADY_AS_PUBLISHED and run.duration_s == PROFILE_RUN_S


def duration_text(run: Run) -> str:
    """Return how long a run lasted, and for a published run whether its row states that; empty if not reported."""
    return f"{units.duration(run.duration_s)}{BY_RULE if is_duration_assumed(run) else ''}"


def device_tps(run: Run) -> Fraction | None:
    """Return the speed of one device in tps, to be compared with the capacity and the rating of one drive.

    A published drive without a number of devices counts as one device. For a log without one, or for a system, the
    speed of one device is unknown.
    """
    devices = run.device_count or (1 if is_taken_as_one(run) else None)
    return None if run.tps is None or devices is None else Fraction(run.tps) / devices


def whole_device_tps(run: Run) -> int | None:
    """Return the speed of one device as it is shown, sorted and filtered: in whole tps; None if it is not known."""
    tps = device_tps(run)
    return None if tps is None else floor(tps + Fraction(1, 2))


def tested_gb(run: Run) -> int | None:
    """Return the capacity of a drive that an over-provisioned test used, in GB rounded down; None for all of it.

    The percentage is of the capacity that users see: 10 % leaves 1 / 1.1 of the drive.
    """
    capacity_gb = product_of(run).capacity_gb or 0
    stated = [capacity_gb]
    if run.over_provisioned_to_gb:
        stated.append(run.over_provisioned_to_gb)
    if run.over_provisioning_pct:
        stated.append(floor(Fraction(capacity_gb * 100) / (100 + Fraction(run.over_provisioning_pct))))
    return max(min(stated), 1) if min(stated) < capacity_gb else None


def ranked_tps(run: Run) -> Fraction:
    """Return the speed that runs are ranked by: of one device, or of a whole system; 0 if unknown."""
    is_whole = product_of(run).category in SYSTEMS
    return Fraction(run.tps or 0) if is_whole else device_tps(run) or Fraction(0)


def total_gb(run: Run) -> int | None:
    """Return the capacity of the drive, or of all devices of an instance that the run loaded; None if not reported."""
    own: int | None = product_of(run).capacity_gb
    if own is not None or run.device_count is None or run.device_gb is None:
        return own
    return run.device_count * run.device_gb


def pcie_generation(run: Run) -> str | None:
    """Return the product's PCIe generation; None if it is not reported."""
    return product_of(run).pcie_gen or None


def version_order(run: Run) -> tuple[int, ...] | None:
    """Sort 6.10 after 6.9."""
    return tuple(int(part) for part in run.tool_version.split(".") if part.isdecimal()) if run.tool_version else None


def storage_order(run: Run) -> tuple[int, int] | None:
    """Sort by all the storage of an instance, then by the number of its devices."""
    if run.device_count is None or run.device_gb is None:
        return None
    return run.device_count * run.device_gb, run.device_count


def storage_text(run: Run) -> str:
    """Return the number and the size of the devices of an instance."""
    return units.storage(run.device_count, run.device_gb)


def notes_of(run: Run) -> list[str]:
    """Return the notes on a row's numbers: devices, firmware, over-provisioning, data, and length of the run."""
    notes = (
        f"{run.device_count} devices together" if (run.device_count or 1) > 1 and not run.device_gb else "",
        f"firmware {run.firmware}" if run.firmware else "",
        f"OP {units.decimal(run.over_provisioning_pct)} %" if run.over_provisioning_pct else "",
        f"OP to {units.capacity(run.over_provisioned_to_gb)}" if run.over_provisioned_to_gb else "",
        f"CP {run.compress_pct} %" if run.compress_pct else "",
        f"ran {units.duration(run.duration_s)}" if run.duration_s not in {None, PROFILE_RUN_S} else "",
        f"slices of {units.duration(run.slice_length_s)}" if run.slice_length_s not in {None, PROFILE_SLICE_S} else "",
    )
    return [note for note in notes if note]


def share_code(threshold_us: int) -> str:
    """Return the name that shares over a threshold have in addresses and exports.

    >>> share_code(256), share_code(8000)
    ('pct_over_256us', 'pct_over_8ms')
    """
    return f"pct_over_{threshold_us}us" if threshold_us % 1000 else f"pct_over_{threshold_us // 1000}ms"


def share_column(threshold_us: int, head: str, group: str = "share") -> Column:
    """Return the column of the shares over a threshold."""

    def order(run: Run) -> Order:
        share = share_of(run, threshold_us)
        return share.share_pct if share else None

    return Column(share_code(threshold_us), head, "share", order, group=group, threshold_us=threshold_us)


def text_column(code: str, head: str, field: str, group: str) -> Column:
    """Return a column of one of the run's own text fields."""
    value = attrgetter(field)
    return Column(code, head, "text", lambda run: value(run).casefold() or None, value, group=group)


def value_column(
    code: str, head: str, kind: str, value: Callable[[Run], Any], text: Callable[[Any], str], *labels: Any, **more: Any
) -> Column:
    """Return a column whose order and text are made from one value of a run; `labels` are its unit and its group."""
    return Column(code, head, kind, value, lambda run: text(value(run)), *labels, **more)


def product_column(code: str, head: str, text: Callable[[Any], str], *labels: Any, **more: Any) -> Column:
    """Return a column of numbers of one of the product's own fields, which has its code as name."""
    return value_column(code, head, "number", attrgetter(f"product.{code}"), text, *labels, **more)


def computed_column(code: str, head: str, figure: Callable[[Run], Fraction | None], unit: str, group: str) -> Column:
    """Return the column of a computed figure, shown and sorted with three significant digits."""
    labels = {"unit": f"{unit}, computed", "group": group}
    return value_column(
        code, head, "computed", lambda run: three_digits(figure(run)), units.decimal, **labels, falls_first=True
    )


DRIVE = Column("drive", "Drive", "drive", drive_order)
SYSTEM = Column("drive", "System", "drive", drive_order)
INSTANCE = Column("drive", "Instance", "drive", drive_order)
RUN = Column("run", "Run", "run", lambda run: run.public_id)
SPEED = value_column("tps", "Speed", "speed", attrgetter("tps"), units.decimal, "tps", falls_first=True)
DEVICES = value_column(
    "device_count", "Devices", "number", attrgetter("device_count"), units.count, group="device", falls_first=True
)
DEVICE_SPEED = value_column(
    "device_tps", "One device", "computed", whole_device_tps, units.count, "tps, computed", "device", falls_first=True
)
LOAD = value_column(
    "nx_load", "Load", "number", attrgetter("nx_load"), units.nx, "of each device", "size", falls_first=True
)
OVER_256US = share_column(256, "Over 256 us", group="fast")
OVER_512US = share_column(512, "Over 512 us", group="fast")
OVER_1MS = share_column(1_000, "Over 1 ms")
OVER_8MS = share_column(8_000, "Over 8 ms")
OVER_64MS = share_column(64_000, "Over 64 ms")
CAPACITY = product_column("capacity_gb", "Capacity", units.capacity, "", "size")
TOTAL_CAPACITY = value_column("total_gb", "Capacity", "number", total_gb, units.capacity, "", "size")
CATEGORY = Column(
    "category",
    "Category",
    "category",
    lambda run: product_of(run).category,
    lambda run: product_of(run).get_category_display(),
    group="size",
    is_sortable=False,
)
ENDURANCE = product_column("endurance_dwpd", "Endurance", units.decimal, "DWPD", "end", falls_first=True)
SUSTAINED = computed_column(
    "sustained_tps",
    "Rating allows",
    lambda run: sustained_tps(product_of(run).endurance_dwpd, product_of(run).capacity_gb),
    "tps",
    "end",
)
NEEDED_DWPD = computed_column(
    "needed_dwpd", "Speed needs", lambda run: needed_dwpd(device_tps(run), product_of(run).capacity_gb), "DWPD", "end"
)
PER_TB = computed_column(
    "tps_per_tb", "Speed per TB", lambda run: tps_per_tb(device_tps(run), product_of(run).capacity_gb), "tps", "size"
)
PCIE_GEN = Column(
    "pcie_gen", "PCIe", "number", pcie_generation, lambda run: product_of(run).pcie_gen, "generation", "size"
)
STORAGE = Column(
    "storage", "Storage", "number", storage_order, storage_text, "of the instance", group="size", falls_first=True
)
NOTES = Column(
    "notes", "Notes", "notes", lambda _: None, lambda run: "\n".join(notes_of(run)), "OP, CP", "end", is_sortable=False
)
BACKING_DEVICE = text_column("backing_device", "Backing device", "backing_device", "size")
PROTOCOL = text_column("protocol", "Protocol", "protocol", "size")
SOLE_TENANT = value_column(
    "sole_tenant", "Sole tenant", "text", attrgetter("sole_tenant"), YES_OR_NO.__getitem__, "", "size", falls_first=True
)
OBSERVED = text_column("backing_device", "Backing device", "backing_device", "ev")
REGION = text_column("region", "Region", "region", "ev")
ZONE = text_column("zone", "Zone", "zone", "ev")
FIRMWARE = text_column("firmware", "Firmware", "firmware", "ev")
STARTED = value_column("started_at", "Started", "text", attrgetter("started_at"), units.moment, group="ev")
ACT = Column("act_version", "ACT", "number", version_order, lambda run: run.tool_version, "version", group="ev")
SOURCE = text_column("source", "Source", "source", "ev")
TIER = Column("tier", "Tier", "tier", lambda run: run.tier, unit="to the run", group="ev")
