"""Endpoints of drives: the overview of all drives in service, and the records of the drive of a device."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import Cursor
from rest_framework.request import Request
from rest_framework.response import Response

from results.models import Preparation
from runners.models import Device, DriveState
from webapp.api.lab.views import LabList
from webapp.api.pagination import NewestFirst, OldestFirst
from webapp.api.views import CURSOR
from webapp.lab.drives.overview import DriveFilter, DriveRow, drive_page
from webapp.lab.shared.drive_status import drive_states, preparations
from webapp.lab.shared.views import find_device

FILTERS = [each.value for each in DriveFilter if each.value]


class DriveRowSerializer(serializers.Serializer[DriveRow]):
    """A drive in service, as the page of all drives lists it. `device` is the id of its device.

    `firmware` is empty if the host did not report it. `dispatch` is the run that uses the drive; `ends_at` is the
    ordered end of that run, and `celsius` the highest temperature that it last reported.
    """

    device = serializers.IntegerField(source="device.pk")
    url = serializers.SerializerMethodField()
    host = serializers.CharField(source="device.host.name")
    label = serializers.CharField(source="device.label")  # type: ignore[assignment]  # the metaclass takes it out
    drive_key = serializers.CharField(source="device.drive_key")
    path = serializers.CharField(source="device.path")
    size_bytes = serializers.IntegerField(source="device.size_bytes")
    warnings = serializers.SerializerMethodField()
    firmware = serializers.CharField()
    earlier_firmware = serializers.CharField(help_text="Firmware after its last run; empty if not recorded.")
    is_firmware_new = serializers.BooleanField()
    is_free = serializers.BooleanField()
    is_missing = serializers.BooleanField()
    host_use = serializers.CharField(source="use", help_text="What its host uses it for; empty for nothing.")
    dispatch = serializers.CharField(source="dispatch.public_id", allow_null=True, default=None)
    campaign = serializers.CharField(source="campaign.public_id", allow_null=True, default=None)
    last_campaign = serializers.CharField(source="last_campaign.public_id", allow_null=True, default=None)
    queued_count = serializers.IntegerField()
    ends_at = serializers.DateTimeField(allow_null=True)
    celsius = serializers.FloatField(allow_null=True)

    def get_url(self, row: DriveRow) -> str:
        return f"/lab/devices/{row.device.pk}/"

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_warnings(self, row: DriveRow) -> list[str]:
        """Return the codes of the warnings; the response for the device has their sentences."""
        return [code.value for code in row.warnings]


LIST_PARAMETERS = [
    OpenApiParameter("q", str, description="Words in label, host, path, model, drive or firmware. All must occur."),
    OpenApiParameter("state", str, enum=FILTERS, description="Default: all drives in service."),
]


@extend_schema_view(get=extend_schema(summary="List drives with their use", parameters=LIST_PARAMETERS))
class DriveList(LabList):
    """GET returns the drives in service with what uses them, by host, as the page of all drives does.

    A page has at least 200 drives if more follow.
    """

    serializer_class = DriveRowSerializer
    pagination_class = OldestFirst
    parameters = (CURSOR, "q", "state")
    queryset = Device.objects.none()  # for the schema; `drive_page` reads the drives

    def list(self, request: Request, *_args: Any, **_kwargs: Any) -> Response:
        """Return a page of drives. Its cursor has the last drive that was read, also if no filter lists that one."""
        words, state = request.query_params.get("q", ""), request.query_params.get("state", "")
        if state not in DriveFilter.values:
            raise ValidationError({"state": [f"Expected one of {', '.join(FILTERS)}, got {state[:40]}."]})
        pages = OldestFirst()
        pages.base_url = request.build_absolute_uri()
        rows, last = drive_page(words, state, _drive_of(pages.decode_cursor(request)))
        following = None if last is None else pages.encode_cursor(Cursor(0, reverse=False, position=last))
        shown = self.get_serializer(rows, many=True).data
        return Response({"next": following, "previous": None, "results": shown})


def _drive_of(cursor: Cursor | None) -> Device | None:
    """Return the drive after which a page begins, None for the first page. Raises NotFound."""
    if cursor is None:
        return None
    device = Device.objects.select_related("host").filter(pk=cursor.position).first() if cursor.position else None
    if device is None:
        raise NotFound(OldestFirst.invalid_cursor_message)
    return device


class DriveStateSerializer(serializers.ModelSerializer[DriveState]):
    """A drive as its host reported it before or after a dispatch. Null means not reported.

    `reason` states why the host did not identify the drive. `discards_count` counts trims since the host started.
    """

    dispatch = serializers.CharField(source="dispatch.public_id")

    class Meta:
        """Fields that the page of the device shows."""

        model = DriveState
        fields = ["at", "dispatch", "moment", "reason", "firmware", "size_bytes", "over_provisioning_pct", "wear_pct",
                  "temperature_c", "throttled_s", "discards_count"]  # fmt: skip


class DeviceStates(LabList):
    """GET returns the states of the drive of a device on all of its hosts, newest first."""

    serializer_class = DriveStateSerializer
    pagination_class = NewestFirst
    queryset = DriveState.objects.none()  # for the schema

    def get_queryset(self) -> QuerySet[DriveState]:
        return drive_states(find_device(self.kwargs["device_id"]))


class PreparationSerializer(serializers.ModelSerializer[Preparation]):
    """A preparation of a drive. `evidence` is the SHA-256 of the record that the program printed; null without one."""

    evidence = serializers.CharField(source="evidence.sha256", allow_null=True, default=None)

    class Meta:
        """Fields that the page of the device shows."""

        model = Preparation
        fields = ["started_at", "finished_at", "evidence"]


class DevicePreparations(LabList):
    """GET returns the preparations of the drive of a device, the one that was recorded last first."""

    serializer_class = PreparationSerializer
    pagination_class = NewestFirst
    queryset = Preparation.objects.none()  # for the schema

    def get_queryset(self) -> QuerySet[Preparation]:
        return preparations(find_device(self.kwargs["device_id"])).select_related("evidence")
