"""What a host recognised of somebody's data on a drive, by its drivecert.identity/1."""

from collections.abc import Mapping
from typing import Any

SIGNATURE = "signature"
# The option of an order that holds the data which somebody consented to have written over, in the host's words.
DESTROY = "i_know_this_destroys_data"


def is_told(document: Mapping[str, Any]) -> bool:
    """Tell whether a host said what it recognises on a drive, be it nothing."""
    return SIGNATURE in document


def signature_of(document: Mapping[str, Any]) -> str:
    """Return what was recognised on a drive; empty for nothing, and where the host did not tell."""
    return document.get(SIGNATURE) or ""
