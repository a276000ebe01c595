"""All simulated hosts with their drives, and a record of what really happened on them."""

import threading
import time

from tests.lab_simulator.drive import Drive
from tests.lab_simulator.faults import Faults, FaultyHost, delay_response
from tests.lab_simulator.host import SimulatedHost

PATH = "/dev/nvme0n1"


class SimulatedLab:
    """Hosts `sim-0` ... with one drive each. With `shared_drives`, two neighbours share one drive, as on a fabric."""

    def __init__(self, hosts_count, clock, faults=None, shared_drives=False):
        self.clock, self.faults = clock, faults or Faults()
        self.lock = threading.Lock()
        self.polled_at = {}
        self.drives, self.hosts = [], {}
        for number in range(hosts_count):
            if not shared_drives or number % 2 == 0:
                self.drives.append(Drive(f"S{len(self.drives):05}"))
            host = SimulatedHost(f"sim-{number}", clock, {PATH: self.drives[-1]})
            self.hosts[host.name] = FaultyHost(host, self.faults)

    def call(self, name, method, *arguments):
        """Call a host by name, as the register does."""
        host = self.hosts[name]
        with self.lock:
            pause_s = host.pause_s()
        delay_response(pause_s)
        with self.lock:
            if method == "status":
                self.polled_at.setdefault(name, []).append(time.monotonic())
            return host.call(method, *arguments)

    def change(self, name, event, *arguments):
        """Apply an event to a host: reboot, wipe, fill_disk, truncate."""
        with self.lock:
            getattr(self.hosts[name].host, event)(*arguments)

    def set_faults(self, **shares):
        with self.lock:
            for kind, share in shares.items():
                setattr(self.faults, kind, share)

    def silence(self, name, seconds):
        with self.lock:
            self.hosts[name].silent_until_s = self.clock.now_s() + seconds

    def take_polled_at(self):
        """Return the times of status requests to each host since the last call, by this machine's monotonic clock."""
        with self.lock:
            taken, self.polled_at = self.polled_at, {}
            return taken

    def next_end_s(self):
        """Return when the next program ends by itself, in the hosts' time; None if none runs."""
        with self.lock:
            running = [program for host in self.hosts.values() for program in host.host.running()]
            return min((program.ends_at_s() for program in running), default=None)

    def ended_at(self):
        """Return when each program that ended by itself ended, by this machine's monotonic clock."""
        with self.lock:
            programs = [program for host in self.hosts.values() for program in host.host.programs.values()]
            ended = [program for program in programs if not program.is_running() and program.exit_status == 0]
            began_s, speed = self.clock.began_s, self.clock.speed
            return {one.run: began_s + one.ends_at_s() / speed for one in ended}

    def truth(self):
        """Return the loads that the drives themselves recorded."""
        with self.lock:
            overlaps = [overlap for drive in self.drives for overlap in drive.overlaps]
            return {
                "overlaps": overlaps,
                "most_loads": max(drive.most_loads for drive in self.drives),
                "starts_count": sum(drive.starts_count for drive in self.drives),
                "running": [program.run for host in self.hosts.values() for program in host.host.running()],
                "happened": dict(self.faults.happened),
            }


class InProcessHost:
    """A connection to a host of a simulated lab in this process."""

    def __init__(self, lab, name):
        self.lab, self.name = lab, name

    def __getattr__(self, method):
        return lambda *arguments: self.lab.call(self.name, method, *arguments)
