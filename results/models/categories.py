"""The published page's tables: drives by what they are, and systems that are rated as a whole."""

from django.db import models


class Category(models.TextChoices):
    """The published page's tables; `historical` is a flag on the product, not a category."""

    NVME_3DXPOINT = "nvme-3dxpoint", "NVMe 3D XPoint"
    NVME_FLASH = "nvme-flash", "NVMe flash"
    SATA_SAS_FLASH = "sata-sas-flash", "SATA/SAS flash"
    M2_FLASH = "m2-flash", "M.2 flash"
    NETWORKED = "networked", "Networked storage"
    CLOUD = "cloud", "Cloud instances"


# Products that are rated as a whole: their speed is not that of one drive, and their number of drives may be unknown.
SYSTEMS = frozenset({Category.NETWORKED, Category.CLOUD})
OF_DRIVES = frozenset(set(Category) - SYSTEMS)
