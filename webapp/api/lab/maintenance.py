"""Endpoints of maintenance windows: those of a host, and those of all hosts, which pause the lab."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from runners.errors import RequestRefusedError
from runners.inventory.maintenance_windows import end_window, plan_window
from runners.models import MaintenanceWindow
from webapp.api.lab.views import LabAccess, LabList, person_of, refuse_unknown_fields, stated_host
from webapp.api.pagination import OldestFirst
from webapp.api.payloads import fields_of_form, stated_fields, valid_fields
from webapp.lab.hosts.forms import MaintenanceForm


class WindowSerializer(serializers.ModelSerializer[MaintenanceWindow]):
    """A period in which no run starts on a host. `host` is null for all hosts, `ends_at` for an open end."""

    host = serializers.CharField(source="host.name", allow_null=True, default=None)

    class Meta:
        """Fields of a window."""

        model = MaintenanceWindow
        fields = ["id", "host", "starts_at", "ends_at", "reason", "added_at"]


WINDOW_FIELDS: dict[str, Any] = {
    "host": serializers.CharField(required=False, help_text="Name of a host. Default: all hosts."),
    **fields_of_form(MaintenanceForm, optional=("starts_at", "ends_at")),
}


class WindowList(LabList):
    """GET returns the maintenance windows, also past ones, the first planned first. POST plans one."""

    serializer_class = WindowSerializer
    pagination_class = OldestFirst

    def get_queryset(self) -> QuerySet[MaintenanceWindow]:
        return MaintenanceWindow.objects.select_related("host")

    @extend_schema(
        summary="Plan maintenance of a host, or pause the lab",
        description=(
            "POST plans a maintenance window of host, or of all hosts without it. No run starts whose ordered time "
            "would reach into the window; runs that have started continue. Without starts_at the window begins now; "
            "without ends_at it lasts until it is ended. A machine token cannot plan one. The response is 409 with the "
            "code period-invalid if the end is not after the start and after now."
        ),
        request=inline_serializer("LabMaintenance", WINDOW_FIELDS),
        responses={201: WindowSerializer},
    )
    def post(self, request: Request) -> Response:
        actor, fields = person_of(request), stated_fields(request)
        name = fields.pop("host", None)
        host = None if name is None else stated_host(name)
        stated = valid_fields(MaintenanceForm, fields).cleaned_data
        starts_at = stated["starts_at"] or timezone.now()
        window = plan_window(host, starts_at, stated["ends_at"], stated["reason"], actor)
        return Response(WindowSerializer(window).data, 201)


class WindowEnd(LabAccess):
    """POST ends a maintenance window."""

    @extend_schema(
        summary="End maintenance, or resume the lab",
        description=(
            "POST ends a maintenance window now, also one that has not begun. Waiting runs start. If it has ended "
            "before, the response is 409 with the code not-current."
        ),
        request=None,
        responses=WindowSerializer,
    )
    def post(self, request: Request, window_id: int) -> Response:
        actor = person_of(request)
        refuse_unknown_fields(stated_fields(request))
        window = get_object_or_404(MaintenanceWindow.objects.select_related("host"), pk=window_id)
        if not end_window(window, actor):
            raise RequestRefusedError("The maintenance had ended already.", "not-current")
        window.refresh_from_db()
        return Response(WindowSerializer(window).data)
