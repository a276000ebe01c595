"""Names of makers and providers in addresses."""

from django.utils.text import slugify


def vendor_slug(vendor: str) -> str:
    """Return a vendor's name for an address; names without ASCII letters are all called "unnamed".

    >>> vendor_slug("Western Digital")
    'western-digital'
    """
    return slugify(vendor) or "unnamed"
