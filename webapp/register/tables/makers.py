"""Names of makers and providers: other names, for the search and for reported identities, and names in addresses.

Brand names of models are for the search only.
"""

from django.utils.text import slugify

OTHER_NAMES = {
    "western digital": ("wd", "wdc", "hgst"),
    "kioxia": ("toshibamemory",),
    "smart iops": ("smartiops",),
    "sk hynix": ("sk", "hynix", "skhynix"),
    "aws": ("amazon", "ec2"),
    "gcp": ("google",),
    "azure": ("microsoft",),
}  # by the maker's name in lower case; docs/reference/exports.md names them
OWN_NAMES = {other: maker for maker, others in OTHER_NAMES.items() for other in others}
BRAND_NAMES = {"p5800x": ("optane",), "ssd dc p4800x": ("optane",)}  # by the model in lower case


def vendor_slug(vendor: str) -> str:
    """Return a vendor's name for an address; names without ASCII letters are all called "unnamed".

    >>> vendor_slug("Western Digital")
    'western-digital'
    """
    return slugify(vendor) or "unnamed"
