"""The names that makers and providers go by besides their own: for the search, and for what drives report."""

OTHER_NAMES = {
    "western digital": ("wd", "wdc", "hgst"),
    "kioxia": ("toshibamemory",),
    "smart iops": ("smartiops",),
    "sk hynix": ("sk", "hynix", "skhynix"),
    "aws": ("amazon", "ec2"),
    "gcp": ("google",),
    "azure": ("microsoft",),
}  # by the maker's name in lower case; docs/exports.md names them
OWN_NAMES = {other: maker for maker, others in OTHER_NAMES.items() for other in others}
