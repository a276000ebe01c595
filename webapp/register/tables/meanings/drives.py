"""The meaning of each column of the tables, which the head of the column links to."""

from functools import cache

from django.urls import reverse

from webapp.register.tables.meanings.features import (
    OF_COMPARISONS,
    OF_FILES,
    OF_LISTS,
    OF_RUNS,
    OF_SIZING,
    OF_YCSB,
    Meaning,
)

SHARES = (
    "Percentage of all reads that took longer than this time. The bar shows how close the percentage is to its limit."
)
OF_DRIVES = (
    Meaning("drive", "Drive, System, Instance", "Maker, model and capacity, or provider and instance type."),
    Meaning("run", "Run", "Permanent id of one test run. Its page has every number, and the log if there is one."),
    Meaning(
        "tps", "Speed", "Reads and writes per second that the test requested, over all devices: 3,000 per device at 1x."
    ),
    Meaning(
        "device_tps",
        "One device",
        "Computed: speed divided by the number of devices, in whole tps. A published drive without a number "
        "of devices counts as one device. A networked system without one has no value.",
    ),
    Meaning("pct_over_256us", "Over 256 us", SHARES),
    Meaning("pct_over_512us", "Over 512 us", SHARES),
    Meaning(
        "pct_over_1ms",
        "Over 1 ms",
        SHARES + " A log in microseconds has no bucket edge at 1,000 us, so it is evaluated at 1,024 us.",
    ),
    Meaning("pct_over_8ms", "Over 8 ms", SHARES + " A log in microseconds is evaluated at 8,192 us."),
    Meaning("pct_over_64ms", "Over 64 ms", SHARES + " A log in microseconds is evaluated at 65,536 us."),
    Meaning("capacity_gb", "Capacity", "The capacity as the maker sells it: 1 TB is 1,000 GB."),
    Meaning(
        "endurance_dwpd",
        "Endurance",
        "Drive writes per day (DWPD) that the maker's warranty allows, from the data sheet. The register does"
        " not verify it.",
    ),
    Meaning(
        "firmware", "Firmware", "Firmware of the drive during the run. A certificate is valid for one firmware only."
    ),
    Meaning("pcie_gen", "PCIe", "The PCIe generation at which the drive was tested, or for which it is made."),
    Meaning("storage", "Storage", "Number and size of the devices that the run loaded in a cloud instance."),
    Meaning(
        "notes",
        "Notes",
        "OP is over-provisioning: only a part of the drive was used. CP is the percentage to which the "
        "written data compresses. Blank means not reported.",
    ),
    Meaning("backing_device", "Device", "The drive model inside a networked system or a cloud instance."),
    Meaning("protocol", "Protocol", "The protocol by which the test reached a networked system."),
    Meaning("sole_tenant", "Sole tenant", "Whether no other customer used the machine. Blank means not reported."),
    Meaning(
        "act_version", "ACT", "Version of the test program. Up to 5.3, read times include the wait in its own queue."
    ),
    Meaning("region", "Region", "The cloud region of the run, as its provider names it. Blank means not reported."),
    Meaning("zone", "Zone", "The zone within that region. Blank means not reported."),
    Meaning("started_at", "Started", "Date and time at which the run began, if reported."),
    Meaning("source", "Source", "Who ran a published test, or who submitted the log."),
    Meaning(
        "tier",
        "Tier",
        "How well the result is checked: published, vendor-reported, reviewed, lab-verified, with one to four"
        " bars. It links to the run.",
    ),
    Meaning(
        "sustained_tps",
        "Rating sustains",
        "Computed: the highest speed at which the drive can run day and night without exceeding its rated "
        "writes per day. At 1x, ACT writes 23.53 x 128 KiB/s, or 266 GB a day, to one device.",
    ),
    Meaning(
        "needed_dwpd",
        "Speed needs",
        "Computed: the rated writes per day that ACT's own writes require at the tested speed of one device. "
        "A published drive without a number of devices counts as one device. A system without one has no "
        "value.",
    ),
    Meaning("tps_per_tb", "Speed per TB", "Computed: speed of one device divided by its capacity."),
    Meaning(
        "verdict",
        "Verdict",
        "The result of judging the log by the profile: pass, fail, undecided or void. A published result has "
        "no log, so it has no verdict.",
    ),
)
SECTIONS = (
    ("Tables of drives", OF_DRIVES),
    ("Other lists of drives", OF_LISTS),
    ("Pages of products and runs", OF_RUNS),
    ("Comparisons", OF_COMPARISONS),
    ("YCSB", OF_YCSB),
    ("Sizing and nines", OF_SIZING),
    ("Fleet check and dumps", OF_FILES),
)
ALL = tuple(meaning for _, meanings in SECTIONS for meaning in meanings)
BY_CODE = {meaning.code: meaning for meaning in ALL}


@cache  # a page calls this twice for each column, and reverse() is slow
def meaning_address(code: str) -> str:
    """Return the address of a column's meaning; for a code without one, that of the list of all meanings."""
    return f"{reverse('explain')}#{code}" if code in BY_CODE else f"{reverse('explain')}#columns"
