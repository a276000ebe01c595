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
    "percentage of all reads that took longer, by the row's statistic, with a bar that shows how close it is to its "
    "limit"
)
OF_DRIVES = (
    Meaning("drive", "Drive, System, Instance", "maker, model and capacity; of an instance, provider and type"),
    Meaning(
        "run", "Run", "the permanent id of one execution; its page has every number, and its log where there is one"
    ),
    Meaning(
        "tps",
        "Speed",
        "reads and writes per second that the run requested, total of all its devices: 1x is 3,000 for one device",
    ),
    Meaning(
        "device_tps",
        "One device",
        "computed: speed divided by the number of devices, in whole tps; a published drive without a number of devices "
        "counts as one device, a networked system without one has no value",
    ),
    Meaning("pct_over_256us", "Over 256 us", SHARES),
    Meaning("pct_over_512us", "Over 512 us", SHARES),
    Meaning("pct_over_1ms", "Over 1 ms", SHARES + "; a microsecond log has an edge at 1,024 us and is read there"),
    Meaning("pct_over_8ms", "Over 8 ms", SHARES + "; read at 8,192 us in a microsecond log"),
    Meaning("pct_over_64ms", "Over 64 ms", SHARES + "; read at 65,536 us in a microsecond log"),
    Meaning("capacity_gb", "Capacity", "as the maker sells it: 1 TB is 1,000 GB"),
    Meaning(
        "endurance_dwpd",
        "Endurance",
        "drive writes per day over the warranty, from the maker's data sheet; not verified",
    ),
    Meaning("firmware", "Firmware", "of the drive in the run; a certificate holds for one firmware"),
    Meaning("pcie_gen", "PCIe", "generation of the link that the drive was tested on, or is made for"),
    Meaning("storage", "Storage", "number and size of the devices of an instance that the run loaded"),
    Meaning(
        "notes",
        "Notes",
        "OP: over-provisioning, so that only a part of the drive was used; CP: the percentage that the written data "
        "compresses to, blank if not reported",
    ),
    Meaning("backing_device", "Device", "the device of a networked system or of an instance"),
    Meaning("protocol", "Protocol", "how a networked system was reached"),
    Meaning("sole_tenant", "Sole tenant", "whether the machine had no other tenants; blank if not reported"),
    Meaning("act_version", "ACT", "version of the test program; up to 5.3, read times include the time in the queue"),
    Meaning("region", "Region", "where a cloud instance ran, as its provider names it; blank if not reported"),
    Meaning("zone", "Zone", "the zone of that region; blank if not reported"),
    Meaning("started_at", "Started", "when the run began, if reported"),
    Meaning("source", "Source", "who ran a published test, or who sent the log"),
    Meaning(
        "tier",
        "Tier",
        "who vouches: published, vendor-reported, reviewed, lab-verified, with one to four bars; it leads to the run",
    ),
    Meaning(
        "sustained_tps",
        "Rating sustains",
        "computed: the highest speed that can run around the clock without exceeding the drive's rated writes per day "
        "(ACT at 1x writes 23.53 x 128 KiB/s, 266 GB a day, to one device)",
    ),
    Meaning(
        "needed_dwpd",
        "Speed needs",
        "computed: the rating that ACT's own writes at the tested speed of one device need; a published drive without "
        "a number of devices counts as one device, a system without one has no value",
    ),
    Meaning(
        "tps_per_tb",
        "Speed per TB",
        "computed: speed of one device divided by its capacity; a larger drive of the same model is not always faster",
    ),
    Meaning(
        "verdict",
        "Verdict",
        "the profile's result for a log: passes, fails, undecided or void; a published row has none",
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
