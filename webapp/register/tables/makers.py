"""Names of makers and providers in addresses."""

from functools import lru_cache

from django.utils.text import slugify


@lru_cache(maxsize=1000)  # pages with thousands of drives need it for each of them
def vendor_slug(vendor: str) -> str:
    """Return a vendor's name for an address; names without ASCII letters are all called "unnamed".

    >>> vendor_slug("Western Digital")
    'western-digital'
    """
    return slugify(vendor) or "unnamed"
