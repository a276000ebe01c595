"""What a host recognised of somebody's data on a drive, by its drivecert.identity/1."""

from collections.abc import Mapping
from typing import Any

SIGNATURE, SIGNATURE_ERROR = "signature", "signature_error"
# Refusals that say that somebody uses the drive, or that it cannot be opened: nothing is read from it then.
# Source: runners/drivetest/crates/device/src/identity/mod.rs, IN_USE.
IN_USE = frozenset({"mounted", "boot", "held", "swap", "claimed", "no-access", "open", "busy"})
# The option of an order that holds the data which somebody consented to have written over, in the host's words.
DESTROY = "i_know_this_destroys_data"


def is_told(document: Mapping[str, Any]) -> bool:
    """Tell whether a host looked at what a drive holds, and said what it recognises, be it nothing."""
    if SIGNATURE not in document or document[SIGNATURE] is not None:
        return SIGNATURE in document
    if document.get(SIGNATURE_ERROR):  # it could not be read: earlier programs tell it like an empty drive
        return False
    return IN_USE.isdisjoint(refusal["id"] for refusal in document.get("refusals") or ())


def signature_of(document: Mapping[str, Any]) -> str:
    """Return what was recognised on a drive; empty for nothing, and where the host did not tell."""
    return document.get(SIGNATURE) or ""
