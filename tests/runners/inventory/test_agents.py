import hashlib
from datetime import timedelta

import pytest
from django.utils import timezone

from results.models import Event
from runners.inventory import health
from runners.inventory.agents import (
    CODE_LIFETIME,
    SEEN_PERIOD,
    JoinRefusedError,
    authenticate,
    enrol_agent_host,
    join,
    new_join_code,
    pin_program,
    revoke,
)
from runners.models import Agent, AgentExchange, Device, Dispatch, Host
from runners.models.states import State
from runners.retention.retirement import retire_host
from tests.runners.ssh_host import HEALTH, ssh_host

pytestmark = pytest.mark.django_db
SECRET, OTHER = "5" * 64, "6" * 64
PROGRAM, NEWER = "a" * 64, "b" * 64


def sha256(secret):
    return hashlib.sha256(secret.encode()).hexdigest()


def test_an_agent_joins_with_a_code_and_is_recognised_by_its_secret():
    host, code = enrol_agent_host("lab-9", None)
    assert (host.kind, host.is_remote, host.agent.is_joined) == (Host.Kind.AGENT, True, False)
    assert authenticate(SECRET) is None
    agent = join(code, sha256(SECRET), PROGRAM, "0.10.0")
    assert authenticate(SECRET) == agent
    assert authenticate(OTHER) is None
    assert authenticate("") is None
    host.refresh_from_db()
    assert (host.program_sha256, agent.version, agent.is_joined) == (PROGRAM, "0.10.0", True)
    kinds = Event.objects.filter(subject_type="host").order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["host-added", "host-join-code-created", "host-agent-joined"]


def test_the_register_stores_neither_code_nor_secret():
    _, code = enrol_agent_host("lab-9", None)
    join(code, sha256(SECRET), PROGRAM, "0.10.0")
    stored = str([*Agent.objects.values(), *Host.objects.values(), *Event.objects.values()])
    assert code not in stored
    assert SECRET not in stored


def test_a_code_joins_once_but_the_same_secret_may_repeat_it():
    _, code = enrol_agent_host("lab-9", None)
    agent = join(code, sha256(SECRET), PROGRAM, "0.10.0")
    assert join(code, sha256(SECRET), PROGRAM, "0.10.0") == agent
    with pytest.raises(JoinRefusedError, match="Print a new command"):
        join(code, sha256(OTHER), PROGRAM, "0.10.0")
    assert authenticate(OTHER) is None
    assert Event.objects.filter(kind="host-agent-joined").count() == 1


@pytest.mark.parametrize(("left", "is_valid"), [(timedelta(seconds=5), True), (timedelta(0), False)])
def test_a_code_ends_after_an_hour(left, is_valid):
    _, code = enrol_agent_host("lab-9", None)
    expires_at = Agent.objects.get().code_expires_at
    assert timezone.now() + CODE_LIFETIME - expires_at < timedelta(seconds=10)
    Agent.objects.update(code_expires_at=timezone.now() + left)
    if is_valid:
        assert join(code, sha256(SECRET), PROGRAM, "0.10.0").is_joined
    else:
        with pytest.raises(JoinRefusedError):
            join(code, sha256(SECRET), PROGRAM, "0.10.0")


def test_an_unknown_code_does_not_join():
    enrol_agent_host("lab-9", None)
    for code in ("", "dcj_" + "0" * 40):
        with pytest.raises(JoinRefusedError):
            join(code, sha256(SECRET), PROGRAM, "0.10.0")


def test_a_new_code_ends_the_earlier_one_and_replaces_the_secret_only_when_it_is_used():
    host, earlier = enrol_agent_host("lab-9", None)
    join(earlier, sha256(SECRET), PROGRAM, "0.10.0")
    code = new_join_code(host, None)
    with pytest.raises(JoinRefusedError):
        join(earlier, sha256(SECRET), PROGRAM, "0.10.0")
    assert authenticate(SECRET) is not None
    join(code, sha256(OTHER), NEWER, "0.11.0")
    assert authenticate(SECRET) is None
    assert authenticate(OTHER) is not None
    host.refresh_from_db()
    assert host.program_sha256 == PROGRAM  # the check objects to the other program


def test_a_revoked_secret_and_code_end_at_once():
    host, code = enrol_agent_host("lab-9", None)
    join(code, sha256(SECRET), PROGRAM, "0.10.0")
    revoke(host, None)
    revoke(host, None)
    assert authenticate(SECRET) is None
    with pytest.raises(JoinRefusedError):
        join(code, sha256(SECRET), PROGRAM, "0.10.0")
    assert Agent.objects.get().revoked_at is not None
    assert Event.objects.filter(kind="host-agent-revoked").count() == 1
    join(new_join_code(host, None), sha256(SECRET), PROGRAM, "0.10.0")
    assert Agent.objects.get().revoked_at is None


def test_a_secret_opens_one_host_only():
    _, code = enrol_agent_host("lab-9", None)
    join(code, sha256(SECRET), PROGRAM, "0.10.0")
    _, other = enrol_agent_host("lab-10", None)
    with pytest.raises(JoinRefusedError, match=r"agent\.toml"):
        join(other, sha256(SECRET), PROGRAM, "0.10.0")


def test_joining_again_forgets_what_may_be_of_another_machine():
    host, code = enrol_agent_host("lab-9", None)
    join(code, sha256(SECRET), PROGRAM, "0.10.0")
    Host.objects.update(health={"drives": ["x"]}, objections=["too hot"], checked_at=timezone.now(), silent_checks=3)
    AgentExchange.objects.create(host=host, payload=b"{}", expires_at=timezone.now())
    join(new_join_code(host, None), sha256(OTHER), PROGRAM, "0.10.0")
    host.refresh_from_db()
    assert (host.health, host.objections, host.checked_at, host.silent_checks) == ({}, [], None, 0)
    assert not AgentExchange.objects.exists()


def test_no_other_machine_joins_while_a_run_may_be_active(dispatch):
    host, code = enrol_agent_host("lab-9", None)
    join(code, sha256(SECRET), PROGRAM, "0.10.0")
    later = new_join_code(host, None)
    Device.objects.update(host=host)
    Dispatch.objects.update(state=State.RUNNING)
    for attempt in (lambda: new_join_code(host, None), lambda: enrol_agent_host("lab-9", None)):
        with pytest.raises(ValueError, match="may still run"):
            attempt()
    with pytest.raises(JoinRefusedError, match="may still run"):
        join(later, sha256(OTHER), PROGRAM, "0.10.0")
    with pytest.raises(ValueError, match="may still run"):
        pin_program(host, NEWER, None)
    assert authenticate(SECRET) is not None


def test_a_retired_host_gets_no_code():
    host, _ = enrol_agent_host("lab-9", None)
    retire_host(host, None, "sold")
    host.refresh_from_db()
    with pytest.raises(ValueError, match="retired"):
        new_join_code(host, None)


def test_a_name_of_another_kind_of_host_is_refused():
    host = ssh_host()
    with pytest.raises(ValueError, match="over SSH; choose another name"):
        enrol_agent_host(host.name, None)


def test_a_newer_program_can_be_pinned():
    host, code = enrol_agent_host("lab-9", None)
    join(code, sha256(SECRET), PROGRAM, "0.10.0")
    pin_program(host, NEWER, None)
    host.refresh_from_db()
    assert host.program_sha256 == NEWER
    with pytest.raises(ValueError, match="64 hexadecimal"):
        pin_program(host, "latest", None)


@pytest.mark.parametrize("hashes", [("x", PROGRAM), (sha256(SECRET), ""), (sha256(SECRET).upper(), PROGRAM)])
def test_texts_that_are_no_hashes_do_not_join(hashes):
    _, code = enrol_agent_host("lab-9", None)
    with pytest.raises(ValueError, match="64 hexadecimal"):
        join(code, *hashes, "0.10.0")


def test_the_time_of_the_last_request_is_stored_once_in_ten_seconds():
    _, code = enrol_agent_host("lab-9", None)
    join(code, sha256(SECRET), PROGRAM, "0.10.0")
    authenticate(SECRET)
    first = Agent.objects.get().seen_at
    authenticate(SECRET)
    assert Agent.objects.get().seen_at == first
    Agent.objects.update(seen_at=first - SEEN_PERIOD)
    authenticate(SECRET)
    assert Agent.objects.get().seen_at > first


def test_a_host_gets_no_work_once_its_agent_is_revoked():
    host, code = enrol_agent_host("lab-9", None)
    join(code, sha256(SECRET), PROGRAM, "0.10.0")
    Host.objects.update(checked_at=timezone.now())
    host.refresh_from_db()
    assert health.no_work_reasons(host) == []
    revoke(host, None)
    host.refresh_from_db()
    assert health.no_work_reasons(host) == ["it has not been checked yet"]


@pytest.mark.parametrize(("is_own", "sentence"), [(True, "fetches it from the register"), (False, "another program")])
def test_the_remedy_for_another_program_names_what_the_register_can_send(monkeypatch, is_own, sentence):
    host, code = enrol_agent_host("lab-9", None)
    join(code, sha256(SECRET), PROGRAM, "0.10.0")
    host.refresh_from_db()
    monkeypatch.setattr(health, "own_program_sha256", lambda: PROGRAM if is_own else NEWER)
    (objection,) = [
        each
        for each in health._objections(host, HEALTH | {"clock_offset_s": 0, "program_sha256": NEWER})
        if "SHA-256" in each
    ]
    assert sentence in objection
    assert "systemctl restart drivecert-agent" in objection
