"""A network of its own for each xdist worker: what one worker's tests do to interfaces, no other worker's see.

Chromium gives up what it loads when an interface comes or goes, and every lab host comes and goes with one.
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
    """Tell whether this session's workers have one: where that is allowed, and no server is reached over the network.

    To be asked once the addresses of the servers are known.
    """
    if not all(map(_is_by_socket, ("DATABASE_URL", "REDIS_URL"))) or not all(map(shutil.which, ("ip", "unshare"))):
        return False
    return subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode == 0


def take(worker: str) -> None:
    """Leave the machine's network for one in which there is loopback alone, before any thread is started.

    Nothing is done in a session without xdist, which has nobody beside it.
    """
    if not worker or not can_be_taken():
        return
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"no network of its own for {worker}: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def _is_by_socket(variable: str) -> bool:
    """Tell whether an address leads to a socket in the file system, which is the same in every network."""
    address = urlsplit(os.environ.get(variable, ""))
    return address.scheme == "redis+socket" or "host" in parse_qs(address.query)
