"""Endpoints of devices: list, add, refresh, rename and retire, with the forms and checks of the pages."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiResponse, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from runners.models import Device
from runners.retention import retirement
from webapp.api.authentication import token_of
from webapp.api.lab.inventory import DeviceDetailSerializer, DeviceSerializer
from webapp.api.lab.views import (
    CancelReasonSerializer,
    LabAccess,
    LabDetail,
    LabList,
    person_of,
    refuse_unknown_fields,
    stated_host,
    stated_reason,
)
from webapp.api.pagination import OldestFirst
from webapp.api.payloads import fields_of_form, stated_fields, valid_fields
from webapp.lab.devices import commands
from webapp.lab.devices.forms import BindForm, LabelForm
from webapp.lab.shared.views import find_device

HOST_FIELD = "host"
NEW_DEVICE_FIELDS: dict[str, Any] = {
    HOST_FIELD: serializers.CharField(help_text="Name of the host."),
    **fields_of_form(BindForm),
}


def _shown(device_id: int, status: int = 200) -> Response:
    headers = {"Location": f"/api/v1/lab/devices/{device_id}/"}
    return Response(DeviceDetailSerializer(find_device(device_id)).data, status, headers=headers)


class DeviceList(LabList):
    """GET returns the devices, also retired ones, the first added first. POST adds one."""

    serializer_class = DeviceSerializer
    pagination_class = OldestFirst

    def get_queryset(self) -> QuerySet[Device]:
        return Device.objects.select_related("host")

    @extend_schema(
        summary="Add a device",
        description=(
            "POST binds a drive to a host, with path, drive_key and label as POST /api/v1/lab/hosts/<name>/identify/ "
            "returned them. The host identifies the path again: another drive there is refused with 409 and the code "
            "location-changed. If the drive is a device of the host already, the response is 200: the device gets the "
            "path and size, and a retired one returns to service. Further refusals have the codes not-writable, "
            "bound-already, label-taken, device-in-use and out-of-service. A machine token cannot add a device."
        ),
        request=inline_serializer("LabDevice", NEW_DEVICE_FIELDS),
        responses={
            201: DeviceDetailSerializer,
            200: OpenApiResponse(DeviceDetailSerializer, "the drive was a device of the host before"),
        },
    )
    def post(self, request: Request) -> Response:
        actor, fields = person_of(request), stated_fields(request)
        host = stated_host(fields.pop(HOST_FIELD, ""))
        known = set(host.devices.values_list("pk", flat=True))
        device = commands.bind_confirmed(host, **valid_fields(BindForm, fields).cleaned_data, actor=actor)
        return _shown(device.pk, 200 if device.pk in known else 201)


class DeviceDetail(LabDetail):
    """GET returns a device with its use, its warnings, and the consent that an order needs. PATCH renames it."""

    serializer_class = DeviceDetailSerializer
    lookup_field = "pk"
    lookup_url_kwarg = "device_id"

    def get_queryset(self) -> QuerySet[Device]:
        return Device.objects.select_related("host")

    @extend_schema(
        summary="Rename a device",
        description=(
            "PATCH gives a device another label. A label of another device of the host is refused with 409 and the "
            "code label-taken. A machine token cannot rename a device."
        ),
        request=inline_serializer("LabDeviceChanges", fields_of_form(LabelForm, optional=LabelForm.base_fields)),
        responses=DeviceDetailSerializer,
    )
    def patch(self, request: Request, device_id: int) -> Response:
        actor, device = person_of(request), find_device(device_id)
        form = valid_fields(LabelForm, {"label": device.label} | stated_fields(request))
        commands.rename(device, form.cleaned_data["label"], actor)
        return _shown(device_id)


class DeviceRefresh(LabAccess):
    """POST refreshes the identity of a device."""

    @extend_schema(
        summary="Refresh a device",
        description=(
            "POST updates the identity and the recognised data of a device from its host now, also with a machine "
            "token. It is refused with 409 and the code refresh-refused while a run may be on the drive, and if the "
            "drive is another one or in use; host-refused and host-unavailable are failures of the host."
        ),
        request=None,
        responses=DeviceDetailSerializer,
    )
    def post(self, request: Request, device_id: int) -> Response:
        refuse_unknown_fields(stated_fields(request))
        commands.refresh(find_device(device_id), token_of(request).user)
        return _shown(device_id)


class DeviceRetirement(LabAccess):
    """POST retires a device."""

    @extend_schema(
        summary="Retire a device",
        description=(
            "POST retires a device for a reason: it accepts no more orders; its runs stay. Open work on it and a "
            "missing reason are refused with 409 and the code retirement-refused. A machine token cannot retire one."
        ),
        request=CancelReasonSerializer,
        responses=DeviceDetailSerializer,
    )
    def post(self, request: Request, device_id: int) -> Response:
        actor, reason = person_of(request), stated_reason(request)
        retirement.retire_device(find_device(device_id), actor, reason)
        return _shown(device_id)


class DeviceRestoration(LabAccess):
    """POST returns a device to service."""

    @extend_schema(
        summary="Return a device to service",
        description="POST returns a retired device to service. One in service is refused with 409 and in-service.",
        request=None,
        responses=DeviceDetailSerializer,
    )
    def post(self, request: Request, device_id: int) -> Response:
        actor = person_of(request)
        refuse_unknown_fields(stated_fields(request))
        commands.restore_device(find_device(device_id), actor)
        return _shown(device_id)
