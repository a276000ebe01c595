"""Endpoint of the calendar: the expected runs, campaigns and maintenance of each host in service."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers

from runners.models import Campaign, Dispatch, Host, MaintenanceWindow
from webapp.api.lab.views import LabList
from webapp.api.pagination import ByName
from webapp.lab.calendar.periods import HostCalendar, Period, PeriodKind, calendars_of, hosts_in_service


class PeriodSerializer(serializers.Serializer[Period]):
    """A period of a drive, or of all drives of the host if `device` is null. A time is null if it cannot be known.

    `dispatch`, `campaign` and `maintenance` name what the period is for; two of them are null. A maintenance window
    without an end lasts until a person ends it.
    """

    kind = serializers.ChoiceField(choices=PeriodKind.choices)
    starts_at = serializers.DateTimeField(allow_null=True)
    ends_at = serializers.DateTimeField(allow_null=True)
    device = serializers.IntegerField(source="device.pk", allow_null=True, default=None)
    dispatch = serializers.SerializerMethodField()
    campaign = serializers.SerializerMethodField()
    maintenance = serializers.SerializerMethodField()
    nx_load = serializers.SerializerMethodField()
    is_paused = serializers.SerializerMethodField()
    is_of_all_hosts = serializers.SerializerMethodField()
    reason = serializers.SerializerMethodField()

    def get_dispatch(self, period: Period) -> str | None:
        return period.subject.public_id if isinstance(period.subject, Dispatch) else None

    def get_campaign(self, period: Period) -> str | None:
        return period.subject.public_id if isinstance(period.subject, Campaign) else None

    def get_maintenance(self, period: Period) -> int | None:
        return period.subject.pk if isinstance(period.subject, MaintenanceWindow) else None

    def get_nx_load(self, period: Period) -> str | None:
        """Return the load of a run; null for a period or a recipe without a load."""
        load = period.subject.nx_load if isinstance(period.subject, Dispatch) else None
        return None if load is None else str(load)

    def get_is_paused(self, period: Period) -> bool:
        """Return whether the period is of a campaign that a person paused."""
        return isinstance(period.subject, Campaign) and period.subject.state == Campaign.State.PAUSED

    def get_is_of_all_hosts(self, period: Period) -> bool:
        """Return whether the period is maintenance of all hosts."""
        return isinstance(period.subject, MaintenanceWindow) and period.subject.host_id is None

    def get_reason(self, period: Period) -> str:
        """Return the reason of maintenance; empty for other periods."""
        return period.subject.reason if isinstance(period.subject, MaintenanceWindow) else ""


class HostCalendarSerializer(serializers.Serializer[HostCalendar]):
    """The periods of a host, by their beginnings; those without a known beginning are last."""

    host = serializers.CharField(source="host.name")
    periods = PeriodSerializer(many=True)


@extend_schema_view(get=extend_schema(summary="Read the calendar of hosts and drives"))
class Calendar(LabList):
    """GET returns what is expected on the drives of each host in service, by name of the host.

    Future times apply if each run takes its ordered time, and no run is repeated.
    """

    serializer_class = HostCalendarSerializer
    pagination_class = ByName

    def get_queryset(self) -> QuerySet[Host]:
        return hosts_in_service()

    def paginate_queryset(self, queryset: Any) -> list[Any]:
        """Return the calendars of a page of hosts."""
        return calendars_of(super().paginate_queryset(queryset) or [])
