"""Cut links of lab hosts during full-length runs: log bytes lost, second loads, and the texts of the page.

Needs root, the packages of tests/lab_hosts/install_sshd.sh, and the built drivetest. Without DATABASE_URL and
REDIS_URL it starts its own servers. All settings are those of an installed register. The exit status is 1 if a byte
of a log is missing, a drive saw a second load, or a run did not end like a run without a cut.
"""

import argparse
import html
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
DATA = tempfile.TemporaryDirectory(prefix="drivecert-link-cuts-")
os.environ["DRIVECERT_DATA"] = f"{DATA.name}/data"
os.environ.setdefault("LOG_LEVEL", "ERROR")

from tests.cluster import Cluster  # noqa: E402

Cluster().provide()

from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402
from register_programs import workers  # noqa: E402
from simulated_register import simulated_register  # noqa: E402

from results.models import Organisation, Submission  # noqa: E402
from runners.dispatch.orders import Order, order  # noqa: E402
from runners.hosts.ssh import SshHost  # noqa: E402
from runners.inventory import health  # noqa: E402
from runners.inventory.devices import bind  # noqa: E402
from runners.models import Dispatch, Host  # noqa: E402
from runners.models.states import FINAL, State  # noqa: E402
from tests.lab_hosts.enrolled import enrol_host, list_drives  # noqa: E402
from tests.lab_hosts.namespaces import LoopDrives, NamespaceHost, missing  # noqa: E402
from tests.lab_hosts.network import run  # noqa: E402
from webapp.accounts.models import User  # noqa: E402

STATE_DIR = "/var/lib/drivecert"
DISK_MIB = 2048
BEFORE_S, AFTER_S = 10, 20  # of the run, before the cut and after it
START_S, END_S = 60, 120  # time limits for the start of a run, and for its intake after its duration
CLEAN = (State.DONE, "the program finished")


@dataclass
class Cut:
    """One run on one host, with the observed loads and page texts."""

    there: NamespaceHost
    dispatch: Dispatch
    most_loads: int = 0
    sentences: list[str] = field(default_factory=list)

    def observe(self) -> None:
        """Count the loads on the host as its kernel shows them."""
        self.most_loads = max(self.most_loads, loads_count(self.there))

    def bytes_lost(self) -> int:
        """Return how many bytes of the host's log are missing in the register."""
        self.dispatch.refresh_from_db()
        found = self.there.path(f"{STATE_DIR}/{self.dispatch.public_id}/log").stat().st_size
        stored = self.dispatch.submission.log.size_bytes if self.dispatch.submission else 0
        return found - stored

    def starts_count(self) -> int:
        return sum(1 for _ in self.there.path(STATE_DIR).glob("d-*/pid"))


def loads_count(there: NamespaceHost) -> int:
    """Return the number of storage loads among the processes of a host, without those that end meanwhile."""
    command_lines = []
    for line in there.path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            command_lines.append(line.read_bytes().split(b"\0"))
    return sum(each[1:2] == [b"storage"] for each in command_lines)


def page_texts(client: Client, dispatch: Dispatch) -> str:
    """Return the sentences at the head of a dispatch's page."""
    page = client.get(reverse("dispatch-live", args=[dispatch.public_id])).content.decode()
    paragraphs = re.findall(r"<p(?: class=\"(?:verdict|callout|note)\")?>(.*?)</p>", page, re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", each)).strip() for each in paragraphs[:2])


def boot_host(stack: ExitStack, drives: LoopDrives, name: str) -> NamespaceHost:
    """Return a running, enrolled and healthy host with one listed drive."""
    there = NamespaceHost(DATA.name, name, DISK_MIB)
    stack.callback(there.remove)
    device = drives.add(f"{name}-drive")
    there.give("nvme0n1", device)
    there.boot()
    row = enrol_host(there, name)
    list_drives(there, drives.key_of(device))
    if objections := health.check(row):
        sys.exit(f"{name}: gets no work: {'; '.join(objections)}")
    return there


def order_on(there: NamespaceHost, organisation: Organisation, staff: User, cut_s: int) -> Cut:
    host = Host.objects.get(name=there.name)
    device = bind(host, SshHost(host).identify("/dev/nvme0n1"), f"{host} nvme0n1", staff)
    duration_s = BEFORE_S + cut_s + AFTER_S
    return Cut(there, order(device, organisation, Order(Decimal("0.1"), duration_s, min(3600, duration_s)), staff))


def wait(cuts: list[Cut], is_so: Callable[[Dispatch], bool], for_s: float) -> None:
    """Wait until a condition is true for all runs, and count loads. The table shows the runs that missed it."""
    end = time.monotonic() + for_s
    while time.monotonic() < end:
        for cut in cuts:
            cut.observe()
            cut.dispatch.refresh_from_db()
        if all(is_so(cut.dispatch) for cut in cuts):
            return
        time.sleep(0.5)


def cut_and_wait(cuts: list[Cut], cut_s: int, client: Client) -> None:
    """Cut all links in mid run for a time, and wait for the ends of the runs."""
    wait(cuts, lambda dispatch: dispatch.last_label_s >= BEFORE_S, START_S)
    for cut in cuts:
        cut.there.cut()
    wait(cuts, lambda _: False, cut_s)
    for cut in cuts:
        cut.sentences.append(page_texts(client, cut.dispatch))
        cut.there.restore()
    wait(cuts, lambda dispatch: dispatch.state in FINAL, AFTER_S + END_S)
    for cut in cuts:
        cut.sentences.append(page_texts(client, cut.dispatch))


def report(cuts: list[Cut], cut_s: int) -> list[str]:
    """Print the row of a length, and return the problems."""
    lost = sum(cut.bytes_lost() for cut in cuts)
    second = sum(cut.starts_count() - 1 for cut in cuts) + sum(cut.most_loads > 1 for cut in cuts)
    clean = sum((cut.dispatch.state, cut.dispatch.reason) == CLEAN for cut in cuts)
    stored_bytes = sum(cut.dispatch.submission.log.size_bytes for cut in cuts if cut.dispatch.submission)
    print(f"| {cut_s} s | {len(cuts)} | {clean} | {stored_bytes:,} | {lost} | {second} |", flush=True)
    for cut in cuts[:1]:
        for when, sentence in zip(("at the end of the cut", "at the end"), cut.sentences, strict=False):
            print(f"  page, {when}: {sentence}", flush=True)
    is_bad = lost or second or clean < len(cuts) or Submission.objects.count() != len(cuts)
    return [f"{cut_s} s: see above"] if is_bad else []


def measure(cut_s: int, runs_count: int) -> list[str]:
    with simulated_register() as (organisation, staff), ExitStack() as stack:
        folder = Path(DATA.name) / f"drives-{cut_s}"
        folder.mkdir()
        run("mount", "-t", "tmpfs", "drives", str(folder))
        stack.callback(run, "umount", str(folder))
        drives = LoopDrives(folder)
        stack.callback(drives.remove)
        hosts = [boot_host(stack, drives, f"lab-{cut_s}-{number}") for number in range(runs_count)]
        stack.enter_context(workers())
        client = Client(headers={"host": "localhost"})
        client.force_login(staff)
        cuts = [order_on(there, organisation, staff, cut_s) for there in hosts]
        cut_and_wait(cuts, cut_s, client)
        return report(cuts, cut_s)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("cut_s", type=int, nargs="*", default=[60, 600], help="how long a link is cut, seconds")
    arguments.add_argument("--runs", type=int, default=2, help="hosts that are cut at once")
    options = arguments.parse_args()
    if reason := missing():
        sys.exit(reason)
    print("| cut | runs | ended as if never cut | log bytes in the register | log bytes lost | second loads |")
    print("|---|---|---|---|---|---|", flush=True)
    wrong = [fault for cut_s in options.cut_s for fault in measure(cut_s, options.runs)]
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
