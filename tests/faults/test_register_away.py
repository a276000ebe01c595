"""A lab's run belongs to its host: the register may stop or die under it, and takes it up again."""

import json
import os
import signal
from pathlib import Path

import pytest
from kombu import Connection

from tests.register import Register, wait_for
from webapp.celery import redis_of
from webapp.supervisor.processes import target_of

pytestmark = pytest.mark.faults
RUN_S = 1800  # longer than the test: it is cancelled at the end
ORDER = """
from decimal import Decimal
from pathlib import Path
from django.conf import settings
from results.models import Organisation
from runners.hosts.local import LocalHost
from runners.orders import Order, add_local_host, bind, order
from webapp.accounts.models import User
admin, host, path = User.objects.get(username="admin"), LocalHost(), str(settings.DATA_DIR.parent / "drive.img")
host.create_file(path, 64 * 1024 * 1024)
device = bind(add_local_host(admin), host.identify(path), "a file", admin)
lab = Organisation.objects.get(slug="this-lab")
print(order(device, lab, Order(Decimal("0.1"), {run_s}, 5), admin).public_id)
"""
LOOK = """
import json
from runners.models import Dispatch
(found,) = Dispatch.objects.values("state", "pid", "log_bytes", "reason")
print(json.dumps(found))
"""
CANCEL = """
from runners.models import Dispatch
from runners.orders import cancel
from webapp.accounts.models import User
print(cancel(Dispatch.objects.get(), User.objects.get(username="admin")))
"""


@pytest.fixture
def register(tmp_path):
    register = Register(tmp_path / "var")
    register.start_and_wait()
    yield register
    for pid in run_processes(register):
        os.kill(pid, signal.SIGTERM)
    register.end()


def run_processes(register):
    """The detached program and who waits for it: they work in the run's own directory."""
    lab = register.data_dir / "lab"
    return [pid for pid in register.processes() if lab in (target_of(Path(f"/proc/{pid}/cwd")) or Path()).parents]


def run_script(register, script):
    done = register.run_command("shell", "--verbosity=0", "--command", script)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def dispatch_of(register):
    return json.loads(run_script(register, LOOK))


def wait_for_dispatch(register, is_so):
    wait_for(lambda: is_so(dispatch_of(register)), lambda: str(dispatch_of(register)))
    return dispatch_of(register)


@pytest.mark.parametrize("goes", ["stop", "kill"])
def test_a_run_goes_on_while_the_register_is_away_and_is_taken_up_again(register, goes):
    public_id = run_script(register, ORDER.format(run_s=RUN_S))
    before = wait_for_dispatch(register, lambda found: found["state"] == "running" and found["log_bytes"])
    getattr(register, goes)()
    wait_for(lambda: register.processes() == run_processes(register), lambda: str(register.processes()))
    assert before["pid"] in run_processes(register)
    told = f"these lab runs go on, and are picked up at the next start: {public_id}"
    assert (told in register.tell_output()) == (goes == "stop")
    register.start_and_wait()
    wait_for_dispatch(register, lambda found: found["log_bytes"] > before["log_bytes"])
    run_script(register, CANCEL)
    after = wait_for_dispatch(register, lambda found: found["state"] == "cancelled")
    assert after["pid"] == before["pid"]
    wait_for(lambda: not Path(f"/proc/{before['pid']}").exists())


def kill_all(register, *names):
    for pid in [register.pid_of(name) for name in names]:
        os.kill(pid, signal.SIGKILL)
    for name in names:
        wait_for(lambda: f"{name} started again" in register.tell_output(), register.tell_output)  # noqa: B023 - at once
    wait_for(lambda: register.ready()[0] == 200, lambda: str(register.ready()))


def flush_redis(register):
    """With the address that the register's own processes were given: it holds the password."""
    environment = Path(f"/proc/{register.pid_of('lab')}/environ").read_bytes().decode().split("\0")
    url = next(line.removeprefix("REDIS_URL=") for line in environment if line.startswith("REDIS_URL="))
    with Connection(url) as broker:
        redis_of(broker).flushall()


def test_a_run_goes_on_while_every_process_of_the_register_is_killed(register):
    run_script(register, ORDER.format(run_s=RUN_S))
    before = wait_for_dispatch(register, lambda found: found["state"] == "running" and found["log_bytes"])
    flush_redis(register)
    kill_all(register, "redis", "lab", "beat", "web", "worker")
    kill_all(register, "postgres")
    after = wait_for_dispatch(register, lambda found: found["log_bytes"] > before["log_bytes"])
    assert (after["state"], after["pid"], after["reason"]) == ("running", before["pid"], "")
    assert before["pid"] in run_processes(register)
    run_script(register, CANCEL)
    wait_for_dispatch(register, lambda found: found["state"] == "cancelled")
    wait_for(lambda: not Path(f"/proc/{before['pid']}").exists())
