"""Changes of hosts by API: add, check, state the location, agent, retirement."""

import pytest
from django.utils import timezone

from results.models import Event
from runners.inventory import agents
from runners.models import Agent, Host
from runners.models.states import State
from tests.runners.ssh_host import HEALTH, PINNED, agent_host, ssh_host
from tests.webapp.api.lab.conftest import script_of

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/lab/hosts/"
SECRET_SHA256 = "5e" * 32
SSH = {name: PINNED[name] for name in ("address", "host_key", "program_sha256")}


def post(client, part="", **fields):
    return client.post(f"{ADDRESS}{part}", fields, content_type="application/json")


def refused(answer):
    return (answer.status_code, answer.json()["code"])


def test_a_host_with_an_agent_is_added_and_only_that_response_has_its_code(olga, watcher, staff, settings):
    added = post(olga, kind="agent", name="lab-1")
    assert (added.status_code, added.headers["Location"]) == (201, f"{ADDRESS}lab-1/")
    assert "no-store" in added.headers["Cache-Control"]
    code = added.json()["join_code"]
    assert f" agent join {settings.PUBLIC_URL} {code}" in added.json()["join_commands"]
    assert added.json()["agent"]["state"] == "waiting"
    assert code not in watcher.get(f"{ADDRESS}lab-1/").text
    host = agents.join(code, SECRET_SHA256, PINNED["program_sha256"], "0.5.0").host
    assert (host.name, host.agent.created_by) == ("lab-1", staff)
    assert watcher.get(f"{ADDRESS}lab-1/").json()["agent"]["state"] == "joined"
    assert Event.objects.get(kind="host-added").actor == staff


def test_a_repeated_request_adds_no_second_host_and_leaves_the_code_valid(olga):
    code = post(olga, kind="agent", name="lab-1").json()["join_code"]
    again = post(olga, kind="agent", name="lab-1")
    assert again.status_code == 400
    assert "Host lab-1 already exists" in again.json()["errors"][0]["detail"]
    assert agents.join(code, SECRET_SHA256, PINNED["program_sha256"], "0.5.0")


def test_a_host_over_ssh_is_added_with_its_pins_and_the_defaults_of_the_page(olga):
    added = post(olga, kind="ssh", name="lab-1", **SSH)
    assert added.status_code == 201
    assert (added.json()["join_code"], added.json()["agent"]) == (None, None)
    host = Host.objects.get()
    assert (host.port, host.user, host.program_sha256) == (22, "drivecert", SSH["program_sha256"])
    assert "sudoers" in added.json()["setup_steps"][3]["commands"]
    assert added.json()["teardown_steps"][-1]["commands"] == "rm /usr/local/sbin/drivetest"


def test_the_registers_own_machine_is_added_once(olga):
    assert post(olga, kind="local").json()["name"] == "local"
    again = post(olga, kind="local")
    assert (again.status_code, "this machine is host local" in again.text) == (400, True)
    assert Host.objects.get().kind == "local"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"kind": "cloud", "name": "lab-1"},
        {"kind": "agent"},
        {"kind": "agent", "name": "lab 1"},
        {"kind": "agent", "name": "local"},
        {"kind": "agent", "name": "lab-1", "port": 22},
        {"kind": "local", "name": "here"},
        {"kind": "ssh", "name": "lab-1", **SSH, "user": "root"},
        {"kind": "ssh", "name": "lab-1", **SSH, "host_key": "ssh-rsa x"},
    ],
)
def test_an_invalid_host_is_not_added(olga, fields):
    assert post(olga, **fields).status_code == 400
    assert not Host.objects.exists()


def test_location_is_stated_in_part(olga):
    ssh_host()
    both = {"region": "us-east-1", "zone": "us-east-1a"}
    assert olga.patch(f"{ADDRESS}lab-1/", both, content_type="application/json").json()["zone"] == "us-east-1a"
    assert olga.patch(f"{ADDRESS}lab-1/", {"zone": ""}, content_type="application/json").status_code == 200
    host = Host.objects.get()
    assert (host.region, host.zone) == ("us-east-1", "")
    assert Event.objects.filter(kind="host-place-stated").count() == 2


def test_a_check_reports_why_a_host_gets_no_work(olga, monkeypatch):
    ssh_host(checked_at=timezone.now())

    def check(host):
        Host.objects.filter(pk=host.pk).update(objections=["no space"])

    monkeypatch.setattr("runners.inventory.health.check", check)
    assert post(olga, "lab-1/check/").json()["no_work"] == ["no space"]
    Host.objects.update(retired_at=timezone.now())
    assert refused(post(olga, "lab-1/check/")) == (409, "out-of-service")
    Host.objects.update(retired_at=None, kind="local")
    assert refused(post(olga, "lab-1/check/")) == (409, "not-remote")


def test_an_agent_gets_a_new_code_another_program_and_is_revoked(olga, settings, tmp_path):
    host = agent_host(health=HEALTH)
    code = post(olga, "lab-1/agent/code/")
    assert code.status_code == 200
    assert "no-store" in code.headers["Cache-Control"]
    assert agents.join(code.json()["join_code"], SECRET_SHA256, PINNED["program_sha256"], "0.5.0").host == host
    settings.DRIVETEST = tmp_path / "drivetest"
    assert refused(post(olga, "lab-1/agent/program/")) == (409, "program-missing")
    settings.DRIVETEST.write_bytes(b"program")
    pinned = post(olga, "lab-1/agent/program/").json()["program_sha256"]
    assert pinned == Host.objects.get().program_sha256 != PINNED["program_sha256"]
    assert post(olga, "lab-1/agent/revoke/").json()["agent"]["state"] == "revoked"
    assert Agent.objects.get().secret_hash == ""


@pytest.mark.parametrize("part", ["code", "program", "revoke"])
def test_a_host_without_an_agent_refuses_its_commands(olga, part):
    ssh_host()
    assert refused(post(olga, f"lab-1/agent/{part}/")) == (409, "no-agent")


def test_no_other_machine_joins_while_a_run_may_be_active(olga, device, in_state):
    in_state(State.RUNNING)
    Host.objects.update(kind="agent")
    Agent.objects.create(host=device.host)
    assert refused(post(olga, "local/agent/code/")) == (409, "run-active")


def test_a_host_is_retired_for_a_reason_and_returned(olga, device, in_state):
    assert refused(post(olga, "local/retire/")) == (409, "retirement-refused")
    dispatch = in_state(State.FAILED, started_at=timezone.now(), ended_at=timezone.now(), log_bytes=5)
    dispatch.steps.create(from_state="claimed", to_state="preparing", actor="worker")
    assert refused(post(olga, "local/retire/", reason="sold")) == (409, "retirement-refused")
    retired = post(olga, "local/retire/", reason="sold", abandons_leftovers=True)
    assert retired.json()["retired_at"] is not None
    assert Event.objects.get(kind="host-retired").reason == "sold"
    assert refused(post(olga, "local/agent/code/")) == (409, "no-agent")
    assert post(olga, "local/restore/").json()["retired_at"] is None
    assert refused(post(olga, "local/restore/")) == (409, "in-service")


def test_a_machine_checks_a_host_and_changes_none(olga, staff, a_lab, monkeypatch):
    agent_host()
    monkeypatch.setattr("runners.inventory.health.check", lambda _host: [])
    machine = script_of(staff, a_lab, "order", kind="machine")
    assert post(machine, "lab-1/check/").status_code == 200
    for part in ("", *(f"lab-1/{name}/" for name in ("agent/code", "agent/program", "agent/revoke", "retire",
                                                     "restore", "identify"))):  # fmt: skip
        assert post(machine, part).status_code == 403, part
    assert machine.patch(f"{ADDRESS}lab-1/", {}, content_type="application/json").status_code == 403


@pytest.mark.parametrize("part", ["check", "agent/code", "agent/program", "agent/revoke", "restore", "retire"])
def test_commands_refuse_unknown_fields_and_unknown_hosts(olga, part):
    agent_host()
    assert post(olga, f"lab-1/{part}/", force=True).status_code == 400
    assert post(olga, f"nowhere/{part}/").status_code == 404
    assert not Event.objects.exists()


def test_a_script_that_only_reads_changes_nothing(watcher):
    agent_host()
    assert refused(post(watcher, kind="agent", name="lab-2")) == (403, "scope-missing")
    assert refused(post(watcher, "lab-1/agent/revoke/")) == (403, "scope-missing")
