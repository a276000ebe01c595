"""Rows that a measure needs in the register: `manage.py shell` runs these functions, and their output is JSON."""

import io
import json
from datetime import timedelta
from hashlib import sha256
from secrets import token_hex, token_urlsafe
from typing import Any

from django.conf import settings
from django.utils import timezone
from simulated_agents import identity_of

from results.intake.submissions import accept_submission
from results.models import Organisation, Reading, Run, Submission, Visibility
from runners.dispatch.orders import declare_ended
from runners.hosts import connect
from runners.inventory.agents import enrol_agent_host, join
from runners.inventory.devices import bind
from runners.inventory.enrolment import own_program_sha256
from runners.inventory.health import check
from runners.models import Agent, Device, Dispatch, Host
from runners.models.states import State
from tests.results.builders import FACTS, log_bytes, make_organisation, make_user
from webapp.accounts.tokens.rules import issue_token

MEMBERS = {"exemplar": ("vera", "dora", "kim", "milo", "paula", "tess"), "other": ("otto",)}
# Each token may send 60 logs and ask for 600 pages in a minute.
TOKENS_OF_MEMBER = 20
TOKENS_OF_ROLE = 100


def create() -> None:
    """Create two organisations and their owners. Prints their passwords and tokens."""
    people = {}
    for slug, names in MEMBERS.items():
        organisation = make_organisation(slug)
        for name in names:
            password = token_urlsafe(12)
            user = make_user(name, organisation, password=password)
            tokens = [issue_token(user, organisation, f"script {n}")[1] for n in range(TOKENS_OF_MEMBER)]
            people[name] = {"password": password, "tokens": tokens}
    print(json.dumps(people))


def create_roles() -> None:
    """Create a person of each role. Prints their tokens."""
    maker, lab = make_organisation("maker"), make_organisation("lab")
    roles: dict[str, tuple[Any, list[str], dict[str, bool]]] = {
        "submitter": (maker, ["submit"], {}),
        "owner": (maker, ["submit", "read-own"], {}),
        "reviewer": (lab, ["submit", "read-own", "review"], {"is_reviewer": True}),
        "operator": (lab, ["submit", "read-own", "order", "host"], {"is_operator": True}),
    }
    created = {}
    for role, (organisation, scopes, columns) in roles.items():
        user = make_user(role, organisation, **columns)
        created[role] = [issue_token(user, organisation, f"script {n}", scopes)[1] for n in range(TOKENS_OF_ROLE)]
    print(json.dumps(created))


def embargo(submission_id: str) -> None:
    """Put the runs of a submission under embargo. Prints the id of the first."""
    runs = Run.objects.filter(submission__public_id=submission_id)
    runs.update(visibility=Visibility.EMBARGOED, predates_approvals=True)
    print(json.dumps(runs.values_list("public_id", flat=True)[0]))


def numbered_log(series: str, number: int) -> bytes:
    """Return a log that differs from those of other series and numbers."""
    return log_bytes("slow-disk-ms") + f"{series} {number}\n".encode()


def store_logs(series: str, count: int) -> None:
    """Store logs of the organisation exemplar without reading them. Prints their number."""
    organisation = Organisation.objects.get(slug="exemplar")
    for number in range(count):
        content = io.BytesIO(numbered_log(series, number))
        accept_submission(organisation, content, "load.log", FACTS, Submission.Origin.API, None)
    unread = Reading.objects.filter(evidence__organisation=organisation, state=Reading.State.PENDING)
    print(json.dumps(unread.update(state=Reading.State.FAILED, error="not read by this measure")))


def create_senders(agents: int, tokens: int) -> None:
    """Create what the mixed load needs. Prints the tokens of scripts, the secrets of agents, and a submission."""
    organisation = make_organisation("exemplar")
    user = make_user("vera", organisation)
    secrets = []
    for number in range(agents):
        _, code = enrol_agent_host(f"agent-{number}", None)
        secret = token_hex(32)
        join(code, sha256(secret.encode()).hexdigest(), own_program_sha256(), "0.0.0")
        secrets.append(secret)
    content = io.BytesIO(log_bytes("four-us"))
    receipt = accept_submission(organisation, content, "load.log", FACTS, Submission.Origin.API, user)
    issued = [issue_token(user, organisation, f"script {number}")[1] for number in range(tokens)]
    print(json.dumps({"tokens": issued, "agents": secrets, "submission": receipt.submission.public_id}))


def create_agent_hosts(agents: int, tokens: int) -> None:
    """Create hosts with an agent and a drive each. Prints secrets, orders of devices, the program and tokens.

    The rows are those of hosts that have joined, were found fit, and have a bound drive. Their next checks are spread.
    """
    columns = {"kind": Organisation.Kind.LAB, "confirmed_at": "2026-01-01T00:00Z"}
    lab = Organisation.objects.create(slug="a-lab", name="A lab", **columns)
    operator = make_user("olga", lab, is_operator=True)
    program, secrets = own_program_sha256(), [token_hex(32) for _ in range(agents)]
    pinned = {"kind": Host.Kind.AGENT, "program_sha256": program}
    now, period = timezone.now(), timedelta(seconds=settings.HOST_CHECK_PERIOD_S)
    hosts = Host.objects.bulk_create(
        Host(name=f"agent-{number}", checked_at=now, next_check_at=now + period * (number + 1) / agents, **pinned)
        for number in range(agents)
    )
    Agent.objects.bulk_create(
        Agent(host=host, secret_hash=sha256(secret.encode()).hexdigest(), joined_at=now)
        for host, secret in zip(hosts, secrets, strict=True)
    )
    devices = Device.objects.bulk_create(_device_of(host, number) for number, host in enumerate(hosts))
    scopes = ["order", "read-own"]
    issued = [issue_token(operator, lab, f"script {number}", scopes)[1] for number in range(tokens)]
    orders = [*map(_order_of, devices)]
    print(json.dumps({"secrets": secrets, "devices": orders, "program_sha256": program, "tokens": issued}))


def enrol_agents(names: list[str]) -> None:
    """Add hosts that their agents reach. Prints the join code of each."""
    print(json.dumps({name: enrol_agent_host(name, None)[1] for name in names}))


def bind_drives(path: str, tokens: int) -> None:
    """Check all hosts, and bind the drive of each at a path. Prints the order of each device, and tokens to order."""
    columns = {"kind": Organisation.Kind.LAB, "confirmed_at": "2026-01-01T00:00Z"}
    lab = Organisation.objects.create(slug="a-lab", name="A lab", **columns)
    operator, orders = make_user("olga", lab, is_operator=True), {}
    for host in Host.objects.order_by("name"):
        if objections := check(host):
            raise RuntimeError(f"{host.name}: expected a host without objections, got {objections}")
        device = bind(host, connect(host).identify(path), f"drive of {host.name}", operator)
        orders[host.name] = _order_of(device)
    issued = [issue_token(operator, lab, f"script {n}", ["order", "read-own"])[1] for n in range(tokens)]
    print(json.dumps({"devices": orders, "tokens": issued}))


def confirm_ends(runs: list[str]) -> None:
    """Confirm as an operator that nothing of these lost runs runs on their hosts. Prints their number."""
    lost = Dispatch.objects.filter(public_id__in=runs, state=State.LOST, ended_at=None)
    for dispatch in lost.select_related("ordered_by"):
        declare_ended(dispatch, dispatch.ordered_by, "checked the machine: it does not run")
    print(json.dumps(len(runs)))


def _order_of(device: Device) -> dict[str, object]:
    """Return the fields of an order by which a script states that it knows the drive."""
    place = f"{device.path} of {device.size_bytes} bytes"
    return {"device": device.pk, "typed_label": device.label, "shown_place": place}


def _device_of(host: Host, number: int) -> Device:
    document = identity_of(number)
    names = ("drive_key", "path", "size_bytes")
    seen = {name: document[name] for name in names} | {"identity_kind": document["kind"], "identity": document}
    return Device(host=host, label=f"drive {number}", **seen)
