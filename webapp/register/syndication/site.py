"""Addresses as other sites are given them, and text as XML can hold it."""

import re

from django.conf import settings

# What XML 1.0 has no way to write (its section 2.2), and the marks that turn the direction of the text around them.
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def site_address(path: str) -> str:
    """Return a path of this site with the site's public address before it."""
    return f"{settings.PUBLIC_URL}{path}"


def plain_text(text: str) -> str:
    """Return text from a log or a form as one line that XML can hold and that turns nothing around."""
    return " ".join(TURNING.sub("", NOT_XML.sub("", text)).split())
