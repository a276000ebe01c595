"""Endpoint of a selection: the same campaign on several drives."""

from typing import Any

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from runners.models import Device
from webapp.api.authentication import token_of
from webapp.api.lab.campaigns import CampaignSerializer
from webapp.api.lab.templates import TEMPLATE_FIELD, TEMPLATE_REFERENCE, stated_template, with_settings
from webapp.api.lab.views import (
    ConsentSerializer,
    LabAccess,
    consent_and_rest,
    lab_of_token,
    stated_device,
)
from webapp.api.payloads import defaults_of, fields_of_form, list_schema, stated_fields, valid_fields
from webapp.api.problems import Problem
from webapp.lab.campaigns.forms import CampaignForm
from webapp.lab.drives.views import SELECTED_MAX, SelectionRefusedError, start_campaigns

DRIVES_FIELD = "drives"


class SelectionCampaigns(LabAccess):
    """POST starts the same campaign on several drives."""

    @extend_schema(
        summary="Start a campaign on several drives",
        description=(
            "POST starts a campaign with the same terms on each of the drives, or on none of them. Each item of drives "
            "has the device and its consent, as in the start of one campaign; the other fields are the terms. If a "
            "drive refuses it, the response is 409 with the code selection-refused, and reasons has the sentence of "
            "each such drive. A repeated request starts nothing: the first campaigns use the drives."
        ),
        request=inline_serializer(
            "LabSelection",
            {
                DRIVES_FIELD: ConsentSerializer(many=True),
                TEMPLATE_FIELD: TEMPLATE_REFERENCE,
                **fields_of_form(CampaignForm, optional=CampaignForm.base_fields),
            },
        ),
        responses={201: list_schema("LabSelectionCampaigns", CampaignSerializer())},
    )
    def post(self, request: Request) -> Response:
        lab, fields = lab_of_token(request), stated_fields(request)
        devices, posted = _stated_drives(fields.pop(DRIVES_FIELD, None))
        fields = with_settings(stated_template(fields, lab), fields)
        form = valid_fields(CampaignForm, defaults_of(CampaignForm) | fields)
        try:
            started = start_campaigns(posted, devices, lab, form.campaign_order(), token_of(request).user)
        except SelectionRefusedError as error:
            reasons = [{"device": device_id, "detail": reason} for device_id, reason in error.reasons.items()]
            raise Problem(409, str(error), code=error.code, reasons=reasons) from error
        return Response({"results": CampaignSerializer(started, many=True).data}, 201)


def _stated_drives(drives: Any) -> tuple[list[Device], dict[str, str]]:
    """Return the devices of a request, and their consents as the page posts them. Raises ValidationError."""
    if not isinstance(drives, list) or not 1 <= len(drives) <= SELECTED_MAX:
        raise ValidationError({DRIVES_FIELD: [f"Expected a list of 1 to {SELECTED_MAX} drives."]})
    devices: dict[int, Device] = {}
    posted: dict[str, str] = {}
    for drive in drives:
        if not isinstance(drive, dict):
            raise ValidationError({DRIVES_FIELD: ["Expected an object with device and its consent for each drive."]})
        device, (consent, unknown) = stated_device(drive), consent_and_rest(drive)
        if unknown or device.pk in devices:
            wrong = f"unknown {', '.join(sorted(unknown))}" if unknown else f"device {device.pk} twice"
            raise ValidationError({DRIVES_FIELD: [f"Expected each device once, with its consent; got {wrong}."]})
        devices[device.pk] = device
        posted |= {f"{name}-{device.pk}": value for name, value in consent.items()}
    return list(devices.values()), posted
