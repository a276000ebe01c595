"""The names that vendors have in addresses."""

from django.utils.text import slugify


def vendor_slug(vendor: str) -> str:
    """Return a vendor's name as it stands in an address; a name without a letter of ASCII has none of its own.

    >>> vendor_slug("Western Digital")
    'western-digital'
    """
    return slugify(vendor) or "unnamed"
