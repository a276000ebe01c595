import asyncio
import errno
import socket
import subprocess
import sys

import asyncssh
import pytest

from runners.errors import HostUnavailableError
from runners.hosts.protocol import ResponseTimer
from runners.hosts.ssh_connection import Address, Connections, _silent_error

LAB = Address("lab-1", "192.0.2.1", 22, "drivecert", "key")


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (OSError(errno.EHOSTUNREACH, "Connect call failed ('192.0.2.1', 22)"), "no connection: No route to host;"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed"), "no connection: Connection refused;"),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "connection: Name or service not known;"),
        (OSError("Multiple exceptions: [Errno 111] one, [Errno 113] two"), "Multiple exceptions: one, two;"),
        (
            asyncssh.ConnectionLost("Connection lost"),
            "Connection lost; check that the host is up and its link works",
        ),
        (asyncssh.HostKeyNotVerifiable("not trusted"), "pin the new key with manage.py add_host --replace"),
        (asyncssh.PermissionDenied("Permission denied"), "no session: Permission denied; check the host's setup"),
    ],
)
def test_the_error_of_an_unreachable_host_is_a_sentence(error, cause):
    message = str(_silent_error(LAB, error))
    assert message.startswith("lab-1: 192.0.2.1 ")
    assert cause in message
    assert "Errno" not in message
    assert type(error).__name__ not in message


class LostConnection:
    def abort(self):
        pass


class LosingConnections(Connections):
    """Lose the connection with each request, while another request has opened one."""

    def __init__(self):
        super().__init__()
        self._open[LAB] = LostConnection()
        self.sent_count = 0

    async def _run_command(self, address, payload, timer):
        self.sent_count += 1
        if self.sent_count > 9:
            return b"repeated too often"
        await asyncio.sleep(0)
        raise asyncssh.ConnectionLost("Connection lost")

    def _drop(self, address):
        super()._drop(address)
        self._open[address] = LostConnection()


def test_a_request_is_repeated_at_most_once_while_other_requests_open_connections():
    connections = LosingConnections()
    with pytest.raises(HostUnavailableError, match="Connection lost"):
        asyncio.run(connections._timed(LAB, b"{}", 5, ResponseTimer()))
    assert connections.sent_count == 2


SCRIPT = """
import sys
import webapp.wsgi  # sets Django up
import runners.tasks
from runners.hosts.protocol import ResponseTimer
from runners.hosts.ssh_connection import Address, Connections

print("asyncssh" in sys.modules)

class Timer(ResponseTimer):
    def request_sent(self):
        sys.exit(print("asyncssh" in sys.modules))

Connections().exchange(Address("lab-1", "127.0.0.1", 1, "drivecert", "key"), b"", 1, Timer())
"""


def test_asyncssh_is_imported_before_the_first_request_and_not_in_the_time_of_the_host():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", "True"]
