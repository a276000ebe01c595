import errno
import socket

import asyncssh
import pytest

from runners.hosts.ssh_connection import Address, _silent_error

LAB = Address("lab-1", "192.0.2.1", 22, "drivecert", "key")


@pytest.mark.parametrize(
    ("error", "said"),
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
def test_a_host_that_cannot_be_reached_is_told_in_words(error, said):
    told = str(_silent_error(LAB, error))
    assert told.startswith("lab-1: 192.0.2.1 ")
    assert said in told
    assert "Errno" not in told
    assert type(error).__name__ not in told
