"""Hosts and devices in responses, as the pages of the lab show them."""

from typing import Any

from django.db.models import Prefetch
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from runners.hosts.protocol import DriveUse
from runners.inventory.enrolment import setup_steps, teardown_steps
from runners.inventory.health import is_listed, no_work_reasons, reported_at
from runners.inventory.service_state import out_of_service
from runners.models import Device, Dispatch, Host, HostOutage
from webapp.lab.devices.commands import FoundDevice
from webapp.lab.hosts.page import AgentState, agent_of, drives_of
from webapp.lab.shared.drive_status import availability_of, consent_context


class DriveWarningSerializer(serializers.Serializer[Any]):
    """A warning about a drive: a code, and the sentence that the pages show."""

    code = serializers.CharField()
    detail = serializers.CharField(source="text")


class OutageSerializer(serializers.ModelSerializer[HostOutage]):
    """A period without a usable answer of the host. `until` is null while it lasts."""

    host = serializers.CharField(source="host.name")

    class Meta:
        """Fields of an outage."""

        model = HostOutage
        fields = ["host", "cause", "since", "until", "is_answered", "count"]


PRESENT_OUTAGE = Prefetch("outages", HostOutage.objects.filter(until=None).select_related("host"))


class HostSerializer(serializers.ModelSerializer[Host]):
    """A host. `no_work` are the reasons why it gets no work now; it is empty for a host that gets work."""

    url = serializers.SerializerMethodField()
    no_work = serializers.SerializerMethodField()
    outages = serializers.SerializerMethodField()

    class Meta:
        """Fields of a list."""

        model = Host
        fields = ["name", "url", "kind", "address", "region", "zone", "checked_at", "retired_at", "added_at", "no_work",
                  "outages"]  # fmt: skip

    def get_url(self, host: Host) -> str:
        return f"/lab/hosts/{host.name}/"

    def get_no_work(self, host: Host) -> list[str]:
        return no_work_reasons(host)

    @extend_schema_field(OutageSerializer(many=True))
    def get_outages(self, host: Host) -> Any:
        """Return the outage that lasts now, if there is one."""
        return OutageSerializer(host.outages.all(), many=True).data


class HostDriveSerializer(serializers.Serializer[Any]):
    """A drive that the host found. `device` is the id of the device that it is bound as, null if it is none.

    `is_listed`: the operator of the host lists it as loadable; null if not reported, and on hosts without a list.
    `uses`: what the host uses it for; empty for a free drive, null if not reported.
    """

    path = serializers.CharField(source="drive.path")
    kind = serializers.CharField(source="drive.kind")
    drive_key = serializers.CharField(source="drive.drive_key")
    size_bytes = serializers.IntegerField(source="drive.size_bytes")
    model = serializers.CharField(source="drive.model", allow_null=True)
    serial = serializers.CharField(source="drive.serial", allow_null=True)
    device = serializers.IntegerField(source="device.pk", allow_null=True, default=None)
    is_listed = serializers.BooleanField(allow_null=True)
    uses = serializers.ListField(
        source="drive.uses", child=serializers.ChoiceField([use.value for use in DriveUse]), allow_null=True
    )
    mount_points = serializers.ListField(source="drive.mount_points", child=serializers.CharField(), allow_null=True)


class ManualStepSerializer(serializers.Serializer[Any]):
    """A step that the operator carries out on the host: a sentence, and its commands for a shell of root."""

    text = serializers.CharField()
    commands = serializers.CharField()


class AgentSerializer(serializers.Serializer[Any]):
    """The agent of a host. `code_expires_at` is the end of a join code that no agent has used; null without one.

    `new_program` is the SHA-256 of the register's drivetest if another one is pinned; empty otherwise.
    """

    state = serializers.ChoiceField(choices=AgentState.choices)
    version = serializers.CharField(source="agent.version")
    code_expires_at = serializers.DateTimeField(allow_null=True)
    joined_at = serializers.DateTimeField(source="agent.joined_at", allow_null=True)
    seen_at = serializers.DateTimeField(source="agent.seen_at", allow_null=True)
    revoked_at = serializers.DateTimeField(source="agent.revoked_at", allow_null=True)
    new_program = serializers.CharField()


class HostDetailSerializer(HostSerializer):
    """A host with the program, the space and the drives of its last report. Null means not reported.

    `agent` is null for a host without an agent. The register's own machine has no steps.
    """

    program_sha256 = serializers.CharField()
    program_version = serializers.SerializerMethodField()
    kernel = serializers.SerializerMethodField()
    free_bytes = serializers.SerializerMethodField()
    clock_offset_s = serializers.SerializerMethodField()
    reported_at = serializers.SerializerMethodField()
    devices = serializers.PrimaryKeyRelatedField[Device](many=True, read_only=True)
    drives = serializers.SerializerMethodField()
    drives_unknown_reason = serializers.SerializerMethodField()
    agent = serializers.SerializerMethodField()
    setup_steps = serializers.SerializerMethodField()
    teardown_steps = serializers.SerializerMethodField()

    class Meta(HostSerializer.Meta):
        """Fields of the list, and the last report."""

        fields = [
            *HostSerializer.Meta.fields, "program_sha256", "program_version", "kernel", "free_bytes", "clock_offset_s",
            "reported_at", "devices", "drives", "drives_unknown_reason", "agent", "setup_steps", "teardown_steps",
        ]  # fmt: skip

    def to_representation(self, host: Host) -> dict[str, Any]:
        """Return the host; its drives are listed once."""
        self.found = drives_of(host)
        return super().to_representation(host)

    def get_program_version(self, host: Host) -> str | None:
        found: str | None = host.health.get("program_version")
        return found

    def get_kernel(self, host: Host) -> str | None:
        found: str | None = host.health.get("kernel")
        return found

    def get_free_bytes(self, host: Host) -> int | None:
        found: int | None = host.health.get("free_bytes")
        return found

    def get_clock_offset_s(self, host: Host) -> float | None:
        found: float | None = host.health.get("clock_offset_s")
        return found

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_reported_at(self, host: Host) -> Any:
        return reported_at(host.health)

    @extend_schema_field(HostDriveSerializer(many=True))
    def get_drives(self, _host: Host) -> Any:
        return HostDriveSerializer(self.found.get("rows", []), many=True).data

    def get_drives_unknown_reason(self, _host: Host) -> str:
        """Return why the drives are not known; empty if they are."""
        return str(self.found.get("unknown_reason", ""))

    @extend_schema_field(AgentSerializer(allow_null=True))
    def get_agent(self, host: Host) -> Any:
        found = agent_of(host)
        return found and AgentSerializer(found).data

    @extend_schema_field(ManualStepSerializer(many=True))
    def get_setup_steps(self, host: Host) -> Any:
        return _steps(setup_steps(host)) if host.is_remote else []

    @extend_schema_field(ManualStepSerializer(many=True))
    def get_teardown_steps(self, host: Host) -> Any:
        return _steps(teardown_steps(host)) if host.is_remote else []


def _steps(steps: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"text": text, "commands": commands} for text, commands in steps]


class JoiningHostSerializer(HostDetailSerializer):
    """A host with a new join code of its agent, and the commands that contain it. No later response has the code.

    Both are null for a host without an agent.
    """

    join_code = serializers.CharField(allow_null=True, read_only=True)
    join_commands = serializers.CharField(allow_null=True, read_only=True)

    class Meta(HostDetailSerializer.Meta):
        """Fields of a host, and its code."""

        fields = [*HostDetailSerializer.Meta.fields, "join_code", "join_commands"]

    def to_representation(self, host: Host) -> dict[str, Any]:
        """Return the host with the code of the context."""
        return {**super().to_representation(host), **self.context["joining"]}


class LeftoverSerializer(serializers.ModelSerializer[Dispatch]):
    """An ended dispatch whose files are only on the host.

    `is_requested`: their archiving was requested, and is still to come.
    """

    id = serializers.CharField(source="public_id")
    url = serializers.SerializerMethodField()
    device = serializers.IntegerField(source="device_id")
    is_requested = serializers.SerializerMethodField()

    class Meta:
        """Fields of a leftover."""

        model = Dispatch
        fields = ["id", "url", "device", "recipe", "state", "ended_at", "log_bytes", "is_requested"]

    def get_url(self, dispatch: Dispatch) -> str:
        return f"/lab/dispatches/{dispatch.public_id}/"

    def get_is_requested(self, dispatch: Dispatch) -> bool:
        return dispatch.pk in self.context["requested_ids"]


class DeviceSerializer(serializers.ModelSerializer[Device]):
    """A drive that is bound to a host. `is_listed` is as in the drives of the host."""

    url = serializers.SerializerMethodField()
    host = serializers.CharField(source="host.name")
    is_missing = serializers.BooleanField()
    may_certify = serializers.BooleanField()
    is_listed = serializers.SerializerMethodField()

    class Meta:
        """Fields of a list."""

        model = Device
        fields = ["id", "url", "host", "label", "identity_kind", "drive_key", "path", "size_bytes", "is_missing",
                  "may_certify", "is_listed", "added_at", "retired_at"]  # fmt: skip

    def get_url(self, device: Device) -> str:
        return f"/lab/devices/{device.pk}/"

    def get_is_listed(self, device: Device) -> bool | None:
        return is_listed(device.host, device.drive_key)


class ShownConsentSerializer(serializers.Serializer[Any]):
    """What an order repeats to overwrite the device. `is_wiped_at_host`: only the host's operator removes its data."""

    shown_signature = serializers.CharField()
    shown_place = serializers.CharField(source="shown_location")
    must_type_label = serializers.BooleanField()
    is_wiped_at_host = serializers.BooleanField()


class UseSerializer(serializers.Serializer[Any]):
    """What uses the drive on all of its hosts."""

    is_free = serializers.BooleanField()
    host_use = serializers.CharField(
        help_text="what its host uses it for, by its last report or now; empty for nothing"
    )
    campaign = serializers.CharField(source="campaign.public_id", allow_null=True, default=None)
    dispatch = serializers.CharField(source="dispatch.public_id", allow_null=True, default=None)
    queued_count = serializers.IntegerField()


class DeviceDetailSerializer(DeviceSerializer):
    """A device with its use, the warnings before an order, and what the order repeats."""

    use = serializers.SerializerMethodField()
    out_of_service = serializers.SerializerMethodField()
    warnings = serializers.SerializerMethodField()
    consent = serializers.SerializerMethodField()

    class Meta(DeviceSerializer.Meta):
        """Fields of the list, and those of the page of the device."""

        fields = [*DeviceSerializer.Meta.fields, "use", "out_of_service", "warnings", "consent"]

    def to_representation(self, device: Device) -> dict[str, Any]:
        """Return the device; the signature is read before the warnings."""
        self.shown = consent_context(device)
        return super().to_representation(device)

    @extend_schema_field(UseSerializer)
    def get_use(self, device: Device) -> Any:
        return UseSerializer(availability_of(device)).data

    def get_out_of_service(self, device: Device) -> str:
        """Return why the device gets no orders because it or its host is retired; empty if neither is."""
        return out_of_service(device)

    @extend_schema_field(DriveWarningSerializer(many=True))
    def get_warnings(self, _device: Device) -> Any:
        return DriveWarningSerializer(self.shown["warnings"], many=True).data

    @extend_schema_field(ShownConsentSerializer)
    def get_consent(self, _device: Device) -> Any:
        return ShownConsentSerializer(self.shown).data


class FoundDeviceSerializer(serializers.Serializer[FoundDevice]):
    """A device that a host identified at a path. It can be added if `objections` is empty.

    `label` is the requested label or a free one. `device` is the device that its drive is bound as, null for none.
    `moving_objection`: why that device cannot get this path and size now; empty if it can.
    """

    path = serializers.CharField(source="identity.path")
    identity_kind = serializers.ChoiceField(source="identity.kind", choices=Device.IdentityKind.choices)
    drive_key = serializers.CharField(source="identity.drive_key")
    size_bytes = serializers.IntegerField(source="identity.size_bytes")
    model = serializers.CharField(source="identity.document.model", allow_null=True, default=None)
    serial = serializers.CharField(source="identity.document.serial", allow_null=True, default=None)
    firmware = serializers.CharField(source="identity.document.firmware", allow_null=True, default=None)
    label = serializers.CharField()  # type: ignore[assignment]  # the metaclass takes it out of the class
    objections = serializers.ListField(child=serializers.CharField())
    warnings = DriveWarningSerializer(many=True)
    device = serializers.IntegerField(source="known.pk", allow_null=True, default=None)
    moving_objection = serializers.CharField()
