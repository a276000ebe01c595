"""A lab host over SSH: each exchange is one run of the only command that its sudo rule allows."""

from django.conf import settings

from runners.hosts.ssh_connection import CONNECTIONS, Address, Connections
from runners.hosts.wire import RemoteHost
from runners.models import Host


class SshHost(RemoteHost):
    """A remote host over one of the connections of this process."""

    def __init__(self, host: Host, connections: Connections = CONNECTIONS) -> None:
        super().__init__(host)
        self.address = Address(host.name, host.address, host.port, host.user, host.host_key)
        self.connections = connections

    def exchange(self, payload: bytes) -> bytes:
        """Return the answer to a batch of requests. Raise HostUnavailableError if it does not come in time."""
        return self.connections.exchange(self.address, payload, settings.HOST_ANSWER_TIMEOUT_S, self.timer)
