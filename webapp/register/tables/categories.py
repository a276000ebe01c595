"""The tables of the published page: their columns, and the notes of its source that must stand beside them."""

from dataclasses import replace

from results.models import Category, Product
from webapp.register.tables import columns
from webapp.register.tables.tables import TableSpec

HISTORICAL = "historical"

SHARES = (columns.OVER_1MS, columns.OVER_8MS, columns.OVER_64MS)
EVIDENCE = (columns.ACT, columns.SOURCE, columns.TIER)

MARKS_NOTE = "The mark beside a share fills towards its limit, the upright line; it is strong from 90 % of the limit."
OVER_NOTE = "A framed share with an open box is over its limit: the row is a measurement, not a certificate."
SOURCE_NOTE = (
    "Source names who ran a published test: a maker's name where the maker supplied the result, Aerospike where it ran "
    "the test itself, nothing where the source does not say."
)
ENDURANCE_NOTE = "Endurance is from the makers' sheets and not verified. DWPD: drive writes per day over the warranty."
STATES_NOTE = (
    "OP: over-provisioned, by a percentage or to a size. CP: the data compresses to that percentage of its size; 100 "
    "is incompressible."
)
COMPUTED_NOTE = (
    "Computed: the speed at which ACT's own writes (266 GB a day at 1x, 3,000 tps of one device) use up the endurance "
    "rating, DWPD x capacity; and tps for each TB of capacity. Both are of one device, and a published result that "
    "states no number of devices is taken as one device. Both have three significant digits. A larger drive is not "
    "always faster."
)
COMMON_NOTES = (MARKS_NOTE, OVER_NOTE, SOURCE_NOTE)
DRIVE_NOTES = (*COMMON_NOTES, ENDURANCE_NOTE, COMPUTED_NOTE, STATES_NOTE)
SATA_NOTE = (
    "Published SATA and SAS results are for the size after over-provisioning: a Host Protected Area was set with "
    "hdparm."
)
CLOUD_CAUTION = (
    "Read cloud results conservatively: neighbours on the same hardware can be noisy, and hardware differs within "
    "a class. Average several runs, at different times and in different regions; even that average may not be "
    "stationary."
)
EVERY_CLOUD_NOTES = (
    CLOUD_CAUTION,
    "Speeds and shares are for all the devices of a row together.",
    "Azure Ls figures are for the single drive; Lsv2 instances have several, each about 5 times as fast as that.",
)
CLOUD_NOTES = (
    *EVERY_CLOUD_NOTES,
    "Google local SSDs are gen2 (Intel Cascade Lake or later); the source states linear growth through 4 devices per "
    "instance. Its own rows go on to 24: see the speed by number of devices.",
    "r5ad.24xlarge ran for 12 hours.",
)
THREE_SHARES_NOTE = (
    "In three rows the source gives three percentages; they are taken as over 1, 8 and 64 ms. A dash is not stated."
)

RATING = (columns.ENDURANCE, columns.SUSTAINED, columns.NEEDED_DWPD)
STATED = (columns.STARTED, columns.FIRMWARE)  # by few runs yet, so shown by choice
PLACES = (columns.REGION, columns.ZONE, columns.OBSERVED, *STATED)  # of a cloud instance: where, when, and on what
DRIVE_COLUMNS = (
    *(columns.DRIVE, columns.CAPACITY, columns.PCIE_GEN, columns.SPEED, *SHARES, *RATING),
    *(columns.PER_TB, columns.NOTES, *EVIDENCE, *STATED),
)
XPOINT_COLUMNS = (
    *(columns.DRIVE, columns.CAPACITY, columns.PCIE_GEN, columns.SPEED, columns.OVER_256US, columns.OVER_512US),
    *(*SHARES, *RATING, columns.PER_TB, columns.NOTES, *EVIDENCE, *STATED),
)
NETWORKED_COLUMNS = (
    *(columns.SYSTEM, columns.SPEED, *SHARES, columns.BACKING_DEVICE, columns.PROTOCOL, columns.NOTES, *EVIDENCE),
    *STATED,
)
CLOUD_COLUMNS = (
    *(columns.INSTANCE, columns.SOLE_TENANT, columns.STORAGE, columns.SPEED, *SHARES, columns.NOTES, *EVIDENCE),
    *PLACES,
)
BY_CHOICE = frozenset({"needed_dwpd", "source", "started_at", "firmware"})  # not shown unless asked for
FLASH_BY_CHOICE = BY_CHOICE | {"pcie_gen"}

SPECS = {
    Category.NVME_3DXPOINT: TableSpec(
        "nvme-3dxpoint",
        "NVMe 3D XPoint",
        XPOINT_COLUMNS,
        by_choice=BY_CHOICE | {"tps_per_tb"},
        source_notes=(THREE_SHARES_NOTE,),
        reading_notes=DRIVE_NOTES,
    ),
    Category.NVME_FLASH: TableSpec(
        "nvme-flash", "NVMe flash", DRIVE_COLUMNS, by_choice=FLASH_BY_CHOICE, reading_notes=DRIVE_NOTES
    ),
    Category.SATA_SAS_FLASH: TableSpec(
        "sata-sas-flash",
        "SATA and SAS flash",
        DRIVE_COLUMNS,
        by_choice=FLASH_BY_CHOICE,
        source_notes=(SATA_NOTE,),
        reading_notes=DRIVE_NOTES,
    ),
    Category.M2_FLASH: TableSpec(
        "m2-flash", "M.2 flash", DRIVE_COLUMNS, by_choice=FLASH_BY_CHOICE, reading_notes=DRIVE_NOTES
    ),
    Category.NETWORKED: TableSpec(
        "networked",
        "Networked storage",
        NETWORKED_COLUMNS,
        by_choice=BY_CHOICE - {"source"},
        size_label="Device",
        reading_notes=(*COMMON_NOTES, STATES_NOTE),
    ),
    Category.CLOUD: TableSpec(
        "cloud",
        "Cloud instances",
        CLOUD_COLUMNS,
        by_choice=BY_CHOICE | {column.code for column in PLACES} | {"source"},
        is_by_vendor=True,
        size_label="Storage",
        source_notes=CLOUD_NOTES,
        reading_notes=COMMON_NOTES,
    ),
}

HISTORICAL_TITLE = "Historical drives and instances"
HISTORICAL_NOTES: dict[str, tuple[str, ...]] = {
    Category.NVME_FLASH: (
        "These NVMe drives were not over-provisioned.",
        "The Intel P3700 ran on a Dell R720 with two E5-2690v2 at 3 GHz and RedHat 6.5.",
    ),
    Category.SATA_SAS_FLASH: (SATA_NOTE,),
    Category.CLOUD: EVERY_CLOUD_NOTES,
}


def historical_spec(category: str) -> TableSpec:
    """Return the table of a category's historical products, with the notes that are theirs."""
    spec = SPECS[Category(category)]
    return replace(spec, source_notes=HISTORICAL_NOTES.get(category, ()))


def spec_of(product: Product) -> TableSpec:
    """Return the table that a product's runs stand in."""
    return historical_spec(product.category) if product.historical else SPECS[Category(product.category)]
