"""The permanent, readable names that products have in addresses: given once, never changed."""

from collections.abc import Container
from itertools import count

from django.utils.text import slugify

SLUG_CHARS = 110  # of the column's 120: room for a number


def new_product_slug(vendor: str, model: str, capacity_gb: int | None, taken: Container[str]) -> str:
    """Return a slug that is not taken, such as `sandisk-dc-sn861-6400gb`; the second of a name gets a number.

    >>> new_product_slug("AWS", "c5d.24xlarge", None, {"aws-c5d-24xlarge"})
    'aws-c5d-24xlarge-2'
    """
    stem = product_stem(vendor, model, capacity_gb)
    numbered = (f"{stem}-{number}" for number in count(2))
    return stem if stem not in taken else next(slug for slug in numbered if slug not in taken)


def product_stem(vendor: str, model: str, capacity_gb: int | None) -> str:
    """Return the readable part; a full stop separates words (c5d.24xlarge), which slugify alone would swallow."""
    capacity = f" {capacity_gb}gb" if capacity_gb else ""
    return slugify(f"{vendor} {model}{capacity}".replace(".", " "))[:SLUG_CHARS] or "product"
