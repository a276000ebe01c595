"""The stand-in for systemd, with which a measurement runs the services of the runbook."""

import os
import shutil
import subprocess

import pytest
from django.conf import settings

from scripts.runbooks.clean_machine import CleanMachine
from scripts.runbooks.stand_in.service import bounding_set
from scripts.runbooks.stand_in.units import (
    Unit,
    UnitError,
    arguments,
    environment_file,
    seconds,
    started_with,
    timeout,
)
from tests.lab_hosts.namespaces import missing

OURS = settings.BASE_DIR / "operations/systemd"
OF_THE_REGISTER = {"drivecert@web.service", "drivecert@live.service", "drivecert@worker.service",
                   "drivecert@beat.service", "drivecert-lab.service"}  # fmt: skip
# Its main process writes its life into a file, and the signals that it gets.
SERVICE = """[Unit]
Requires={requires}
After={requires}
PartOf=all.target
[Service]
Environment=NAME=%n
EnvironmentFile=-/etc/{name}.env
User=nobody
StateDirectory=%p
ExecStartPre=/bin/sh -c "echo started $$NAME >> /tmp/life"
ExecStart=/bin/sh -c "trap 'echo reloaded $$NAME $$MORE >> /tmp/life' HUP; : > /var/lib/%p/heeds; \\
  while :; do sleep 0.05; done"
ExecReload=/bin/kill -HUP $MAINPID
Restart=always
RestartSec=0.1
[Install]
WantedBy=multi-user.target
"""


@pytest.fixture
def root(tmp_path):
    """A root directory with the units of the runbook."""
    folder = tmp_path / "etc/systemd/system"
    folder.mkdir(parents=True)
    for path in OURS.glob("*.*"):
        shutil.copy(path, folder)
    return tmp_path


def test_units_start_in_the_order_of_the_runbook(root):
    order = started_with(["drivecert.target"], lambda name: Unit(name, root))
    assert order[0] == "drivecert-prepare.service"
    assert order[-1] == "drivecert.target"
    assert set(order[1:-1]) == OF_THE_REGISTER


def test_units_that_start_together_are_ordered_although_none_needs_the_other(root):
    (root / "etc/systemd/system/redis-server.service").write_text("[Service]\nExecStart=/bin/redis\n")
    order = started_with(["drivecert.target", "redis-server.service"], lambda name: Unit(name, root))
    assert order[:2] == ["redis-server.service", "drivecert-prepare.service"]


def test_an_instance_has_its_name_in_its_values(root):
    unit = Unit("drivecert@live.service", root)
    assert unit.one("ExecStart") == "/srv/drivecert/.venv/bin/python manage.py serve live"
    assert unit.all("EnvironmentFile") == ["/etc/drivecert/register.env", "-/etc/drivecert/live.env"]
    assert unit.names("PartOf") == ["drivecert.target"]
    assert unit.one("SystemCallFilter") == "~@privileged"
    assert {"ProtectSystem", "MemoryMax"} <= unit.unapplied()
    assert not {"User", "StateDirectory", "AmbientCapabilities"} & unit.unapplied()


def test_a_drop_in_adds_and_resets_values(root):
    drop_in = root / "etc/systemd/system/drivecert@live.service.d/a.conf"
    drop_in.parent.mkdir()
    drop_in.write_text("[Service]\nEnvironmentFile=\nEnvironmentFile=/a\nUser=other\n")
    unit = Unit("drivecert@live.service", root)
    assert (unit.all("EnvironmentFile"), unit.one("User")) == (["/a"], "other")
    assert Unit("drivecert@web.service", root).one("User") == "drivecert"


def test_a_required_unit_must_exist_and_a_wanted_one_need_not(root):
    folder = root / "etc/systemd/system"
    (folder / "a.service").write_text("[Unit]\nWants=nothing.service\n")
    assert started_with(["a.service"], lambda name: Unit(name, root)) == ["a.service"]
    (folder / "a.service").write_text("[Unit]\nRequires=nothing.service\n")
    with pytest.raises(UnitError, match=r"Unit nothing\.service not found"):
        started_with(["a.service"], lambda name: Unit(name, root))
    (folder / "b.service").symlink_to("/dev/null")
    with pytest.raises(UnitError, match="masked"):
        Unit("b.service", root)


def test_values_are_read_as_systemd_reads_them():
    text = '# no\nA="Example Lab"\nB=x y # z\nC=\n;D=1\n'
    assert environment_file(text) == {"A": "Example Lab", "B": "x y # z", "C": ""}
    words = ["/bin/x", "1 2", "3", "4", "c d", "$B is $B"]
    assert arguments("-/bin/x ${A} $B 'c d' '$B is $$B'", {"A": "1 2", "B": "3 4"}) == ("-", words)
    assert [seconds(text, 9) for text in ("", "0", "75", "1min 30s", "200ms", "infinity")] == [
        9, 0, 75, 90, 0.2, float("inf"),
    ]  # fmt: skip
    assert [timeout(text, 9) for text in ("", "0", "75")] == [9, float("inf"), 75]


@pytest.mark.parametrize(("values", "option"), [
    ([], "-all"), (["CAP_KILL CAP_CHOWN"], "-all,+kill,+chown"), (["~CAP_SYS_ADMIN CAP_KILL"], "-sys_admin,-kill"),
])  # fmt: skip
def test_the_bounding_set_of_a_unit_becomes_that_of_setpriv(values, option):
    assert bounding_set(values) == option


@pytest.fixture
def machine(tmp_path):
    """A machine over the files of this one, which boots with the stand-in and has no units of its own."""
    machine = CleanMachine(tmp_path, "stand-in")
    for name in ("upper", "work", "root"):
        (tmp_path / "disk" / name).mkdir(parents=True)
    machine.root = tmp_path / "disk/root"
    subprocess.run(["mount", "-t", "tmpfs", "disk", tmp_path / "disk"], check=True)
    for name in ("upper", "work", "root"):
        (tmp_path / "disk" / name).mkdir()
    layers = f"lowerdir=/,upperdir={tmp_path}/disk/upper,workdir={tmp_path}/disk/work"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, machine.root], check=True)
    try:
        for folder in ("etc/systemd/system", "usr/lib/systemd/system", "usr/lib/systemd/system-generators"):
            shutil.rmtree(machine.root / folder, ignore_errors=True)
            (machine.root / folder).mkdir(parents=True)
        machine.install_stand_in()
        yield machine
    finally:
        machine.power_off()
        subprocess.run(["umount", machine.root], check=True)
        subprocess.run(["umount", tmp_path / "disk"], check=True)


@pytest.mark.lab_hosts
@pytest.mark.skipif(missing() != "", reason=missing() or "this machine has namespaces")
def test_services_start_in_order_reload_restart_and_return_after_a_boot(machine):
    for name, requires in (("a", ""), ("b", "a.service")):
        machine.write(f"etc/systemd/system/{name}.service", SERVICE.format(name=name, requires=requires))
    machine.write("etc/systemd/system/all.target", "[Unit]\nWants=b.service\n[Install]\nWantedBy=multi-user.target\n")
    machine.write("etc/b.env", "MORE=more\n")
    machine.boot(has_route=False)
    with machine.shell() as shell:
        run(shell, "touch /tmp/life; chmod 0666 /tmp/life; systemctl daemon-reload")
        run(shell, "systemctl enable --now all.target")
        assert life(shell, lines=2) == ["started a.service", "started b.service"]
        assert run(shell, "systemctl list-units '?.service'") == ""  # only * is a pattern
        assert run(shell, "systemctl list-units 'b*'") == "b.service loaded active running"
        assert run(shell, "stat -c %U /var/lib/b") == "nobody"
        run(shell, "until [ -e /var/lib/b/heeds ]; do sleep 0.05; done; systemctl reload b.service")
        assert life(shell, lines=1) == ["reloaded b.service more"]
        run(shell, "systemctl restart all.target")
        assert life(shell, lines=2) == ["started a.service", "started b.service"]
        run(shell, "kill -9 $(pgrep -o -u nobody sh)")
        assert life(shell, lines=1) == ["started a.service"]
        run(shell, "until systemctl is-active a; do sleep 0.05; done")
        assert run(shell, "systemctl is-active b") == "active"
        assert "nothing.service not found" in run(shell, "systemctl start nothing", status=1)
        run(shell, "systemctl disable --now all.target")
        assert run(shell, "systemctl is-active b", status=3) == "inactive"
        run(shell, "systemctl enable all.target")
    machine.power_off()
    machine.boot(has_route=False)
    with machine.shell() as shell:
        assert run(shell, "systemctl is-active b") == "active"


def run(shell, command, status=0):
    """Run a command on the machine, and return its output."""
    ended = shell.run(command, 30)
    assert ended.status == status, ended.output
    return ended.output


def life(shell, lines):
    """Wait until the services have written as many lines, return and forget them. The limit of `run` ends the loop."""
    run(shell, f"until [ $(wc -l < /tmp/life) -ge {lines} ]; do sleep 0.05; done")
    return run(shell, "cat /tmp/life; : > /tmp/life").splitlines()


def test_the_stand_in_needs_only_the_standard_library(tmp_path):
    environment = {"PYTHONPATH": str(settings.BASE_DIR / "scripts/runbooks"), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        ["/usr/bin/python3", "-I", "-c", f"import sys; sys.path.insert(0, {environment['PYTHONPATH']!r}); "
         "import stand_in.manager"], env=environment, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
