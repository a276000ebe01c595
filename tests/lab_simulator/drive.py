"""A physical drive: its identity, its latencies, and its current loads from all hosts."""

from dataclasses import dataclass, field
from typing import Any

GIB = 1024**3
# Shares of reads by microsecond bucket of a drive within its limits; bucket b is [2^(b-1), 2^b) us.
FAST = {8: 0.19, 9: 0.009, 10: 0.0009, 11: 0.0004, 14: 0.00002}
SLOW = FAST | {11: 0.08}  # 8 % over 1 ms, where 5 % are allowed


@dataclass
class Drive:
    """A drive. `highest_nx` is the largest load it sustains; in the `slow_hours` of a run it fails any load.

    `updates` are pairs of a virtual second and the firmware from then on. `write_bytes_per_s` is the preparation speed.
    """

    serial: str
    size_bytes: int = 64 * GIB
    firmware: str = "FW1"
    updates: tuple[tuple[float, str], ...] = ()
    highest_nx: float = 1e9
    slow_hours: frozenset[int] = frozenset()
    write_bytes_per_s: int = 2 * GIB
    programs: list[Any] = field(default_factory=list)
    overlaps: list[Any] = field(default_factory=list)
    starts_count: int = 0
    most_loads: int = 0

    @property
    def key(self):
        return f"nvme:SIM 1000:{self.serial}"

    def shares(self, nx_load, hour):
        return SLOW if nx_load > self.highest_nx or hour in self.slow_hours else FAST

    def loaded_by(self):
        """Return the programs of all hosts that load the drive now."""
        self.programs = [program for program in self.programs if program.is_running()]
        return self.programs

    def take_load(self, program):
        """Add a load, which a drive cannot refuse. Record it permanently if it overlaps another load."""
        others = self.loaded_by()
        if others:
            self.overlaps.append((program.run, [other.run for other in others]))
        others.append(program)
        self.starts_count += 1
        self.most_loads = max(self.most_loads, len(others))

    def firmware_at(self, now_s):
        return [self.firmware, *(version for at_s, version in sorted(self.updates) if at_s <= now_s)][-1]

    def identity(self, path, now_s):
        """Return the drivecert.identity/1 document of the drive at a path."""
        return {
            "schema": "drivecert.identity/1",
            "path": path,
            "kind": "nvme",
            "drive_key": self.key,
            "model": "SIM 1000",
            "serial": self.serial,
            "firmware": self.firmware_at(now_s),
            "wwn": f"eui.{self.serial}",
            "size_bytes": self.size_bytes,
            "logical_block_bytes": 512,
            "minimum_io_bytes": 512,
            "physical_block_bytes": 4096,
            "optimal_io_bytes": None,
            "rotational": False,
            "scheduler": "none",
            "nr_requests": 1023,
            "write_cache": "write through",
            "pcie": None,
            "numa_node": 0,
            "temperature_c": 40,
            "temperature_limit_c": 70,
            "wear_pct": None,
            "health": None,
            "backing": None,
            "same_drive": [],
            "mounts": [],
            "holders": [],
            "signature": None,
            "refusals": [],
            "warnings": [],
            "host": {
                "hostname": "simulated",
                "kernel": "6.18",
                "cpu_model": "simulated",
                "cpus_count": 64,
                "numa_nodes_count": 1,
                "governors": ["performance"],
                "is_irqbalance_running": True,
            },
        }
