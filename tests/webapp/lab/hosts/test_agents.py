"""The agent of a host on its page: the command with the join code, the state of the agent, and its revocation."""

import hashlib
import html
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from results.models import Event
from runners.inventory import agents
from runners.models import Agent, Host
from runners.models.states import State
from runners.retention.retirement import retire_host
from tests.runners.ssh_host import HEALTH, PINNED, agent_host, ssh_host

pytestmark = pytest.mark.django_db
CODE = re.compile(r"agent join http\S+ (dcj_[0-9a-f]{40})")
NEW = {"by": "agent", "name": "lab-1"}
SECRET_SHA256 = "5e" * 32


def code_in(page):
    """Return the join code in the command that a page shows."""
    (code,) = CODE.findall(html.unescape(page.text))
    return code


def joined(code):
    return agents.join(code, SECRET_SHA256, PINNED["program_sha256"], "0.5.0")


def test_a_host_is_added_by_its_name_and_the_page_shows_its_command_once(lab_client, staff):
    page = lab_client.post("/lab/hosts/add/", NEW)
    assert page.status_code == 200
    assert "curl -fsSo drivetest http" in page.text
    assert "/etc/drivecert/host.toml" in page.text
    host = joined(code := code_in(page)).host
    assert (host.name, host.kind, host.agent.created_by) == ("lab-1", "agent", staff)
    assert code not in lab_client.get("/lab/hosts/lab-1/").text
    assert "no-store" in page.headers["Cache-Control"]


def test_a_page_that_is_sent_again_adds_no_second_host_and_leaves_the_code_valid(lab_client):
    code = code_in(lab_client.post("/lab/hosts/add/", NEW))
    assert "Print a new command on its page." in lab_client.post("/lab/hosts/add/", NEW).text
    assert joined(code)


@pytest.mark.parametrize("name", ["", "lab 1", "x" * 41])
def test_an_invalid_name_is_an_error_of_its_field(lab_client, name):
    page = lab_client.post("/lab/hosts/add/", NEW | {"name": name})
    assert page.context["agent_form"].errors["name"]
    assert not page.context["form"].errors
    assert not Host.objects.exists()


def test_the_name_of_a_host_over_ssh_or_of_a_retired_one_is_refused(lab_client):
    ssh_host()
    agent_host("lab-2", retired_at=timezone.now())
    assert "Host lab-1 already exists" in lab_client.post("/lab/hosts/add/", NEW).text
    assert "Return it to service" in lab_client.post("/lab/hosts/add/", NEW | {"name": "lab-2"}).text


def test_a_name_that_another_operator_took_meanwhile_is_an_error_of_the_form(lab_client, monkeypatch):
    def take_the_name(name, actor):
        monkeypatch.undo()
        ssh_host(name)
        return agents.enrol_agent_host(name, actor)

    monkeypatch.setattr(agents, "enrol_agent_host", take_the_name)
    page = lab_client.post("/lab/hosts/add/", NEW)
    assert (page.status_code, "choose another name" in page.text) == (200, True)


def state_on(page):
    """Return the state in the heading of the agent."""
    return re.search(r'<h2 id="agent">Agent <span class="aside">([^<]*)</span>', page.text)[1]


def test_the_page_shows_each_state_of_the_agent(lab_client, staff):
    lab_client.post("/lab/hosts/add/", NEW)
    assert state_on(waiting := lab_client.get("/lab/hosts/lab-1/")) == "waiting to join"
    assert "is valid until" in waiting.text
    Agent.objects.update(code_expires_at=timezone.now())
    expired = lab_client.get("/lab/hosts/lab-1/")
    assert state_on(expired) == "not joined: the code of its command has expired"
    assert "is valid until" not in expired.text
    joined(code_in(lab_client.post("/lab/hosts/lab-1/agent/code/")))
    here = lab_client.get("/lab/hosts/lab-1/")
    assert state_on(here) == "joined"
    for shown in ("not seen yet", "0.5.0", PINNED["program_sha256"], f"by {staff.shown_name}", "agent joined"):
        assert shown in here.text
    Agent.objects.update(seen_at=timezone.now() - timedelta(hours=3))
    assert "not seen yet" not in lab_client.get("/lab/hosts/lab-1/").text
    revoked = lab_client.post("/lab/hosts/lab-1/agent/revoke/", follow=True)
    assert state_on(revoked) == "revoked"
    assert "The agent of host lab-1 is revoked" in revoked.text
    assert "Revoke agent" not in revoked.text


def test_the_present_agent_works_until_another_one_joins_with_a_new_command(lab_client):
    lab_client.post("/lab/hosts/add/", NEW)
    first = code_in(lab_client.post("/lab/hosts/lab-1/agent/code/"))
    joined(first)
    page = lab_client.post("/lab/hosts/lab-1/agent/code/")
    assert state_on(page) == "joined"
    assert "an agent that joins with it replaces this one" in page.text
    assert Agent.objects.get().secret_hash == SECRET_SHA256
    agents.join(code_in(page), "6f" * 32, PINNED["program_sha256"], "0.5.0")
    assert Agent.objects.get().secret_hash == "6f" * 32


def test_a_revoked_agent_has_no_secret_and_its_command_no_use(lab_client, staff):
    code = code_in(lab_client.post("/lab/hosts/add/", NEW))
    lab_client.post("/lab/hosts/lab-1/agent/revoke/")
    with pytest.raises(agents.JoinRefusedError):
        joined(code)
    event = Event.objects.get(kind="host-agent-revoked")
    assert (event.actor, event.subject_id) == (staff, "lab-1")


def test_a_retired_host_shows_no_command_and_its_agent_can_be_revoked(lab_client, staff):
    retire_host(agent_host(health=HEALTH), staff, "sold")
    page = lab_client.post("/lab/hosts/lab-1/agent/code/", follow=True).text
    assert "No command was printed: lab-1: retired since" in page
    assert "Print a new command" not in page
    assert "Revoke agent" in page
    assert "systemctl disable --now drivecert-agent.service" in page


@pytest.fixture
def own_program(settings, tmp_path):
    """Give the register a drivetest, and return its SHA-256."""
    settings.DRIVETEST = tmp_path / "drivetest"
    settings.DRIVETEST.write_bytes(b"program")
    return hashlib.sha256(b"program").hexdigest()


def test_the_registers_own_program_is_pinned_on_the_page_if_another_one_is(lab_client, staff, own_program):
    host = agent_host(health=HEALTH)
    assert own_program in lab_client.get("/lab/hosts/lab-1/").text
    page = lab_client.post("/lab/hosts/lab-1/agent/program/", follow=True).text
    assert f"The drivetest with SHA-256 {own_program} is pinned." in page
    assert "Pin this drivetest" not in page
    host.refresh_from_db()
    assert host.program_sha256 == own_program
    assert Event.objects.get(kind="host-pinned-anew").actor == staff


def test_no_program_is_pinned_before_the_agent_joins_or_if_the_register_has_none(lab_client, settings, tmp_path):
    agent_host(is_joined=False)
    assert "Pin this drivetest" not in lab_client.get("/lab/hosts/lab-1/").text
    settings.DRIVETEST = tmp_path / "none"
    assert "Nothing was pinned:" in lab_client.post("/lab/hosts/lab-1/agent/program/", follow=True).text
    assert Host.objects.get().program_sha256 == ""
    assert "Pin this drivetest" not in lab_client.get("/lab/hosts/lab-1/").text


def test_no_command_and_no_program_while_a_run_may_be_active(lab_client, in_state, own_program):
    dispatch = in_state(State.RUNNING)
    Host.objects.filter(pk=dispatch.device.host_id).update(kind="agent", program_sha256="5e" * 32)
    Agent.objects.create(host=dispatch.device.host, secret_hash=SECRET_SHA256)
    for deed, refusal in (("code", "No command was printed"), ("program", "Nothing was pinned")):
        page = lab_client.post(f"/lab/hosts/local/agent/{deed}/", follow=True).text
        assert refusal in page
        assert f"{dispatch} is running there" in page


@pytest.mark.parametrize("deed", ["code", "revoke", "program"])
def test_a_host_over_ssh_has_no_agent(lab_client, deed):
    ssh_host()
    assert lab_client.post(f"/lab/hosts/lab-1/agent/{deed}/").status_code == 404
    assert 'id="agent"' not in lab_client.get("/lab/hosts/lab-1/").text


def test_the_page_of_an_agent_host_shows_its_report_and_no_ssh(lab_client):
    agent_host(health=HEALTH, checked_at=timezone.now())
    page = lab_client.get("/lab/hosts/lab-1/").text
    for shown in ("by its agent", "This host is ready for work", "Check now", "6.1.0", "nvme:M:S1", "Teardown steps"):
        assert shown in page
    for hidden in ("Pinned identity", "ssh", "may be overwritten, because"):
        assert hidden not in page


@pytest.mark.parametrize(("url", "is_warned"), [("http://127.0.0.1:8000", True), ("https://register.example", False)])
def test_an_address_without_https_is_named_before_a_command_is_printed(lab_client, settings, url, is_warned):
    settings.PUBLIC_URL = url
    assert ("An agent joins over HTTPS only" in lab_client.get("/lab/hosts/add/").text) is is_warned
    page = lab_client.post("/lab/hosts/add/", NEW).text
    assert ("An agent joins over HTTPS only" in page) is is_warned
    assert f"curl -fsSo drivetest {url}/api/v1/agents/program/" in page


def test_a_host_is_checked_on_its_page_only_when_its_agent_has_joined(lab_client):
    agent_host()
    agent_host("lab-2", is_joined=False)
    ssh_host("lab-3")
    assert "Check now" in lab_client.get("/lab/hosts/lab-3/").text
    assert "Check now" in lab_client.get("/lab/hosts/lab-1/").text
    assert "Check now" not in lab_client.get("/lab/hosts/lab-2/").text
