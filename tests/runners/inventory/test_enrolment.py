import os
import re
import shutil
import stat
import subprocess
import tomllib
from contextlib import nullcontext
from dataclasses import asdict

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from results.models import Event
from runners.hosts.protocol import FoundDrive, Identity
from runners.hosts.ssh_connection import fingerprint, key_path, public_key
from runners.inventory.agents import JoinRefusedError, join
from runners.inventory.devices import bind
from runners.inventory.enrolment import Pins, enrol, setup_steps, sshd_rule, sudo_line
from runners.models import Agent, Device, Host
from runners.models.states import LIVE, State
from runners.retention.retirement import retire_host, return_to_service
from tests.runners.ssh_host import HEALTH, PINNED, agent_host, ssh_host

pytestmark = pytest.mark.django_db
KEY = PINNED["host_key"]
SHA256 = PINNED["program_sha256"]
SSHD = shutil.which("sshd", path="/usr/sbin:/usr/bin:/sbin:/bin")
# sshd needs its own directory, which exists only if sshd is installed as a service.
IN_A_PLACE_OF_ITS_OWN = "mount -t tmpfs none /run && mkdir /run/sshd && exec"


def test_the_command_enrols_a_host_and_prints_the_steps_on_it(capsys):
    call_command("add_host", "lab-1", "--address", "192.0.2.1", "--host-key", KEY, "--sha256", SHA256)
    output = capsys.readouterr().out
    assert fingerprint(KEY) in output
    for shown in (sudo_line("drivecert"), public_key(), "/etc/drivecert/host.toml", "manage.py check_host lab-1"):
        assert shown in output
    assert Host.objects.get().program_sha256 == SHA256


def test_the_output_of_the_command_can_be_pasted(capsys):
    """The END of a here-document counts only at the beginning of a line; a real shell decides."""
    call_command("add_host", "lab-1", "--address", "192.0.2.1", "--host-key", KEY, "--sha256", SHA256)
    output = capsys.readouterr().out
    for _, commands in setup_steps(Host.objects.get()):
        assert f"\n{commands}\n" in output
        read = subprocess.run(["sh", "-n"], input=commands, capture_output=True, text=True, check=True)
        assert read.stderr == ""


PASTED = re.compile(
    r"sudo --preserve-env=HTTPS_PROXY,\S+ \\\n  /usr/local/sbin/drivetest agent join http\S+ (dcj_[0-9a-f]{40})\n"
)


def test_the_command_enrols_a_host_with_an_agent_and_prints_its_code_once(capsys):
    call_command("add_host", "lab-1", "--agent")
    output = capsys.readouterr().out
    (code,) = PASTED.findall(output)
    assert "curl -fsSo drivetest http" in output
    assert "/etc/drivecert/host.toml" in output
    assert "manage.py check_host lab-1" in output
    host = Host.objects.get()
    assert (host.kind, host.program_sha256) == ("agent", "")
    assert code not in str(Agent.objects.values().get())
    assert join(code, "5e" * 32, SHA256, "0.5.0").host == host


@pytest.mark.parametrize("code", ["", "dcj_1"])
def test_the_steps_of_an_agent_host_can_be_pasted_and_lack_the_join_without_a_code(code):
    steps = setup_steps(agent_host(), code)
    assert [("agent join" in commands) for _, commands in steps] == [True] * bool(code) + [False]
    for _, commands in steps:
        read = subprocess.run(["sh", "-n"], input=commands, capture_output=True, text=True, check=True)
        assert read.stderr == ""


def test_the_list_of_an_agent_host_names_the_line_of_updates():
    host = agent_host(health={"drives": ["nvme:M:S1"], "state_dir": "/srv/a b"})
    document = {"drives": ["nvme:M:S1"], "state_dir": "/srv/a b"}
    assert tomllib.loads(toml_of(host)) == document
    assert tomllib.loads(toml_of(host).replace("# updates", "updates")) == document | {"updates": []}
    assert "Keep the line updates" in setup_steps(host)[-1][0]
    assert "updates" not in "".join(map("".join, setup_steps(ssh_host("lab-2"))))


def test_another_agent_takes_the_place_of_an_enrolled_one_only_with_replace(capsys):
    call_command("add_host", "lab-1", "--agent")
    with pytest.raises(CommandError, match="add --replace"):
        call_command("add_host", "lab-1", "--agent")
    call_command("add_host", "lab-1", "--agent", "--replace", "--sha256", SHA256)
    first, second = PASTED.findall(capsys.readouterr().out)
    assert Host.objects.get().program_sha256 == SHA256
    with pytest.raises(JoinRefusedError):
        join(first, "5e" * 32, SHA256, "0.5.0")
    assert join(second, "5e" * 32, SHA256, "0.5.0")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], "expected --agent, or --address and --host-key"),
        (["--address", "192.0.2.1"], "expected --agent, or --host-key"),
        (["--agent", "--address", "192.0.2.1"], "got both"),
        (["--agent", "--sha256", "abc"], "Expected 64 hexadecimal digits"),
    ],
)
def test_the_command_refuses_options_that_do_not_fit_together(options, expected):
    with pytest.raises(CommandError, match=expected):
        call_command("add_host", "lab-1", *options)
    assert not Host.objects.exists()


@pytest.mark.parametrize("name", ["lab 1", "lab/1", ""])
def test_an_agent_host_needs_a_name_that_fits_an_address(name):
    with pytest.raises(CommandError, match="expected a name of letters"):
        call_command("add_host", name, "--agent")
    assert not Host.objects.exists()


def test_a_host_over_ssh_gets_no_agent():
    ssh_host()
    with pytest.raises(CommandError, match="choose another name"):
        call_command("add_host", "lab-1", "--agent")


def toml_of(host):
    """Return the text between the marks of the here-document that writes the list."""
    return setup_steps(host)[-1][1].partition("<<'END'\n")[2].removesuffix("\nEND")


def drives_in(text):
    return tomllib.loads(text)["drives"]


def found(path, key):
    return asdict(FoundDrive(path, "nvme", key, 1))


def test_the_list_allows_the_drives_of_the_operator_and_has_all_other_drives_as_comments(staff):
    listed = [
        found("/dev/nvme0n1", "nvme:M:S1"),
        found("/dev/nvme1n1", 'nvme:M "2":S2'),
        found("/srv/a#b", "file:h:8:5"),
    ]
    host = ssh_host(health={"found": listed, "drives": ["file:h:8:5", "nvme:M:away"]})
    assert drives_in(toml_of(host)) == ["file:h:8:5", "nvme:M:away"]
    every = ["file:h:8:5", "nvme:M:away", "nvme:M:S1", 'nvme:M "2":S2']
    assert drives_in(toml_of(host).replace("  # ", "  ")) == every
    bind(host, Identity("/dev/nvme0n1", "nvme", "nvme:M:S1", 1), "bench", staff)
    assert drives_in(toml_of(host)) == every[:2]
    assert '\n  # "nvme:M:S1", # /dev/nvme0n1\n' in toml_of(host)


@pytest.mark.parametrize(
    ("state_dir", "document"),
    [
        ("/var/lib/drivecert", {"drives": ["nvme:M:S1"]}),
        ("/srv/a b", {"drives": ["nvme:M:S1"], "state_dir": "/srv/a b"}),
    ],
)
def test_the_list_keeps_a_state_directory_of_the_operator(state_dir, document):
    host = ssh_host(health={"drives": ["nvme:M:S1"], "state_dir": state_dir})
    assert tomllib.loads(toml_of(host)) == document


def test_a_host_without_a_report_has_an_empty_list():
    sentence, _ = setup_steps(host := ssh_host())[-1]
    assert drives_in(toml_of(host)) == []
    assert "between the brackets" in sentence


def test_a_running_daemon_reloads_the_new_rule():
    steps = " ".join(commands for _, commands in setup_steps(ssh_host()))
    assert (
        steps.index("sshd -t") < steps.index("systemctl reload ssh") < steps.index('kill -HUP "$(cat /run/sshd.pid)"')
    )


def test_an_enrolled_name_is_pinned_again_only_with_replace(capsys):
    old, other = ssh_host(), "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "B" * 43
    command = ("add_host", "lab-1", "--address", "192.0.2.2", "--host-key", other, "--sha256", SHA256)
    with pytest.raises(CommandError, match="add --replace") as refused:
        call_command(*command)
    for shown in (fingerprint(KEY), fingerprint(other), "192.0.2.1", "192.0.2.2"):
        assert shown in str(refused.value)
    old.refresh_from_db()
    assert (old.address, old.host_key) == ("192.0.2.1", KEY)
    call_command(*command, "--replace")
    old.refresh_from_db()
    assert (old.address, old.host_key) == ("192.0.2.2", other)
    assert fingerprint(other) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "value"), [("--user", "root"), ("--host-key", "rubbish"), ("--sha256", "abc"), ("--address", "a b")]
)
def test_the_command_refuses_invalid_pins(option, value):
    given = {"--address": "192.0.2.1", "--host-key": KEY, "--sha256": SHA256} | {option: value}
    with pytest.raises(CommandError, match=value):
        call_command("add_host", "lab-1", *(word for pair in given.items() for word in pair))
    assert not Host.objects.exists()


@pytest.mark.parametrize(
    ("pinned", "is_kept"),
    [
        ({"address": "192.0.2.2"}, False),
        ({"port": 2222}, False),
        ({"host_key": str(KEY).replace("JZZ", "JZA")}, False),
        ({"program_sha256": "0" * 64}, True),
    ],
)
def test_a_replaced_host_does_not_get_the_drives_of_the_previous_machine(staff, pinned, is_kept):
    ssh_host(health=HEALTH)
    host = enrol("lab-1", Pins(**PINNED | pinned), staff)
    host.refresh_from_db()
    assert host.health == (HEALTH if is_kept else {})


def test_a_host_that_was_pinned_again_is_checked_before_it_gets_work(staff):
    before = ssh_host(objections=["silent"])
    enrol("lab-1", Pins(**PINNED | {"program_sha256": "0" * 64}), staff)
    before.refresh_from_db()
    assert (before.objections, before.checked_at, before.program_sha256) == ([], None, "0" * 64)
    assert Event.objects.get().kind == "host-pinned-anew"


@pytest.mark.parametrize(
    ("state", "ended_at", "is_refused"),
    [(state, None, True) for state in sorted(LIVE)]
    + [(State.LOST, None, True), (State.LOST, timezone.now(), False), (State.QUEUED, None, False)],
)
@pytest.mark.parametrize("role", ["device", "load"])
def test_a_host_is_not_pinned_again_while_a_program_may_run_there(in_state, staff, state, ended_at, is_refused, role):
    host = ssh_host()
    dispatch = in_state(state, ended_at=ended_at, load_host=host if role == "load" else None)
    Device.objects.filter(pk=dispatch.device_id if role == "device" else None).update(host=host)
    expected = pytest.raises(ValueError, match=f"{dispatch} is {state} there") if is_refused else nullcontext()
    with expected:
        enrol("lab-1", Pins(**PINNED | {"address": "192.0.2.2"}), staff)
    host.refresh_from_db()
    assert (host.address == PINNED["address"]) is is_refused


def test_a_retired_host_is_neither_pinned_again_nor_checked_until_it_is_back(staff):
    host = ssh_host()
    retire_host(host, staff, "scrapped")
    with pytest.raises(ValueError, match=r"lab-1: retired since .*; return it to service on its page first"):
        enrol("lab-1", Pins(**PINNED), staff)
    with pytest.raises(CommandError, match=r"lab-1: retired since .*; return it"):
        call_command("check_host", "lab-1")
    assert Host.objects.get().checked_at is None
    return_to_service(host, staff)
    assert enrol("lab-1", Pins(**PINNED), staff) == host


def test_this_machine_does_not_become_a_host_over_ssh(device, staff):
    with pytest.raises(ValueError, match="own machine"):
        enrol("local", Pins(**PINNED), staff)


@pytest.mark.skipif(SSHD is None or os.geteuid() != 0, reason="LOUD: no sshd, or no root, to test the rule")
@pytest.mark.parametrize("site", ["none", ".ssh/authorized_keys"])
def test_only_the_register_logs_in_with_the_key_file_of_root_and_no_other_rule_changes(tmp_path, site):
    """A real sshd reports the key file of each user, also on a site where users cannot add keys."""
    key, rule, config = (tmp_path / name for name in ("key", "rule.conf", "sshd_config"))
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    rule.write_text(sshd_rule("drivecert") + "\n")
    config.write_text(f"Include {rule}\nHostKey {key}\nAuthorizedKeysFile {site}\n")
    files = {user: key_file_of(config, user) for user in ("drivecert", "alice")}
    assert files == {"drivecert": "/etc/ssh/authorized/drivecert", "alice": site}


def key_file_of(config, user):
    command = f"{SSHD} -T -f {config} -C user={user},host=lab,addr=192.0.2.9"
    shell = ["unshare", "--mount", "sh", "-c", f"{IN_A_PLACE_OF_ITS_OWN} {command}"]
    answer = subprocess.run(shell, capture_output=True, text=True, check=True).stdout
    lines = [line.split(" ", 1) for line in answer.splitlines()]
    # OpenSSH 10 writes its keywords in mixed case, and prints no line if there is no such file.
    (path,) = [path for keyword, path in lines if keyword.lower() == "authorizedkeysfile"] or ["none"]
    return path


def test_the_setup_steps_contain_that_rule():
    steps = " ".join(commands for _, commands in setup_steps(ssh_host()))
    assert sshd_rule("drivecert") in steps
    assert ".ssh/authorized_keys" not in steps


def test_the_key_is_made_once_and_for_the_register_alone():
    assert public_key() == public_key()
    assert stat.S_IMODE(key_path().stat().st_mode) == 0o600
