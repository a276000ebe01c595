"""Lab hosts: their protocol, and one module per way of reaching one."""

from collections.abc import Callable

from runners.errors import HostElsewhereError
from runners.hosts.agent import AgentHost
from runners.hosts.local import LocalHost
from runners.hosts.machine import is_this_machine, machine_id
from runners.hosts.protocol import LabHost
from runners.hosts.ssh import SshHost
from runners.hosts.wire import RemoteHost
from runners.models import Host

REMOTE: dict[str, Callable[[Host], RemoteHost]] = {Host.Kind.SSH: SshHost, Host.Kind.AGENT: AgentHost}
CONNECTORS: dict[str, Callable[[Host], LabHost]] = {Host.Kind.LOCAL: lambda host: LocalHost(), **REMOTE}


def is_reachable(host: Host) -> bool:
    """Return whether this machine can reach a host. A local host that is not assigned yet is any machine's."""
    return host.is_remote or is_this_machine(host.machine_id)


def connect(host: Host) -> LabHost:
    """Return a connection to a host. Raise HostElsewhereError if the host is another machine.

    On the wrong machine every run would seem absent. Raise MachineUnknownError for the same reason if this machine has
    no readable id.
    """
    if not is_reachable(host):
        raise HostElsewhereError(
            f"{host} is the machine {host.machine_id[:12]}, this is {machine_id()[:12]}; "
            "start the register's worker on that machine"
        )
    return CONNECTORS[host.kind](host)
