"""Lab hosts: what is asked of them, and one module per way of reaching one."""

from collections.abc import Callable

from runners.hosts.local import LocalHost
from runners.hosts.protocol import LabHost
from runners.models import Host

Connect = Callable[[Host], LabHost]

WAYS: dict[str, Callable[[Host], LabHost]] = {Host.Kind.LOCAL: lambda host: LocalHost()}


def connect(host: Host) -> LabHost:
    """Return the way to a host."""
    return WAYS[host.kind](host)
