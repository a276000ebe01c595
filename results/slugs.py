"""The permanent, readable names that products have in addresses: given once, never changed."""

from itertools import count

from django.utils.text import slugify

from results.models import Product

SLUG_CHARS = 110  # of the column's 120: room for a number


def new_product_slug(vendor: str, model: str, capacity_gb: int | None) -> str:
    """Return a free slug such as `sandisk-dc-sn861-6400gb`; a taken one gets a number behind it."""
    stem = product_stem(vendor, model, capacity_gb)
    taken = set(Product.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    numbered = (f"{stem}-{number}" for number in count(2))
    return stem if stem not in taken else next(slug for slug in numbered if slug not in taken)


def product_stem(vendor: str, model: str, capacity_gb: int | None) -> str:
    """Return the readable part; a full stop separates words (c5d.24xlarge), which slugify alone would swallow."""
    capacity = f" {capacity_gb}gb" if capacity_gb else ""
    return slugify(f"{vendor} {model}{capacity}".replace(".", " "))[:SLUG_CHARS] or "product"
