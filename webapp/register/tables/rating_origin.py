"""Origin of a product's endurance rating: the publication that prints it, a reviewer, or the catalogue."""

from results.catalogue.rows import CERTIFICATION_PAGE, published_sources
from results.models import Product, Run, Tier
from webapp.templatetags import units

NOT_VERIFIED = "not verified"
CELLS = "|"  # between the cells of a row as printed


def rating_origin(product: Product) -> str:
    """Return where the endurance rating of a product is from.

    The publication is named only if a row that it printed of this product has the rating as it is shown.
    """
    if "endurance_dwpd" in product.entered_facts:
        return f"entered by a reviewer, {NOT_VERIFIED}"
    printed = f"{units.decimal(product.endurance_dwpd)} DWPD"
    rows = Run.objects.filter(product=product.pk, tier=Tier.PUBLISHED, catalogue_key__isnull=False).public()
    if any(printed in _cells(row) for row in rows.values_list("source_row", flat=True)):
        return f"as printed by {published_sources()[CERTIFICATION_PAGE].publisher}, {NOT_VERIFIED}"
    return f"from the catalogue, {NOT_VERIFIED}"


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.split(CELLS)]
