"""Lab hosts: what is asked of them, and one module per way of reaching one."""

from collections.abc import Callable

from runners.errors import HostElsewhereError
from runners.hosts.local import LocalHost
from runners.hosts.machine import is_here, machine_id
from runners.hosts.protocol import LabHost
from runners.hosts.ssh import SshHost
from runners.models import Host

WAYS: dict[str, Callable[[Host], LabHost]] = {Host.Kind.LOCAL: lambda host: LocalHost(), Host.Kind.SSH: SshHost}


def is_within_reach(host: Host) -> bool:
    """Tell whether this machine can ask a host; one that nobody has named the machine of is anybody's."""
    return host.kind != Host.Kind.LOCAL or is_here(host.machine_id)


def connect(host: Host) -> LabHost:
    """Return the way to a host. Raises HostElsewhereError: here a run of another machine would look as if absent.

    Raises MachineUnknownError where this machine cannot be told from others, for the same reason.
    """
    if not is_within_reach(host):
        raise HostElsewhereError(
            f"{host} is the machine {host.machine_id[:12]}, this is {machine_id()[:12]}; "
            "the register's processes that ask it have to run on that machine"
        )
    return WAYS[host.kind](host)
