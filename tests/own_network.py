"""A separate network for each xdist worker, so that its tests can change interfaces without effect on other workers.

Chromium aborts its requests when an interface is added or removed, which every lab host does.
"""

import ctypes
import os
import shutil
import subprocess
from functools import cache
from urllib.parse import parse_qs, urlsplit

CLONE_NEWNET = 0x40000000


@cache
def can_be_taken() -> bool:
    """Return whether workers can have separate networks: it is permitted, and no server needs the network.

    Call this only after the addresses of the servers are known.
    """
    if not all(map(_is_by_socket, ("DATABASE_URL", "REDIS_URL"))) or not all(map(shutil.which, ("ip", "unshare"))):
        return False
    return subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode == 0


def take(worker: str) -> None:
    """Leave the machine's network for one with only a loopback interface, before any thread is started.

    A session without xdist has no other workers and stays in the machine's network.
    """
    if not worker or not can_be_taken():
        return
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"no network of its own for {worker}: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def _is_by_socket(variable: str) -> bool:
    """Return whether an address is a socket in the file system, which is the same in every network."""
    address = urlsplit(os.environ.get(variable, ""))
    return address.scheme == "redis+socket" or "host" in parse_qs(address.query)
