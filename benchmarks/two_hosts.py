"""Two lab hosts over a real sshd with two drives each, a shortened campaign on every drive, one link cut for a minute.

Needs root, the packages of tests/lab_hosts/install_sshd.sh, and the built drivetest. Without DATABASE_URL and
REDIS_URL it starts its own servers. The exit status is 1 if a campaign did not end as expected, or if bytes of a
host's log are missing in the register.
"""

import html
import itertools
import os
import re
import sys
import tempfile
import time
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
DATA = tempfile.TemporaryDirectory(prefix="drivecert-two-hosts-")
os.environ["DRIVECERT_DATA"] = f"{DATA.name}/data"
os.environ.setdefault("LOG_LEVEL", "WARNING")

from tests.cluster import Cluster  # noqa: E402

Cluster().provide()

from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402
from polling import idle_processors_polling  # noqa: E402
from register_programs import workers  # noqa: E402
from simulated_register import simulated_register  # noqa: E402

from results.errors import ReviewRefusedError  # noqa: E402
from results.lifecycle import visibility  # noqa: E402
from results.models import Organisation  # noqa: E402
from runners.campaigns.commands import CampaignOrder, start  # noqa: E402
from runners.campaigns.outcomes import Rung, rungs_of  # noqa: E402
from runners.campaigns.terms import Terms  # noqa: E402
from runners.hosts.ssh import SshHost  # noqa: E402
from runners.inventory import health  # noqa: E402
from runners.inventory.devices import bind  # noqa: E402
from runners.models import Dispatch, Host  # noqa: E402
from runners.models.campaign import Campaign  # noqa: E402
from runners.models.states import State  # noqa: E402
from tests.lab_hosts.enrolled import enrol_host, list_drives  # noqa: E402
from tests.lab_hosts.namespaces import LoopDrives, NamespaceHost, missing  # noqa: E402
from tests.lab_hosts.network import run  # noqa: E402
from webapp.accounts.models import User  # noqa: E402

HOSTS, NODES = ("lab-1", "lab-2"), ("nvme0n1", "nvme1n1")
DRIVE_MIB, DISK_MIB = 64, 2048
CUT_S, CUT_AFTER_S = 60, 10  # of the load test
PATIENCE_S = 570
TERMS = Terms(
    start_nx=Decimal("0.1"), max_nx=Decimal("0.8"), resolution_nx=Decimal("0.1"), ladder_factor=Decimal(2),
    screening_s=10, load_s=75, stress_s=20, slice_length_s=10, rest_s=2, overload_rest_s=5,
)  # fmt: skip
FACTS = {"vendor": "Nobody", "model": "Loop device", "part_number": "", "capacity_gb": 1, "firmware": "",
         "category": "nvme-flash", "over_provisioning_pct": "7.00", "notes": ""}  # fmt: skip


def boot_hosts(stack: ExitStack) -> dict[str, NamespaceHost]:
    """Return both hosts by name, up and enrolled, each with its drives listed by its operator."""
    folder, memory = Path(DATA.name), Path(DATA.name) / "drives"
    memory.mkdir()
    run("mount", "-t", "tmpfs", "drives", str(memory))  # on a shared disk, the ladder would measure other writers
    stack.callback(run, "umount", str(memory))
    drives, hosts = LoopDrives(memory), {name: NamespaceHost(folder, name, DISK_MIB) for name in HOSTS}
    stack.callback(drives.remove)
    for name, there in hosts.items():
        stack.callback(there.remove)
        given = {node: drives.add(f"{name}-{node}", DRIVE_MIB) for node in NODES}
        for node, device in given.items():
            there.give(node, device)
        there.boot()
        enrol_host(there, name)
        list_drives(there, *(drives.key_of(device) for device in given.values()))
    return hosts


def start_campaigns(organisation: Organisation, staff: User) -> list[Campaign]:
    """Check both hosts, bind their drives, and start a campaign on each drive."""
    begun = []
    for host in Host.objects.order_by("name"):
        if objections := health.check(host):
            sys.exit(f"{host}: gets no work: {'; '.join(objections)}")
        for node in NODES:
            device = bind(host, SshHost(host).identify(f"/dev/{node}"), f"{host} {node}", staff)
            begun.append(start(device, organisation, CampaignOrder(TERMS, facts=FACTS), staff))
    return begun


class Cut:
    """A cut of a host's link for a minute during a load test."""

    def __init__(self, there: NamespaceHost) -> None:
        self.there, self.begun_s, self.is_over = there, 0.0, False

    def step(self) -> str:
        """Cut or restore the link when due; return a message about it."""
        if self.is_over:
            return ""
        if self.begun_s == 0 and self._is_mid_run():
            self.there.cut()
            self.begun_s = time.monotonic()
            return f"the link of {self.there.name} is cut"
        if self.begun_s and time.monotonic() - self.begun_s >= CUT_S:
            self.there.restore()
            self.is_over = True
            return f"the link of {self.there.name} is back"
        return ""

    def _is_mid_run(self) -> bool:
        loads = Dispatch.objects.filter(device__host__name=self.there.name, purpose="load", state=State.RUNNING)
        return loads.filter(last_label_s__gte=CUT_AFTER_S).exists()


def follow_campaigns(campaigns: list[Campaign], cut: Cut, began_s: float) -> None:
    """Print each change in the register's tables until every campaign has ended."""
    printed: set[str] = set()
    ids = [campaign.pk for campaign in campaigns]
    while time.monotonic() - began_s < PATIENCE_S:
        done = cut.step()
        for line in [*([done] if done else []), *happened(ids)]:
            if line not in printed:
                printed.add(line)
                print(f"{since(began_s):>6}  {line}", flush=True)
        if not Campaign.objects.filter(pk__in=ids, state=Campaign.State.ACTIVE).exists():
            return
        time.sleep(1)


def happened(ids: list[int]) -> list[str]:
    """Return the states of campaigns and dispatches and the current outages as lines."""
    campaigns = Campaign.objects.filter(pk__in=ids).select_related("device")
    dispatches = Dispatch.objects.filter(campaign__in=ids).select_related("device").order_by("ordered_at")
    lines = [
        f"{each.device.label}: {each} {load_of(each)}: {each.state}{unreported(each)}{reason_at_end(each)}"
        for each in dispatches
    ]
    return lines + [f"{each.device.label}: campaign {each.state}: {each.reason}" for each in campaigns if each.ended_at]


def load_of(dispatch: Dispatch) -> str:
    nx = "" if dispatch.nx_load is None else f" {dispatch.nx_load.normalize():f}x {dispatch.duration_s} s"
    return f"{dispatch.purpose}{nx}"


def unreported(dispatch: Dispatch) -> str:
    return ", no answer, asking again" if dispatch.silent_since and not dispatch.ended_at else ""


def reason_at_end(dispatch: Dispatch) -> str:
    return f" ({dispatch.reason})" if dispatch.ended_at else ""


def since(began_s: float) -> str:
    return f"{time.monotonic() - began_s:.0f} s"


def report(campaigns: list[Campaign], hosts: dict[str, NamespaceHost], staff: User) -> list[str]:
    """Print the ladder of each campaign and the texts of its page; return the problems."""
    wrong = []
    client = Client(headers={"host": "localhost"})
    client.force_login(staff)
    for campaign in campaigns:
        campaign.refresh_from_db()
        rungs = rungs_of(campaign)
        print(f"\n{campaign.device.label}: {campaign.state}, {campaign.end}: {campaign.reason}")
        for rung in rungs:
            print(f"  {row_of(rung)}")
            wrong += missing_bytes(rung.dispatch, hosts[campaign.device.host.name])
        page = client.get(reverse("campaign-detail", args=[campaign.public_id])).content.decode()
        print("  its page, missing for a certificate:")
        sentences = missing_on(page)
        print("".join(f"    - {sentence}\n" for sentence in sentences), end="")
        if campaign.state != Campaign.State.FINISHED or not names_short_runs(sentences):
            wrong.append(f"{campaign.device.label}: its page does not list the missing full-length runs")
        print(f"  published: {publication_result(rungs, staff)}")
    return wrong


def row_of(rung: Rung) -> str:
    run = rung.run.public_id if rung.run else "-"
    shares = ", ".join(f"{share.printed} % > {share.threshold_us // 1000} ms" for share in rung.shares)
    return f"{load_of(rung.dispatch):<24} {rung.dispatch} {rung.outcome.result:<10} {run:<11} {shares}"


def missing_bytes(dispatch: Dispatch, there: NamespaceHost) -> list[str]:
    """Compare the log on the host with the log in the register."""
    if dispatch.submission is None:
        return []
    found = there.path(f"/var/lib/drivecert/{dispatch.public_id}/log").stat().st_size
    stored = dispatch.submission.log.size_bytes
    return [] if found == stored else [f"{dispatch}: {found} bytes on the host, {stored} in the register"]


def missing_on(page: str) -> list[str]:
    missing = re.findall(r'<li><span class="fail">missing</span> [^:]*: (.*?)</li>', page)
    return [html.unescape(item) for item in missing]


def names_short_runs(sentences: list[str]) -> bool:
    return all(any(each.startswith(f"a {name} at") for each in sentences) for name in ("load test", "stress test"))


def publication_result(rungs: list[Rung], staff: User) -> str:
    """Try to publish the load test as a reviewer; return the result."""
    run = next((rung.run for rung in reversed(rungs) if rung.run), None)
    if run is None:
        return "no run"
    try:
        visibility.publish(run, staff)
    except ReviewRefusedError as error:
        return f"refused: {error}"
    return "yes"


def most_concurrent(campaigns: list[Campaign]) -> int:
    """Return the largest number of concurrent dispatches on all drives."""
    rows = Dispatch.objects.filter(campaign__in=campaigns, started_at__isnull=False, ended_at__isnull=False)
    moments: list[tuple[Any, int]] = []
    for begun, ended in rows.values_list("started_at", "ended_at"):
        moments += [(begun, 1), (ended, -1)]
    return max(itertools.accumulate(change for _, change in sorted(moments)), default=0)


def main() -> None:
    if reason := missing():
        sys.exit(reason)
    with simulated_register() as (organisation, staff), ExitStack() as stack:
        # Otherwise, a machine that loses halting processors to its own host fails every load test.
        stack.enter_context(idle_processors_polling())
        hosts = boot_hosts(stack)
        stack.enter_context(workers())
        campaigns = start_campaigns(organisation, staff)
        began_s = time.monotonic()
        cut = Cut(hosts[HOSTS[0]])
        follow_campaigns(campaigns, cut, began_s)
        wrong = report(campaigns, hosts, staff) + ([] if cut.is_over else ["no link was cut"])
        print(f"\n{since(began_s)} in all; dispatches at once: {most_concurrent(campaigns)} on {len(campaigns)} drives")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
