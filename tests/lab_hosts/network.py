"""The link of a lab host: a network namespace connected to this machine by a pair of virtual interfaces."""

import ipaddress
import os
import random
import re
import subprocess
from pathlib import Path

# RFC 2544 reserves it for tests of network devices, so no machine has a route to it.
NETWORK = ipaddress.IPv4Network("198.18.0.0/15")
NETNS = Path("/run/netns")
PATIENCE_S = 120
NAME = re.compile(r"drivecert-(\d+)-(\d+)")


def run(*argv: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    """Run a command; its error message is in the exception."""
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=PATIENCE_S
    )
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(map(str, argv))}: exit status {done.returncode}: {done.stderr.strip()}")
    return done


class Wire:
    """A /30 network between this machine and a namespace, with a unique number."""

    def __init__(self) -> None:
        remove_leftover_links()
        self.number = self._take_number()
        net = list(NETWORK.subnets(new_prefix=30))[self.number]
        self.near, self.far = (str(address) for address in net.hosts())
        self.name = f"drivecert-{os.getpid()}-{self.number}"
        self.path = NETNS / self.name
        self._set_up()

    def _take_number(self) -> int:
        """Reserve a number by the interface's name, which the kernel gives to only one of two concurrent requests."""
        while True:
            number = random.randrange(2**13)  # noqa: S311
            made = run("ip", "link", "add", f"dcr{number}", "type", "veth", "peer", "name", f"dch{number}", check=False)
            if made.returncode == 0:
                return number
            if "exists" not in made.stderr:
                raise RuntimeError(f"ip link add: {made.stderr.strip()}")

    def _set_up(self) -> None:
        run("ip", "netns", "add", self.name)
        run("ip", "link", "set", f"dch{self.number}", "netns", self.name, "name", "eth0")
        run("ip", "-n", self.name, "addr", "add", f"{self.far}/30", "dev", "eth0")
        run("ip", "-n", self.name, "link", "set", "eth0", "up")
        run("ip", "addr", "add", f"{self.near}/30", "dev", f"dcr{self.number}")
        self.restore()

    def cut(self) -> None:
        run("ip", "link", "set", f"dcr{self.number}", "down")

    def restore(self) -> None:
        run("ip", "link", "set", f"dcr{self.number}", "up")

    def remove(self) -> None:
        run("ip", "link", "del", f"dcr{self.number}", check=False)
        run("ip", "netns", "del", self.name, check=False)


def remove_leftover_links() -> None:
    """Remove the links and disks of test sessions that were killed."""
    for name in {path.name for path in NETNS.iterdir()} if NETNS.exists() else ():
        if parts := _of_a_dead_session(name):
            run("ip", "link", "del", f"dcr{parts[2]}", check=False)
            run("ip", "netns", "del", name, check=False)
    for line in Path("/proc/mounts").read_text().splitlines():
        source, target, *_ = line.split(" ")
        if _of_a_dead_session(source):
            run("umount", target, check=False)


def _of_a_dead_session(name: str) -> re.Match[str] | None:
    parts = NAME.fullmatch(name)
    return parts if parts and not Path(f"/proc/{parts[1]}").exists() else None
