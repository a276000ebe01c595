"""The orderer's consent to overwrite a drive. Every page that orders a run includes lab/shared/consent.html."""

from collections.abc import Mapping
from typing import Any

from runners.dispatch.preflight import last_identified
from runners.inventory.safety import is_signature_reported, may_consent_on_page, signature_of
from runners.models import Device
from runners.models.dispatch import CONSENT_OPTION
from webapp.lab.shared.drive_status import drive_warnings, is_content_known

LABEL_FIELD, SHOWN_FIELD, LOCATION_FIELD = "typed_label", "shown_signature", "shown_place"


def consent_context(device: Device) -> dict[str, Any]:
    """Return what a page shows above the button that overwrites a device."""
    # Read the signature before the warnings: a change between the two then refuses the order.
    shown = _last_signature(device)
    return {
        "device": device,
        "shown_signature": shown,
        "shown_location": _location(device),
        "warnings": drive_warnings(device),
        "must_type_label": must_type_label(device),
        "is_wiped_at_host": not may_consent_on_page(device),
    }


def must_type_label(device: Device) -> bool:
    """Return whether an order needs the device's label typed: the drive holds data, or its content is unknown."""
    document, _ = last_identified(device)
    return not is_signature_reported(document) or bool(signature_of(document)) or not is_content_known(device)


def options_with_consent(device: Device, posted: Mapping[str, str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return an order's options, extended by the consent to overwrite the data that the page showed.

    Only recognised data needs this option: drivetest refuses data that the host had not reported.
    Raises ValueError if the drive's content or the device's location changed, or if the label was not typed.
    """
    signature, shown = _last_signature(device), posted.get(SHOWN_FIELD, "")
    if signature != shown:
        raise ValueError(
            f"The content of {device.path} changed: the page showed {_or_nothing(shown)}, the drive now holds "
            f"{_or_nothing(signature)}. Check the drive, then order again."
        )
    must_type, typed = must_type_label(device), posted.get(LABEL_FIELD, "").strip()
    # All partitions and namespaces of a drive are one device. The consent therefore includes the path and the size.
    if must_type and (location := posted.get(LOCATION_FIELD, "")) != _location(device):
        raise ValueError(
            f"The location of {device.label} changed: the page showed {location or 'nothing'}, it is now "
            f"{_location(device)}. Check the drive, then order again."
        )
    if must_type and typed != device.label.strip():
        raise ValueError(
            f"The label does not match. Expected {device.label}, got {typed or 'nothing'}. Type the device's label."
        )
    return {**options, CONSENT_OPTION: signature} if signature and may_consent_on_page(device) else dict(options)


def _location(device: Device) -> str:
    return f"{device.path} of {device.size_bytes} bytes"


def _last_signature(device: Device) -> str:
    """Return the data that the host last recognised on a drive; empty for none and if it was not reported."""
    document, _ = last_identified(device)
    return signature_of(document)


def _or_nothing(signature: str) -> str:
    return signature or "no recognised data"
