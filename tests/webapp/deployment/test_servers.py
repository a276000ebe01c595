"""The commands of the register's processes, and `manage.py serve`."""

import os

import pytest
from django.core.management import CommandError, call_command

from webapp.deployment.servers import PARTS, REQUESTS_END_S, command_of, remove_old_spool
from webapp.supervisor.address import Address
from webapp.supervisor.supervisor import register_programs

HERE, THERE = Address("127.0.0.1", 8000), Address("127.0.0.1", 8001)


@pytest.mark.parametrize("part", PARTS)
def test_a_service_runs_the_same_command_as_the_supervisor(monkeypatch, part):
    address = THERE if part == "live" else HERE
    monkeypatch.setenv("HOST", address.host)
    monkeypatch.setenv("PORT", str(address.port))
    started = []
    monkeypatch.setattr(os, "execv", lambda path, command: started.append((path, command)))
    monkeypatch.setattr(os, "environ", os.environ.copy())
    call_command("serve", part)
    (program,) = (each for each in register_programs(HERE, THERE, {}) if each.name == part)
    assert started == [(program.command[0], program.command)]
    assert {name: os.environ.get(name) for name in program.environment} == program.environment


@pytest.mark.parametrize(("part", "seconds"), [("web", 25), ("live", 3)])
def test_a_reload_lets_requests_end_and_waiting_clients_ask_again(part, seconds):
    assert f"--workers-kill-timeout={seconds}" in command_of(part, HERE)


def test_the_supervisor_waits_less_than_a_web_server_for_its_requests():
    """`manage.py up` kills what has not ended after this time, so that Ctrl-C does not wait for a slow client."""
    web = next(each for each in register_programs(HERE, THERE, {}) if each.name == "web")
    assert web.stop_wait_s <= 5 < REQUESTS_END_S


def test_an_invalid_port_is_refused(monkeypatch):
    monkeypatch.setenv("PORT", "70000")
    with pytest.raises(CommandError, match="PORT: expected a number from 1 to 65535, got 70000"):
        call_command("serve", "web")


def test_a_web_server_needs_an_address():
    with pytest.raises(ValueError, match="web: expected an address"):
        command_of("web")


def test_uploads_of_a_killed_web_server_are_removed_after_a_day(tmp_path):
    old, new, other = (tmp_path / name for name in ("tmp1.upload.log", "tmp2.upload.log", "reading.json"))
    for path in (old, new, other):
        path.write_bytes(b"x")
    for path in (old, other):
        os.utime(path, (0, 0))
    assert remove_old_spool(tmp_path) == [old]
    assert sorted(tmp_path.iterdir()) == [other, new]
