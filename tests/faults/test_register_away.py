"""A run belongs to its host: the register may stop or die during the run, and resumes it."""

import contextlib
import json
import os
import signal
from pathlib import Path

import pytest
from kombu import Connection

from tests.register import PATIENCE_S, WITHOUT_SNAPSHOTS, Register, copy_prepared_data, wait_for
from webapp.celery import redis_of
from webapp.supervisor.lock_files import link_target

pytestmark = pytest.mark.faults
RUN_S = 1800  # longer than the test: it is cancelled at the end
# Each start of Django takes one or two seconds, so scripts are combined into one.
ORDER = """
from decimal import Decimal
from uuid import uuid4
from django.conf import settings
from results.models import Organisation
from runners.hosts.local import LocalHost
from runners.dispatch.orders import Order, order
from runners.inventory.devices import add_local_host, bind
from webapp.accounts.models import User
admin, host = User.objects.get(username="admin"), LocalHost()
path = str(settings.DATA_DIR.parent / f"drive-{{uuid4()}}.img")
host.create_file(path, 64 * 1024 * 1024)
device = bind(add_local_host(admin), host.identify(path), "a file", admin)
lab = Organisation.objects.get(slug="this-lab")
public_id = order(device, lab, Order(Decimal("0.1"), {run_s}, 5), admin).public_id
"""
OF_BEFORE = "public_id = {public_id!r}\n"
# Polls until the condition is true or the time limit of the tests is reached.
POLL_SCRIPT = """
import json, time
from runners.models import Dispatch
until = time.monotonic() + {patience_s}
while True:
    found = Dispatch.objects.values("public_id", "state", "pid", "log_bytes", "reason").get(public_id=public_id)
    if ({is_so}) or time.monotonic() > until:
        break
    time.sleep(0.1)
print(json.dumps([bool({is_so}), found]))
"""
CANCEL = """
from runners.models import Dispatch
from runners.dispatch.orders import cancel
from webapp.accounts.models import User
cancel(Dispatch.objects.get(public_id=public_id), User.objects.get(username="admin"))
"""
RUNS = "found['state'] == 'running' and found['log_bytes'] > {more_than}"
IS_CANCELLED = "found['state'] == 'cancelled'"


@pytest.fixture(scope="module")
def register(tmp_path_factory):
    register = Register(tmp_path_factory.mktemp("away") / "var", **WITHOUT_SNAPSHOTS)
    copy_prepared_data(tmp_path_factory, register.data_dir)
    register.start_and_wait()
    yield register
    for pid in run_processes(register):
        with contextlib.suppress(ProcessLookupError):  # it was ending
            os.kill(pid, signal.SIGTERM)
    register.end()


def run_processes(register):
    """Return the background program and its monitor; both work in the directory of the run."""
    lab = register.data_dir / "lab"
    return [pid for pid in register.processes() if lab in (link_target(Path(f"/proc/{pid}/cwd")) or Path()).parents]


def run_script(register, script):
    done = register.run_command("shell", "--verbosity=0", "--command", script)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def wait_for_dispatch(register, script, is_so):
    """Run a script that prints a dispatch; return the dispatch when the condition is true."""
    poll_script = POLL_SCRIPT.format(is_so=is_so, patience_s=PATIENCE_S / 2)
    has_come, found = json.loads(run_script(register, script + poll_script))
    assert has_come, found
    return found


def order_and_wait(register):
    return wait_for_dispatch(register, ORDER.format(run_s=RUN_S), RUNS.format(more_than=0))


def wait_for_more_of(register, before):
    return wait_for_dispatch(register, OF_BEFORE.format(**before), RUNS.format(more_than=before["log_bytes"]))


@pytest.mark.parametrize("goes", ["stop", "kill"])
def test_a_run_continues_while_the_register_is_away_and_is_resumed(register, goes):
    before = order_and_wait(register)
    getattr(register, goes)()
    wait_for(lambda: register.processes() == run_processes(register), lambda: str(register.processes()))
    assert before["pid"] in run_processes(register)
    message = f"these lab runs continue, and the next start polls them again: {before['public_id']}"
    assert (message in register.output_summary()) == (goes == "stop")
    register.start_and_wait()
    wait_for_more_of(register, before)
    check_it_can_be_cancelled(register, before)


def check_it_can_be_cancelled(register, before):
    """Check that the same process runs and ends on request."""
    cancelled = wait_for_dispatch(register, OF_BEFORE.format(**before) + CANCEL, IS_CANCELLED)
    assert cancelled["pid"] == before["pid"]
    wait_for(lambda: not Path(f"/proc/{before['pid']}").exists())


def kill_all(register, *names):
    for pid in [register.pid_of(name) for name in names]:
        os.kill(pid, signal.SIGKILL)
    for name in names:
        wait_for(lambda: f"{name} restarted" in register.output_summary(), register.output_summary)  # noqa: B023 - at once
    wait_for(lambda: register.ready()[0] == 200, lambda: str(register.ready()))


def flush_redis(register):
    """Flush Redis with the address of the register's own processes, which includes the password."""
    environment = Path(f"/proc/{register.pid_of('lab')}/environ").read_bytes().decode().split("\0")
    url = next(line.removeprefix("REDIS_URL=") for line in environment if line.startswith("REDIS_URL="))
    with Connection(url) as broker:
        redis_of(broker).flushall()


def test_a_run_continues_while_every_process_of_the_register_is_killed(register):
    before = order_and_wait(register)
    flush_redis(register)
    kill_all(register, "redis", "lab", "beat", "web", "worker")
    kill_all(register, "postgres")
    after = wait_for_more_of(register, before)
    assert (after["pid"], after["reason"]) == (before["pid"], "")
    assert before["pid"] in run_processes(register)
    check_it_can_be_cancelled(register, before)
