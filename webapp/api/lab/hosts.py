"""Endpoints of hosts: list, add, check, change and retire, with the forms and checks of the pages."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from runners.inventory.agents import enrol_agent_host
from runners.inventory.devices import add_local_host
from runners.inventory.enrolment import enrol, join_commands, own_program_sha256, set_location
from runners.models import Host
from runners.retention import retirement
from runners.retention.leftover_archive import fetch_requests, unarchived_on
from webapp.accounts.models import User
from webapp.api.lab.inventory import (
    PRESENT_OUTAGE,
    FoundDeviceSerializer,
    HostDetailSerializer,
    HostSerializer,
    JoiningHostSerializer,
    LeftoverSerializer,
)
from webapp.api.lab.views import LabAccess, LabDetail, LabList, person_of, refuse_unknown_fields
from webapp.api.pagination import ByName
from webapp.api.payloads import defaults_of, fields_of_form, stated_fields, valid_fields
from webapp.lab.devices.commands import identify
from webapp.lab.devices.forms import DeviceForm
from webapp.lab.hosts import commands
from webapp.lab.hosts.forms import AgentHostForm, HostForm, PlaceForm

KIND_FIELD = "kind"
NEW_HOST_FIELDS: dict[str, Any] = {
    KIND_FIELD: serializers.ChoiceField(choices=Host.Kind.choices, help_text="How the register reaches the host."),
    **fields_of_form(HostForm, optional=HostForm.base_fields),
}


def hosts() -> QuerySet[Host]:
    """Return the hosts with what a response shows."""
    return Host.objects.prefetch_related(PRESENT_OUTAGE, "devices")


def _shown(name: str) -> Response:
    return Response(HostDetailSerializer(hosts().get(name=name)).data)


def _joining(name: str, code: str, status: int = 200) -> Response:
    """Return a host with a join code. No cache may store the response."""
    joining = {"join_code": code or None, "join_commands": join_commands(code) if code else None}
    shown = JoiningHostSerializer(hosts().get(name=name), context={"joining": joining}).data
    headers = {"Cache-Control": "private, no-store", "Location": f"/api/v1/lab/hosts/{name}/"}
    return Response(shown, status, headers=headers)


class HostList(LabList):
    """GET returns the hosts, also retired ones, by name. POST adds one."""

    serializer_class = HostSerializer
    pagination_class = ByName

    def get_queryset(self) -> QuerySet[Host]:
        return Host.objects.prefetch_related(PRESENT_OUTAGE)

    @extend_schema(
        summary="Add a host",
        description=(
            "POST adds a host. kind is agent, ssh or local. A host with an agent needs its name only: join_commands "
            "installs drivetest there and lets it join. They contain join_code, which is valid for one hour and works "
            "once; only this response has it. A host over SSH needs address and host_key; port, user and "
            "program_sha256 have the values that the form of the page shows. local is the register's own machine; it "
            "has no other field, and is added once. A name that exists is refused with 400: no second request adds a "
            "second host. A machine token cannot add one."
        ),
        request=inline_serializer("LabHost", NEW_HOST_FIELDS),
        responses={201: JoiningHostSerializer},
    )
    def post(self, request: Request) -> Response:
        actor, fields = person_of(request), stated_fields(request)
        host, code = _add(str(fields.pop(KIND_FIELD, "")), fields, actor)
        return _joining(host.name, code, 201)


def _add(kind: str, fields: dict[str, Any], actor: User) -> tuple[Host, str]:
    """Add a host of a kind, and return it with the join code of its agent; empty for a host without an agent."""
    if kind == Host.Kind.AGENT:
        return enrol_agent_host(valid_fields(AgentHostForm, fields).cleaned_data["name"], actor)
    if kind == Host.Kind.SSH:
        form = valid_fields(HostForm, defaults_of(HostForm) | {"program_sha256": own_program_sha256()} | fields)
        return enrol(form.cleaned_data["name"], form.pins(), actor), ""
    if kind == Host.Kind.LOCAL:
        refuse_unknown_fields(fields)
        if host := Host.objects.filter(kind=Host.Kind.LOCAL).first():
            raise ValidationError({KIND_FIELD: [f"Expected agent or ssh, got local: this machine is host {host}."]})
        return add_local_host(actor), ""
    raise ValidationError(
        {KIND_FIELD: [f"Expected one of {', '.join(Host.Kind.values)}, got {kind[:40] or 'nothing'}."]}
    )


class HostDetail(LabDetail):
    """GET returns a host with its last report and its drives. The register lists the drives of its own machine now."""

    serializer_class = HostDetailSerializer
    lookup_field = "name"

    def get_queryset(self) -> QuerySet[Host]:
        return hosts()

    @extend_schema(
        summary="State the location of a host",
        description=(
            "PATCH states region and zone of a host; what is left out stays. New runs show them. A machine token "
            "cannot change them."
        ),
        request=inline_serializer("LabHostChanges", fields_of_form(PlaceForm)),
        responses=HostDetailSerializer,
    )
    def patch(self, request: Request, name: str) -> Response:
        actor, host = person_of(request), get_object_or_404(Host, name=name)
        form = valid_fields(PlaceForm, {"region": host.region, "zone": host.zone} | stated_fields(request))
        set_location(host, form.cleaned_data["region"], form.cleaned_data["zone"], actor)
        return _shown(name)


class HostLeftovers(LabAccess):
    """GET returns the ended dispatches whose leftover files are only on a host."""

    @extend_schema(
        operation_id="lab_hosts_leftovers",
        summary="List the leftover files of a host",
        description="GET returns the ended dispatches whose files on a host are stored nowhere else, oldest first.",
        responses=LeftoverSerializer(many=True),
    )
    def get(self, _request: Request, name: str) -> Response:
        host = get_object_or_404(Host, name=name)
        requested_ids = set(fetch_requests(host).values_list("pk", flat=True))
        rows = LeftoverSerializer(unarchived_on(host), many=True, context={"requested_ids": requested_ids})
        return Response(rows.data)


class HostCheck(LabAccess):
    """POST checks a host now."""

    @extend_schema(
        summary="Check a host now",
        description=(
            "POST checks a remote host now, also with a machine token. The response comes after the check: no_work has "
            "the reasons why the host gets no work. The register's own machine is refused with 409 and the code "
            "not-remote, a retired host with out-of-service."
        ),
        request=None,
        responses=HostDetailSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        refuse_unknown_fields(stated_fields(request))
        commands.check_host(get_object_or_404(Host, name=name))
        return _shown(name)


class HostIdentification(LabAccess):
    """POST identifies the device at a path of a host."""

    @extend_schema(
        summary="Identify a device",
        description=(
            "POST returns the device at a path of the host, as the host identifies it now. It adds nothing: repeat "
            "path, drive_key and label in POST /api/v1/lab/devices/. With create_mib, the register first creates a "
            "plain file on its own machine, if the path does not exist. If the host cannot identify the device, the "
            "response is 409 with the code host-refused. A machine token cannot request it."
        ),
        request=inline_serializer("LabDevicePath", fields_of_form(DeviceForm)),
        responses=FoundDeviceSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        person_of(request)
        host, fields = get_object_or_404(Host, name=name), stated_fields(request)
        if host.is_remote and fields.get("create_mib") is not None:
            raise ValidationError(
                {"create_mib": ["Expected no size: files are created on the register's machine only."]}
            )
        stated = valid_fields(DeviceForm, fields, host=host).cleaned_data
        found = identify(host, stated["path"], stated["label"], stated.get("create_mib"))
        return Response(FoundDeviceSerializer(found).data)


def _host_and_person(request: Request, name: str) -> tuple[Host, User]:
    """Return the host and the person of a command, which has no fields. Raises APIException."""
    actor = person_of(request)
    refuse_unknown_fields(stated_fields(request))
    return get_object_or_404(Host, name=name), actor


class AgentCode(LabAccess):
    """POST creates a new join code for the agent of a host."""

    @extend_schema(
        summary="Print a new join command",
        description=(
            "POST returns the host with a new join code for its agent, valid for one hour. An earlier code is no "
            "longer valid; the present agent works until another one joins. A host without an agent is refused with "
            "409 and the code no-agent, and one on which a run may be active with run-active."
        ),
        request=None,
        responses=JoiningHostSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        return _joining(name, commands.new_join_code(*_host_and_person(request, name)))


class AgentProgram(LabAccess):
    """POST pins the register's own drivetest on a host with an agent."""

    @extend_schema(
        summary="Pin the register's drivetest",
        description=(
            "POST pins the register's own drivetest on a host with an agent. The host gets work when it has this "
            "program. Refusals are those of a new join code."
        ),
        request=None,
        responses=HostDetailSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        commands.pin_own_program(*_host_and_person(request, name))
        return _shown(name)


class AgentRevocation(LabAccess):
    """POST revokes the agent of a host."""

    @extend_schema(
        summary="Revoke the agent of a host",
        description=(
            "POST ends the secret of a host's agent at once, and a join code that was not used. Runs that it has "
            "started continue."
        ),
        request=None,
        responses=HostDetailSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        commands.revoke_agent(*_host_and_person(request, name))
        return _shown(name)


class HostRetirementSerializer(serializers.Serializer[Any]):
    """Why a host is retired. `abandons_leftovers`: files there that were not archived are given up."""

    reason = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    abandons_leftovers = serializers.BooleanField(required=False, default=False)


class HostRetirement(LabAccess):
    """POST retires a host."""

    @extend_schema(
        summary="Retire a host",
        description=(
            "POST retires a host for a reason: it is no longer checked and gets no work. Its runs stay. Open work, "
            "files that are not archived, and a missing reason are refused with 409 and the code retirement-refused. "
            "With abandons_leftovers, such files are given up. A machine token cannot retire a host."
        ),
        request=HostRetirementSerializer,
        responses=HostDetailSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        actor, fields = person_of(request), stated_fields(request)
        refuse_unknown_fields(fields, known=("reason", "abandons_leftovers"))
        stated = HostRetirementSerializer(data=fields)
        stated.is_valid(raise_exception=True)
        reason, abandons = stated.validated_data.get("reason", ""), stated.validated_data["abandons_leftovers"]
        retirement.retire_host(get_object_or_404(Host, name=name), actor, reason, abandons_leftovers=abandons)
        return _shown(name)


class HostRestoration(LabAccess):
    """POST returns a host to service."""

    @extend_schema(
        summary="Return a host to service",
        description=(
            "POST returns a retired host to service. A remote host gets work after its next check. A host in service "
            "is refused with 409 and the code in-service."
        ),
        request=None,
        responses=HostDetailSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        commands.restore_host(*_host_and_person(request, name))
        return _shown(name)
