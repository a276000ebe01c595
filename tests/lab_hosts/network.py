"""The wires of a lab host: a network namespace joined to this machine by a pair of virtual interfaces."""

import ipaddress
import os
import random
import re
import subprocess
from pathlib import Path

# RFC 2544 keeps it for tests of network devices: no route of any machine leads there.
NETWORK = ipaddress.IPv4Network("198.18.0.0/15")
NETNS = Path("/run/netns")
PATIENCE_S = 120
NAME = re.compile(r"drivecert-(\d+)-(\d+)")


def run(*argv: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    """Run a command; what it said stands in the error."""
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=PATIENCE_S
    )
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(map(str, argv))}: exit status {done.returncode}: {done.stderr.strip()}")
    return done


class Wire:
    """One /30 between this machine and a namespace; no other net of this network has its number."""

    def __init__(self) -> None:
        remove_left_behind()
        self.number = self._take_number()
        net = list(NETWORK.subnets(new_prefix=30))[self.number]
        self.near, self.far = (str(address) for address in net.hosts())
        self.name = f"drivecert-{os.getpid()}-{self.number}"
        self.path = NETNS / self.name
        self._lay()

    def _take_number(self) -> int:
        """The interface's name is the claim: the kernel gives it to one of two that ask at once."""
        while True:
            number = random.randrange(2**13)  # noqa: S311
            made = run("ip", "link", "add", f"dcr{number}", "type", "veth", "peer", "name", f"dch{number}", check=False)
            if made.returncode == 0:
                return number
            if "exists" not in made.stderr:
                raise RuntimeError(f"ip link add: {made.stderr.strip()}")

    def _lay(self) -> None:
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


def remove_left_behind() -> None:
    """Take away the wires and disks of test sessions that were killed."""
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
