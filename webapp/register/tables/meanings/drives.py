"""What every column of the tables means: the head of a column leads to it."""

from functools import cache

from django.urls import reverse

from webapp.register.tables.meanings.column import Meaning
from webapp.register.tables.meanings.features import (
    OF_COMPARISONS,
    OF_FILES,
    OF_LISTS,
    OF_RUNS,
    OF_SIZING,
    OF_YCSB,
)

SHARES = (
    "of all reads, the percentage that took longer, taken as the row's statistic says; beside it how near it is to its "
    "limit"
)
TOLD = (
    Meaning("drive", "Drive, System, Instance", "maker, model and capacity; of an instance, provider and type"),
    Meaning(
        "run", "Run", "the permanent id of one execution; its page has every number, and its log where there is one"
    ),
    Meaning(
        "tps",
        "Speed",
        "reads and writes a second that the run asked for, all its devices together: 1x is 3,000 of one device",
    ),
    Meaning(
        "device_tps",
        "One device",
        "computed: speed over the number of devices, in whole tps; a published drive without a stated number of "
        "devices is taken as one, of a networked system nothing is computed then",
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
        "drive writes per day over the warranty, from the maker's sheet; not verified here",
    ),
    Meaning("firmware", "Firmware", "of the drive in the run; a certificate holds for one firmware"),
    Meaning("pcie_gen", "PCIe", "generation of the link that the drive was tested on, or is made for"),
    Meaning("storage", "Storage", "number and size of the devices of an instance that the run loaded"),
    Meaning(
        "notes",
        "Notes",
        "OP: over-provisioned, so that less than all of the drive was used; CP: the percentage that the written data "
        "compresses to, blank where it is not stated",
    ),
    Meaning("backing_device", "Device", "what stands behind a networked system, or inside an instance"),
    Meaning("protocol", "Protocol", "how a networked system was reached"),
    Meaning("sole_tenant", "Sole tenant", "whether nobody else ran on the machine; blank where it is not stated"),
    Meaning("act_version", "ACT", "version of the test program; up to 5.3 its reads hold the time in queue"),
    Meaning("region", "Region", "where a cloud instance ran, in its provider's words; blank where nobody states it"),
    Meaning("zone", "Zone", "the zone of that region; blank where nobody states it"),
    Meaning("started_at", "Started", "when the run began, as far as it is stated"),
    Meaning("source", "Source", "who ran a published test, or whose log it is"),
    Meaning(
        "tier",
        "Tier",
        "who vouches: published, vendor-reported, reviewed, lab-verified, with one to four bars; it leads to the run",
    ),
    Meaning(
        "sustained_tps",
        "Rating sustains",
        "computed: the speed at which ACT's own writes (1x: 23.53 x 128 KiB/s, 266 GB a day of one device) use up the "
        "writes of a day that the drive is rated for",
    ),
    Meaning(
        "needed_dwpd",
        "Speed needs",
        "computed: the rating that ACT's own writes at the tested speed of one device would need; a published "
        "result of a drive that states no number of devices is taken as one device, of a system it is not told then",
    ),
    Meaning(
        "tps_per_tb",
        "Speed per TB",
        "computed: speed of one device over its capacity, taken as for Speed needs; a larger drive of one model need "
        "not be faster",
    ),
    Meaning(
        "verdict", "Verdict", "what the profile says of a log: passes, fails, undecided, void; a published row has none"
    ),
)
SECTIONS = (
    ("Tables of drives", TOLD),
    ("Other lists of drives", OF_LISTS),
    ("Pages of products and runs", OF_RUNS),
    ("Comparisons", OF_COMPARISONS),
    ("YCSB", OF_YCSB),
    ("Sizing and nines", OF_SIZING),
    ("Fleet check and dumps", OF_FILES),
)
EVERY = tuple(meaning for _, meanings in SECTIONS for meaning in meanings)
BY_CODE = {meaning.code: meaning for meaning in EVERY}


@cache  # a page of tables asks for each of its columns, and twice: an address is looked up among all others
def meaning_address(code: str) -> str:
    """Return where a column's meaning stands; of a code without one, the page of them all."""
    return f"{reverse('explain')}#{code}" if code in BY_CODE else f"{reverse('explain')}#columns"
