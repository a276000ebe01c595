"""Absolute URLs of this site, and text that is valid in XML."""

import re

from django.conf import settings

# Characters that XML 1.0 does not allow (section 2.2), and characters that change the direction of text.
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def site_address(path: str) -> str:
    """Return the absolute URL of a path."""
    return f"{settings.PUBLIC_URL}{path}"


def plain_text(text: str) -> str:
    """Return text from a log or a form as one line without characters that are invalid in XML or change direction."""
    return " ".join(TURNING.sub("", NOT_XML.sub("", text)).split())
