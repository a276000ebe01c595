"""The consent to write over a drive, asked before each order by one part of a page (lab/shared/consent.html)."""

from collections.abc import Mapping
from typing import Any

from runners.dispatch.preflight import last_identified
from runners.inventory.safety import is_signature_reported, may_consent_on_page, signature_of
from runners.models import Device
from runners.models.dispatch import CONSENT_OPTION
from webapp.lab.shared.drive_status import cautions_of, is_content_known

LABEL_FIELD, SHOWN_FIELD, PLACE_FIELD = "typed_label", "shown_signature", "shown_place"


def asked_of(device: Device) -> dict[str, Any]:
    """Return what every page that orders on a device shows before its button."""
    # What the order is compared with is read before what is shown: a change between the two refuses the order.
    shown = _signature(device)
    return {
        "device": device,
        "shown_signature": shown,
        "shown_place": _place(device),
        "cautions": cautions_of(device),
        "must_type_label": must_type_label(device),
        "is_wiped_at_host": not may_consent_on_page(device),
    }


def must_type_label(device: Device) -> bool:
    """Tell whether an order needs the device's label typed: data was recognised on it, or nobody knows that none is."""
    document, _ = last_identified(device)
    return not is_signature_reported(document) or bool(signature_of(document)) or not is_content_known(device)


def consented(device: Device, posted: Mapping[str, str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return an order's options with the consent that a page sent: the data that it showed is written over, no other.

    Only what is recognised has such a consent: where nobody told what a drive holds, drivetest refuses what it finds.
    Raises ValueError where the drive holds something else than the page showed, where the device is another part of its
    drive by now, and where its label was not typed.
    """
    holds, shown = _signature(device), posted.get(SHOWN_FIELD, "")
    if holds != shown:
        raise ValueError(f"{device.path} holds {_words(holds)} by now; the page said {_words(shown)}; look again")
    must_type, typed = must_type_label(device), posted.get(LABEL_FIELD, "").strip()
    # All partitions and namespaces of a drive are one device here: which one was shown goes with the label.
    if must_type and (place := posted.get(PLACE_FIELD, "")) != _place(device):
        raise ValueError(f"{device.label} is {_place(device)} by now; the page said {place or 'nothing'}; look again")
    if must_type and typed != device.label.strip():
        raise ValueError(f"expected the device's label, {device.label}, typed to confirm; got {typed or 'nothing'}")
    return {**options, CONSENT_OPTION: holds} if holds and may_consent_on_page(device) else dict(options)


def _place(device: Device) -> str:
    """Return which part of its drive a device is, for a form to send back."""
    return f"{device.path} of {device.size_bytes} bytes"


def _signature(device: Device) -> str:
    """Return what was recognised on a drive, as its host told last; empty for nothing, and where it did not tell."""
    document, _ = last_identified(device)
    return signature_of(document)


def _words(signature: str) -> str:
    return signature or "nothing that is recognised"
