"""The tables of drives by category: their columns, and the notes of their source."""

from dataclasses import replace
from functools import partial

from results.models import Category, Product
from webapp.register.tables import columns
from webapp.register.tables.tables import TableSpec

SHARES = (columns.OVER_1MS, columns.OVER_8MS, columns.OVER_64MS)
EVIDENCE = (columns.ACT, columns.SOURCE, columns.TIER)

MARKS_NOTE = (
    "The bar next to a share shows how close the share is to its limit. The vertical line is the limit. Above 90 % of "
    "the limit, the bar is darker."
)
OVER_NOTE = "A share with a frame and an open box is over its limit: the result does not qualify for a certificate."
SOURCE_NOTE = (
    "The tier of a published result names the tester, if the source states it: Aerospike, or the maker of the drive, "
    "who then supplied the result. Published tables list drives that passed; failures are not published."
)
ENDURANCE_NOTE = (
    "The endurance rating is as Aerospike prints it with the result, or from the catalogue; its page names the origin. "
    "The register does not verify it. DWPD means drive writes per day: "
    "how often the whole drive may be written each day over its warranty."
)
STATES_NOTE = (
    "OP means over-provisioning: spare capacity, in percent of the capacity that users see, or the size that is left "
    "for users. CP means compression: the written data compresses to this percentage of its size. 100 means that the "
    "data cannot be compressed."
)
COMPUTED_NOTE = (
    "Rating allows is the highest speed at which one device can run day and night without exceeding its DWPD. At "
    "3,000 tps (1x), ACT writes 266 GB a day. Speed per TB is the speed of one device divided by its capacity in TB. "
    "Both columns are computed with three significant digits. A publication without a number of devices counts as one "
    "device."
)
COMMON_NOTES = (MARKS_NOTE, OVER_NOTE, SOURCE_NOTE)
DRIVE_NOTES = (*COMMON_NOTES, ENDURANCE_NOTE, COMPUTED_NOTE, STATES_NOTE)
SATA_NOTE = (
    "Published SATA and SAS results were measured at the size after over-provisioning, set with hdparm as a Host "
    "Protected Area."
)
CLOUD_CAUTION = (
    "Read cloud results conservatively: other customers on the same hardware can disturb a run, and hardware differs "
    "within a class of instances. Average several cloud runs from different times and regions; even their average can "
    "change over time."
)
NOTES_OF_MODELS = {"r5ad.24xlarge": "The test of r5ad.24xlarge ran for 12 hours."}  # by model; not on other pages
EVERY_CLOUD_NOTES = (
    CLOUD_CAUTION,
    "The speed and the percentages in a row are those of all devices of the instance together.",
    "The figures of an Azure Ls instance are for its one drive. Each drive of an Azure Lsv2 instance is about 5 times "
    "as fast as the drive of an Ls instance.",
)
CLOUD_NOTES = (
    *EVERY_CLOUD_NOTES,
    "Google local SSDs are gen2 (Intel Cascade Lake or later). The source states that the speed of Google instances "
    "grows linearly up to 4 devices; the table Speed by number of devices has its results with up to 24 devices.",
    *NOTES_OF_MODELS.values(),
)
THREE_SHARES_NOTE = (
    "For three rows the source gives only three percentages of slow reads; the register takes them as those over 1, 8 "
    "and 64 ms. A dash in the table means not reported."
)

RATING = (columns.ENDURANCE, columns.SUSTAINED, columns.NEEDED_DWPD)
STATED = (columns.STARTED, columns.FIRMWARE)  # reported by few runs, so shown by choice
PLACES = (columns.REGION, columns.ZONE, columns.OBSERVED, *STATED)  # of a cloud instance: place, time and device
DRIVE_COLUMNS = (
    *(columns.DRIVE, columns.CAPACITY, columns.PCIE_GEN, columns.SPEED, *SHARES, *RATING),
    *(columns.PER_TB, columns.NOTES, *EVIDENCE, *STATED),
)
XPOINT_COLUMNS = (*DRIVE_COLUMNS[:4], columns.OVER_256US, columns.OVER_512US, *DRIVE_COLUMNS[4:])
NETWORKED_COLUMNS = (
    *(columns.SYSTEM, columns.SPEED, *SHARES, columns.BACKING_DEVICE, columns.PROTOCOL, columns.NOTES, *EVIDENCE),
    *STATED,
)
CLOUD_COLUMNS = (
    *(columns.INSTANCE, columns.SOLE_TENANT, columns.STORAGE, columns.SPEED, columns.DEVICE_SPEED, *SHARES),
    *(columns.NOTES, *EVIDENCE, *PLACES),
)
BY_CHOICE = frozenset({"needed_dwpd", "source", "started_at", "firmware"})  # hidden by default
flash_table = partial(TableSpec, columns=DRIVE_COLUMNS, by_choice=BY_CHOICE | {"pcie_gen"}, reading_notes=DRIVE_NOTES)

SPECS = {
    Category.NVME_3DXPOINT: TableSpec(
        "nvme-3dxpoint",
        "NVMe 3D XPoint",
        XPOINT_COLUMNS,
        by_choice=BY_CHOICE | {"tps_per_tb"},
        source_notes=(THREE_SHARES_NOTE,),
        reading_notes=DRIVE_NOTES,
    ),
    Category.NVME_FLASH: flash_table("nvme-flash", "NVMe flash"),
    Category.SATA_SAS_FLASH: flash_table("sata-sas-flash", "SATA and SAS flash", source_notes=(SATA_NOTE,)),
    Category.M2_FLASH: flash_table("m2-flash", "M.2 flash"),
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
        size_label="Storage",
        source_notes=CLOUD_NOTES,
        reading_notes=COMMON_NOTES,
    ),
}

HISTORICAL_NOTES: dict[str, tuple[str, ...]] = {
    Category.NVME_FLASH: (
        "The historical NVMe drives were tested without over-provisioning.",
        "The Intel P3700 was tested in a Dell R720 with two E5-2690v2 processors at 3 GHz and RedHat 6.5.",
    ),
    Category.SATA_SAS_FLASH: (SATA_NOTE,),
    Category.CLOUD: EVERY_CLOUD_NOTES,
}


def historical_spec(category: str) -> TableSpec:
    """Return the table of a category's historical products, with their own notes."""
    spec = SPECS[Category(category)]
    return replace(spec, source_notes=HISTORICAL_NOTES.get(category, ()))


def spec_of(product: Product) -> TableSpec:
    """Return the table that lists a product's runs, without notes on other models."""
    spec = historical_spec(product.category) if product.historical else SPECS[Category(product.category)]
    others = {note for model, note in NOTES_OF_MODELS.items() if model != product.model}
    return replace(spec, source_notes=tuple(note for note in spec.source_notes if note not in others))
