"""The units of systemd: valid, hardened, and with the commands of the supervisor."""

import configparser
import os
import shutil
import subprocess
import sys

import pytest
from django.conf import settings

from webapp.deployment.servers import PARTS

FOLDER = settings.BASE_DIR / "operations" / "systemd"
AGENT = settings.BASE_DIR / "runners/drivetest/crates/agent/src/drivecert-agent.service"
# lab opens raw drives: devices, SYS_RAWIO and SYS_ADMIN cost it the stated 1.2 points. The agent runs as root and has
# no mounts of its own, so that the file systems of a sweep are those of its host.
LIMITS = {"drivecert-prepare": 25, "drivecert-nginx": 25, "drivecert-lab": 35, "drivecert-agent": 60} | {
    f"drivecert@{part}": 25 for part in PARTS if part != "lab"
}
HERE = {
    "/srv/drivecert/.venv/bin/python": sys.executable,
    "/srv/drivecert/operations": str(settings.BASE_DIR / "operations"),
    "/usr/local/sbin/drivetest": sys.executable,
    "WorkingDirectory=/srv/drivecert": f"WorkingDirectory={settings.BASE_DIR}",
}

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None and not os.environ.get("CI"), reason="systemd-analyze is missing"
)


@pytest.fixture(scope="module")
def units(tmp_path_factory):
    """Return a directory with the units, one for each instance, and with the paths of this machine."""
    directory = tmp_path_factory.mktemp("units")
    for path in [*FOLDER.glob("*.service"), *FOLDER.glob("*.target"), AGENT]:
        text = path.read_text()
        for installed, here in HERE.items():
            text = text.replace(installed, here)
        names = [f"drivecert@{part}.service" for part in PARTS] if path.name == "drivecert@.service" else [path.name]
        for name in names:
            (directory / name).write_text(text)
    return directory


def analyze(*arguments):
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, check=False, timeout=60)


@needs_systemd
def test_systemd_finds_no_mistake(units):
    names = [str(units / f"{name}.service") for name in LIMITS if name != "drivecert-nginx" or shutil.which("nginx")]
    done = analyze("verify", "--man=no", str(units / "drivecert.target"), *names)
    ours = [line for line in done.stderr.splitlines() if "drivecert" in line]
    assert (done.returncode, ours) == (0, [])


@needs_systemd
def test_systemd_finds_a_mistake(units, tmp_path):
    broken = tmp_path / "broken.service"
    broken.write_text((units / "drivecert@web.service").read_text().replace("ProtectClock=yes", "ProtectClocks=yes"))
    assert "ProtectClocks" in analyze("verify", "--man=no", str(broken)).stderr


@needs_systemd
@pytest.mark.parametrize("name", sorted(LIMITS))
def test_units_are_hardened(units, name):
    done = analyze("security", "--offline=true", f"--threshold={LIMITS[name]}", str(units / f"{name}.service"))
    assert done.returncode == 0, done.stdout[-300:]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_has_a_unit_with_the_command_of_the_supervisor(part):
    name = "drivecert-lab" if part == "lab" else "drivecert@"
    unit = read(f"{name}.service")
    assert unit["Service"]["ExecStart"].replace("%i", part).endswith(f"python manage.py serve {part}")
    assert unit["Service"]["User"] == "drivecert"
    assert {"MemoryMax", "TasksMax", "Restart"} <= set(unit["Service"])
    assert f"{name}{'' if part == 'lab' else part}.service" in read("drivecert.target")["Unit"]["Wants"].split()


def read(name):
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read_string((FOLDER / name).read_text())
    return parser
