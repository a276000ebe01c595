"""A sample response of every request of the API, as /api/v1/docs/ shows it: made by real requests, and kept current.

`WRITE_SAMPLES=1 pytest tests/webapp/api/test_samples.py` writes them again after a change.
"""

import json
import os
import re
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from unittest.mock import patch

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from jsonschema import Draft4Validator

from results.catalogue.claims import import_claims, import_figures
from results.ingest.queue import sweep
from results.lifecycle.objection_filing import file_objection
from results.lifecycle.objections import admit
from results.models import (
    Certificate,
    Organisation,
    Preparation,
    Product,
    Profile,
    Run,
    Submission,
    Visibility,
    YcsbRun,
)
from runners.inventory.agents import enrol_agent_host
from runners.inventory.enrolment import own_program_sha256
from runners.models import Dispatch
from tests.results.builders import DATA, log_bytes, make_organisation, make_user
from tests.runners.fake_host import FakeHost
from tests.runners.ssh_host import HEALTH, ssh_host
from tests.webapp.accounts.publishers.issuer import AUDIENCE, running_issuer
from tests.webapp.submissions.drafts.uploads import announce, append
from webapp.accounts.audit.trail import Actor
from webapp.accounts.models import hash_token
from webapp.accounts.publishers.rules import trust
from webapp.accounts.tokens.rules import issue_token
from webapp.api.documentation import SAMPLES, operations, samples
from webapp.register.ycsb.loads import LOAD_KEY_DIGITS
from webapp.webhooks.models import Delivery

pytestmark = pytest.mark.django_db
JSON = "application/json"
FACTS = {"vendor": "Exemplar", "model": "EX4", "category": "nvme-flash", "capacity_gb": 3200, "firmware": "1.2"}
EMBARGO_END = (datetime.now(UTC) + timedelta(days=30)).replace(second=0, microsecond=0)
ROWS_SHOWN = 2  # of each list
ID = re.compile(r"\b([a-z])-[2-9a-hjkmnp-z]{8}\b")
UPLOAD = re.compile(r"/uploads/[0-9a-f]{32}/")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
SHOWN_MOMENT = re.compile(r"\b\d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d UTC")
IDS = "23456789abcdefghjkmnpqrstvwxyz"


def client_of(user, organisation, scopes):
    _, secret = issue_token(user, organisation, "script", scopes)
    return Client(headers={"Authorization": f"Bearer {secret}"})


class Sampler:
    """Sends requests, and keeps the response of the first of each operation."""

    def __init__(self):
        self.found = {}

    def send(self, client, method, operation, values=None, query="", **kwargs):
        path = operation
        for name, value in (values or {}).items():
            path = path.replace(f"{{{name}}}", value)
        answer = getattr(client, method.lower())(f"{path}{query}", **kwargs)
        assert answer.status_code < 400, (method, path, answer.text)
        body = answer.json() if not answer.streaming and answer.content else None  # a file is no sample
        b"".join(answer)  # closes a file
        sample = {"request": f"{method} {path}{query}", "status": answer.status_code, "response": body}
        self.found.setdefault(f"{method} {operation}", sample)
        return body


def shortened(value):
    """Return a response with the first rows of each list."""
    if isinstance(value, dict):
        return {name: shortened(each) for name, each in value.items()}
    return [shortened(each) for each in value[:ROWS_SHOWN]] if isinstance(value, list) else value


def stable(found):
    """Return samples with the same ids, times and versions in each run of the test."""
    text = json.dumps({key: shortened(found[key]) for key in sorted(found)}, indent=1, ensure_ascii=False)
    ids = {}
    text = ID.sub(lambda each: ids.setdefault(each[0], f"{each[1]}-7kd2m9q{IDS[len(ids) % len(IDS)]}"), text)
    text = re.sub(r"whsec_[\w-]{43}", "whsec_" + "x" * 43, text)
    text = re.sub(r"cursor=(?![a-z]-)[^&\"]+", "cursor=cD0x", text)
    text = UPLOAD.sub("/uploads/0123456789abcdef0123456789abcdef/", text)
    text = re.sub(r"(program_sha256\": \"|/program/)[0-9a-f]{64}", r"\g<1>" + "5e" * 32, text)
    text = re.sub(r'"token": "[^"]*"', '"token": "dc_..."', text)
    text = re.sub(r'"(reader_version|version|revision)": "[^"]*"', r'"\1": "0.1.0"', text)
    text = re.sub(r'"(id|device|event)": \d+', r'"\1": 1', text)
    text = re.sub(r"(/lab/devices/|\"devices\": \[\s+)\d+", r"\g<1>1", text)
    text = re.sub(r"dcj_[0-9a-f]{40}", "dcj_" + "5e" * 20, text)
    text = re.sub(r"ssh-ed25519 [\w+/=]{20,}", "ssh-ed25519 AAAA...", text)
    text = re.sub(r"own is \S+ on its machine", "own is /opt/drivecert/drivetest on its machine", text)
    text = re.sub(r'"new_program": "[0-9a-f]{64}"', '"new_program": "' + "5e" * 32 + '"', text)
    text = SHOWN_MOMENT.sub("29 November 2026, 12:00 UTC", text)
    return MOMENT.sub("2026-11-29T12:00:00Z", text) + "\n"


def submit(sampler, vera, name, content, **facts):
    files = {"log": SimpleUploadedFile(name, content)}
    body = sampler.send(vera, "POST", "/api/v1/submissions/", data=FACTS | {"slice_length_s": 10} | facts | files)
    sweep()
    return body["id"]


def sample_submissions(sampler, vera):
    """Return the ids of two submissions."""
    first = submit(sampler, vera, "act.log", log_bytes("slow-disk-ms"))
    second = submit(sampler, vera, "other.log", log_bytes("four-us"))
    sampler.send(vera, "GET", "/api/v1/submissions/")
    sampler.send(vera, "GET", "/api/v1/submissions/{public_id}/", {"public_id": first})
    until = {"embargo_until": EMBARGO_END.isoformat()}
    address, values = "/api/v1/submissions/{public_id}/embargo/", {"public_id": second}
    sampler.send(vera, "POST", address, values, data=until, content_type=JSON)
    return first, second


def sample_review(sampler, vera, rhea, rolf, first, second):
    """Review both: one is published, the other one declined."""
    address, values = "/api/v1/submissions/{public_id}/", {"public_id": first}
    sampler.send(rhea, "GET", "/api/v1/review/")
    asked = {"question": "Which slot was the drive in?"}
    sampler.send(rhea, "POST", f"{address}questions/", values, data=asked, content_type=JSON)
    sampler.send(vera, "POST", f"{address}answer/", values, data={"answer": "Slot 3."}, content_type=JSON)
    accepted = {"accepted_warnings": sampler.send(rhea, "GET", f"{address}review/", values)["warnings"]}
    sampler.send(rhea, "POST", f"{address}approval/", values, data=accepted, content_type=JSON)
    sampler.send(rhea, "DELETE", f"{address}approval/", values)
    for reviewer in (rhea, rolf):
        sampler.send(reviewer, "POST", f"{address}approval/", values, data=accepted, content_type=JSON)
    reason = {"reason": "The log is of another drive."}
    sampler.send(rhea, "POST", f"{address}decline/", {"public_id": second}, data=reason, content_type=JSON)


def sample_drafts(sampler, vera):
    """Upload a log, read its preview and submit it; delete another one."""
    address = "/api/v1/drafts/{public_id}/"
    content = log_bytes("slow-disk-ms").replace(b"ACT", b"\nACT", 1)
    announced = announce(vera, len(content)).headers
    append(vera, announced["Location"], 0, content)
    values = {"public_id": announced["Drivecert-Draft"]}
    uploads = {"uploads": [announced["Location"]]}
    sampler.send(vera, "POST", "/api/v1/drafts/", data=uploads, content_type=JSON)
    sampler.send(vera, "PATCH", address, values, data={"slice_length_s": 10}, content_type=JSON)
    sweep()
    sampler.send(vera, "GET", "/api/v1/drafts/")
    sampler.send(vera, "GET", address, values)
    sampler.send(vera, "POST", f"{address}submit/", values, data=FACTS, content_type=JSON)
    other = {"public_id": announce(vera, 10).headers["Drivecert-Draft"]}
    sampler.send(vera, "DELETE", address, other)
    log = SimpleUploadedFile("act.log", log_bytes("slow-disk-ms"))
    sampler.send(vera, "POST", "/api/v1/validate/", data={"log": log, "slice_length_s": 10})


def sample_products(sampler, rhea, product):
    """Change the facts of a product, and add a price."""
    address, values = "/api/v1/products/{slug}/", {"slug": product.slug}
    facts = {"form_factor": "U.2", "reason": "The brief states it."}
    headers = {"If-Match": f'"{sampler.send(rhea, "GET", address, values)["version"]}"'}
    sampler.send(rhea, "PATCH", f"{address}facts/", values, data=facts, content_type=JSON, headers=headers)
    price = {
        "amount": "899.00",
        "currency": "EUR",
        "stated_on": "2026-11-01",
        "source_url": "https://maker.example/prices",
    }
    sampler.send(rhea, "POST", f"{address}list-prices/", values, data=price, content_type=JSON)


def sample_lab(sampler, olga):
    """Read the lab; order and cancel a run; then the samples of its parts."""
    address, found = "/api/v1/lab/", [{"path": "/dev/nvme0n1", "kind": "nvme", "drive_key": "nvme:EX4:S1",
                                       "size_bytes": 3_200_631_791_616, "model": "EX4", "serial": "S1"}]  # fmt: skip
    report = HEALTH | {"drives": ["nvme:EX4:S1"], "found": found}
    host = ssh_host("lab-1", health=report, checked_at=timezone.now())
    drive = {"drive_key": "nvme:EX4:S1", "path": "/dev/nvme0n1", "size_bytes": 3_200_631_791_616}
    device = host.devices.create(label="slot 3", identity_kind="nvme", identity={"signature": None}, **drive)
    sampler.send(olga, "GET", f"{address}hosts/")
    sampler.send(olga, "GET", f"{address}hosts/{{name}}/", {"name": host.name})
    sampler.send(olga, "GET", f"{address}devices/")
    values = {"device_id": str(device.pk)}
    consent = sampler.send(olga, "GET", f"{address}devices/{{device_id}}/", values)["consent"]
    stated = {"device": device.pk, "typed_label": "slot 3", "shown_place": consent["shown_place"]}
    order = stated | {"nx_load": "30", "duration_s": 86_400}
    ordered = sampler.send(olga, "POST", f"{address}dispatches/", data=order, content_type=JSON)
    sampler.send(olga, "GET", f"{address}drives/", query="?q=EX4&state=queued")
    values = {"public_id": ordered["id"]}
    sampler.send(olga, "GET", f"{address}dispatches/", query="?state=queued&host=lab-1")
    sampler.send(olga, "GET", f"{address}dispatches/{{public_id}}/", values)
    reason = {"reason": "The wrong slot."}
    sampler.send(olga, "POST", f"{address}dispatches/{{public_id}}/cancel/", values, data=reason, content_type=JSON)
    ended = {"state": "failed", "started_at": timezone.now(), "ended_at": timezone.now(), "generation": 1}
    Dispatch.objects.update(**ended)
    sample_records(sampler, olga, device)
    sample_ended_run(sampler, olga, values, {name: stated[name] for name in ("typed_label", "shown_place")})
    sample_maintenance(sampler, olga)
    sample_hosts(sampler, olga, host)
    sample_templates(sampler, olga)
    sample_campaign(sampler, olga, stated)
    sample_selection(sampler, olga, host)
    sample_agent(sampler)


def sample_records(sampler, olga, device):
    """Read the leftover files of a run; record a step of it, a state and a preparation of its drive, and read both."""
    sampler.send(olga, "GET", "/api/v1/lab/hosts/{name}/leftovers/", {"name": device.host.name})
    run = Dispatch.objects.get()
    run.steps.create(from_state="claimed", to_state="preparing", actor="worker")
    drive_key = device.drive_key
    known = {"firmware": "1.2", "size_bytes": 3_200_631_791_616, "wear_pct": 3, "temperature_c": 41}
    run.drive_states.create(moment="before", drive_key=drive_key, **known)
    Preparation.objects.create(drive_key=drive_key, started_at=timezone.now(), finished_at=timezone.now())
    for name in ("states", "preparations"):
        sampler.send(olga, "GET", f"/api/v1/lab/devices/{{device_id}}/{name}/", {"device_id": str(device.pk)})


def sample_ended_run(sampler, olga, values, consent):
    """Archive the files of a run that failed, order it again, and declare that it has ended."""
    address = "/api/v1/lab/dispatches/{public_id}/"
    sampler.send(olga, "POST", f"{address}archive/", values, data={}, content_type=JSON)
    sampler.send(olga, "POST", f"{address}retry/", values, data=consent, content_type=JSON)
    lost = Dispatch.objects.filter(public_id=values["public_id"])
    lost.update(state="lost", ended_at=None)
    seen = {"reason": "The host was reinstalled."}
    sampler.send(olga, "POST", f"{address}ended/", values, data=seen, content_type=JSON)
    lost.update(state="failed")


def sample_hosts(sampler, olga, host):
    """Add, check and retire hosts and devices. No host answers: their reports are those that a check stored."""
    address = "/api/v1/lab/hosts/"
    added = sampler.send(olga, "POST", address, data={"kind": "agent", "name": "lab-3"}, content_type=JSON)
    values, address = {"name": added["name"]}, f"{address}{{name}}/"
    place = {"region": "us-east-1", "zone": "us-east-1a"}
    sampler.send(olga, "PATCH", address, values, data=place, content_type=JSON)
    for command in ("agent/program", "agent/code", "agent/revoke"):
        sampler.send(olga, "POST", f"{address}{command}/", values, data={}, content_type=JSON)
    reason = {"reason": "The machine was sold."}
    sampler.send(olga, "POST", f"{address}retire/", values, data=reason, content_type=JSON)
    sampler.send(olga, "POST", f"{address}restore/", values, data={}, content_type=JSON)
    with patch("runners.inventory.health.check", lambda _host: []):
        sampler.send(olga, "POST", f"{address}check/", {"name": host.name}, data={}, content_type=JSON)
    fake, drive = FakeHost(), ("/dev/nvme6n1", "nvme:EX4:S6")
    fake.add_drive(*drive, kind="nvme", model="EX4", serial="S6", firmware="1.2")
    with patch("webapp.lab.devices.commands.connect", lambda _host: fake):
        sample_devices(sampler, olga, {"name": host.name}, drive[0])


def sample_templates(sampler, olga):
    """Save, read, rename and remove a template."""
    address = "/api/v1/lab/templates/"
    fields = {"kind": "campaign", "name": "Half a day", "settings": {"load_s": 43_200, "stress_s": 43_200}}
    values = {"public_id": sampler.send(olga, "POST", address, data=fields, content_type=JSON)["id"]}
    sampler.send(olga, "GET", address)
    address = f"{address}{{public_id}}/"
    sampler.send(olga, "GET", address, values)
    sampler.send(olga, "PATCH", address, values, data={"name": "12 hours"}, content_type=JSON)
    sampler.send(olga, "DELETE", address, values)


def sample_devices(sampler, olga, host, path):
    """Identify and add a device of a host, change it, and retire it."""
    stated = {"path": path, "label": "slot 6"}
    found = sampler.send(olga, "POST", "/api/v1/lab/hosts/{name}/identify/", host, data=stated, content_type=JSON)
    stated |= {"host": host["name"], "drive_key": found["drive_key"]}
    address = "/api/v1/lab/devices/"
    added = sampler.send(olga, "POST", address, data=stated, content_type=JSON)
    address, values = f"{address}{{device_id}}/", {"device_id": str(added["id"])}
    sampler.send(olga, "PATCH", address, values, data={"label": "slot 6, front"}, content_type=JSON)
    sampler.send(olga, "POST", f"{address}refresh/", values, data={}, content_type=JSON)
    reason = {"reason": "The drive is worn out."}
    sampler.send(olga, "POST", f"{address}retire/", values, data=reason, content_type=JSON)
    sampler.send(olga, "POST", f"{address}restore/", values, data={}, content_type=JSON)


def sample_maintenance(sampler, olga):
    """Plan maintenance of a host, and end it."""
    address = "/api/v1/lab/maintenance/"
    window = {"host": "lab-1", "ends_at": "2099-01-01T10:00:00Z", "reason": "New firmware for all drives."}
    planned = sampler.send(olga, "POST", address, data=window, content_type=JSON)
    sampler.send(olga, "GET", "/api/v1/lab/calendar/")
    sampler.send(olga, "GET", address)
    values = {"window_id": str(planned["id"])}
    sampler.send(olga, "POST", f"{address}{{window_id}}/end/", values, data={}, content_type=JSON)


def sample_campaign(sampler, olga, stated):
    """Start a campaign, read it, change its terms, pause, resume and cancel it."""
    address = "/api/v1/lab/"
    started = sampler.send(olga, "POST", f"{address}campaigns/", data=stated, content_type=JSON)
    values = {"public_id": started["id"]}
    sampler.send(olga, "GET", f"{address}campaigns/")
    sampler.send(olga, "GET", f"{address}campaigns/{{public_id}}/", values)
    terms = {"max_nx": "400", "alone_on_host": True}
    sampler.send(olga, "POST", f"{address}campaigns/{{public_id}}/terms/", values, data=terms, content_type=JSON)
    for command in ("pause", "resume", "cancel"):
        sampler.send(olga, "POST", f"{address}campaigns/{{public_id}}/{command}/", values, data={}, content_type=JSON)


def sample_agent(sampler):
    """Join as the agent of a host, read an exchange, answer it, and fetch the program."""
    host, code = enrol_agent_host("lab-2", None)
    secret, program = "0f" * 32, own_program_sha256() or "5e" * 32
    stated = {"code": code, "secret_sha256": hash_token(secret), "program_sha256": program, "version": "0.1.0"}
    sampler.send(Client(), "POST", "/api/v1/agents/", data=stated, content_type=JSON)
    host.exchanges.create(payload=b'{"verb": "health"}\n', expires_at=timezone.now() + timedelta(minutes=1))
    agent, address = Client(headers={"Authorization": f"Bearer {secret}"}), "/api/v1/agents/exchanges/"
    listed = sampler.send(agent, "GET", address)
    values = {"public_id": listed["exchanges"][0]["id"]}
    answer = {"data": b'{"ok": {}, "bytes": 0}\n', "content_type": "application/octet-stream"}
    sampler.send(agent, "PUT", f"{address}{{public_id}}/", values, **answer)
    sampler.send(Client(), "GET", "/api/v1/agents/program/")
    sampler.send(Client(), "GET", "/api/v1/agents/program/{sha256}/", {"sha256": program})


def sample_waiting(sampler):
    """Wait for one resource of each kind, at the address of the site."""
    sampler.send(Client(), "GET", "/api/v1/live/agents/exchanges/", query="?wait=50")
    for kind, public_id in (("submissions", "s"), ("lab/dispatches", "d"), ("lab/campaigns", "c")):
        values = {"public_id": f"{public_id}-7kd2m9qp"}
        sampler.send(Client(), "GET", f"/api/v1/live/{kind}/{{public_id}}/", values, "?wait=60")


def sample_webhooks(sampler, owner):
    """Create, read, change and end a webhook; replay its messages."""
    address = "/api/v1/webhooks/"
    fields = {"url": "https://receiver.example/drivecert", "topics": ["submission.read", "run.published"]}
    values = {"public_id": sampler.send(owner, "POST", address, data=fields, content_type=JSON)["id"]}
    address = f"{address}{{public_id}}/"
    sampler.send(owner, "GET", "/api/v1/webhooks/")
    sampler.send(owner, "GET", address, values)
    sampler.send(owner, "PATCH", address, values, data={"topics": ["run.published"]}, content_type=JSON)
    sampler.send(owner, "POST", f"{address}trial/", values)
    Delivery.objects.update(state="dead", ended_at=timezone.now())
    delivery = Delivery.objects.get()
    delivery.attempts.create(status=503, duration_ms=21, response="busy")
    sampler.send(owner, "GET", f"{address}deliveries/", values, "?state=dead")
    names = values | {"delivery_id": delivery.public_id}
    sampler.send(owner, "POST", f"{address}deliveries/{{delivery_id}}/replay/", names)
    sampler.send(owner, "POST", f"{address}replay/", values)
    sampler.send(owner, "DELETE", address, values)


def sample_publishing(sampler, organisation, owner):
    """Exchange the identity token of a CI job."""
    with running_issuer() as issuer:
        columns = {"issuer": issuer.address, "audience": AUDIENCE, "claims": {"repository": "exemplar/firmware"}}
        trust(organisation, Actor(owner), name="firmware", **columns)
        stated = {"organisation": organisation.slug, "identity_token": issuer.token()}
        sampler.send(Client(), "POST", "/api/v1/trusted-publishing/", data=stated, content_type=JSON)


def sample_selection(sampler, olga, host):
    """Start a campaign on each of two drives."""
    drives = []
    for slot in (4, 5):
        drive = {"drive_key": f"nvme:EX4:S{slot}", "path": f"/dev/nvme{slot}n1", "size_bytes": 3_200_631_791_616}
        columns = {"identity_kind": "nvme", "identity": {"signature": None}} | drive
        device = host.devices.create(label=f"slot {slot}", **columns)
        place = f"{device.path} of {device.size_bytes} bytes"
        drives.append({"device": device.pk, "typed_label": device.label, "shown_place": place})
    listed = [drive["drive_key"] for drive in host.devices.values("drive_key")]
    type(host).objects.filter(pk=host.pk).update(health=host.health | {"drives": listed})
    order = {"drives": drives, "max_nx": "400"}
    sampler.send(olga, "POST", "/api/v1/lab/selection/campaigns/", data=order, content_type=JSON)


def sample_load(sampler, vera, product):
    """Read the points of a YCSB load."""
    ycsb = DATA / "ycsb" / "ycsb-0.17.0" / "basicdb-run-a-json.log"
    command = SimpleUploadedFile("ycsb.cmd", ycsb.with_suffix(".cmd").read_bytes())
    submission = submit(sampler, vera, "ycsb.log", ycsb.read_bytes(), companions=command)
    found = Run.objects.filter(submission__public_id=submission)
    found.update(product=product, visibility=Visibility.PUBLIC, predates_approvals=True)
    key = YcsbRun.objects.get(run__in=found).sweep_key[:LOAD_KEY_DIGITS]
    sampler.send(Client(), "GET", "/api/v1/ycsb/loads/{key}/", {"key": key})


def sample_objection(sampler, run, reviewer):
    """List an admitted objection."""
    admit(file_objection(run, make_user("oleg"), "The drive of the photo has another firmware.", None, []), reviewer)
    sampler.send(Client(), "GET", "/api/v1/objections/")


def sample_public(sampler, run, certificate):
    """Read what is public."""
    client = Client()
    for name, query in [
        ("products", ""), ("runs", ""), ("certificates", ""), ("certificates/latest", "?model=EX4&firmware=1.2"),
        ("figures", "?category=nvme-flash&min_device_tps=500k&columns=endurance_dwpd~tier"),
        ("landscape", "?category=nvme-flash&limit_1ms=5"), ("sizing", "?reads=1M&writes=250k"),
        ("claims", "?outcome=contradicted"), ("published-figures", "?publication=kioxia-fl6-brief"), ("news", ""),
    ]:  # fmt: skip
        sampler.send(client, "GET", f"/api/v1/{name}/", query=query)
    sampler.send(client, "GET", "/api/v1/runs/{public_id}/", {"public_id": run.public_id})
    window = "?from_s=0&to_s=60&every_s=60"
    sampler.send(client, "GET", "/api/v1/runs/{public_id}/intervals/", {"public_id": run.public_id}, window)
    sampler.send(client, "GET", "/api/v1/certificates/{public_id}/", {"public_id": certificate.public_id})
    claim = sampler.found["GET /api/v1/claims/"]["response"]["results"][0]["url"].strip("/").split("/")
    sampler.send(client, "GET", "/api/v1/claims/{publication}/{name}/", {"publication": claim[-2], "name": claim[-1]})
    fleet = "model,firmware,capacity,count\nEX4,1.2,3.2 TB,12\n"
    sampler.send(client, "POST", "/api/v1/check/", data=fleet, content_type="text/csv")


@pytest.fixture
def found(catalogue, evidence_dir, real_reader, settings, exemplar):
    """Return the samples of all operations."""
    settings.REVIEWS_NEEDED = 2
    import_figures()
    import_claims()
    sampler, lab = Sampler(), make_organisation("lab")
    vera = client_of(make_user("vera", exemplar), exemplar, ["submit", "read-own"])
    rhea, rolf = (client_of(make_user(name, lab, is_reviewer=True), lab, ["review"]) for name in ("rhea", "rolf"))
    first, second = sample_submissions(sampler, vera)
    product = Product.objects.create(slug="exemplar-ex4-3200gb", vendor="Exemplar", model="EX4", capacity_gb=3200,
                                     category="nvme-flash", endurance_dwpd=3)  # fmt: skip
    Submission.objects.filter(public_id__in=(first, second)).update(product=product)
    Run.objects.filter(submission__public_id__in=(first, second)).update(product=product)
    sample_review(sampler, vera, rhea, rolf, first, second)
    run = Run.objects.get(submission__public_id=first)
    certificate = Certificate.objects.create(
        product=product,
        profile=Profile.current(),
        device_count=1,
        nx_load=30,
        exact_nx="30",
        firmware="1.2",
        document={},
    )
    certificate.runs.add(run)
    sample_drafts(sampler, vera)
    sample_webhooks(sampler, vera)
    sample_products(sampler, rhea, product)
    sample_load(sampler, vera, product)
    sample_objection(sampler, run, make_user("ruth", lab, is_reviewer=True))
    sample_public(sampler, run, certificate)
    bench = make_organisation("bench")
    Organisation.objects.filter(pk=bench.pk).update(kind="lab")
    bench.refresh_from_db()
    operator = make_user("olga", bench, is_operator=True)
    sample_lab(sampler, client_of(operator, bench, ["order"]))
    settings.LIVE_URL = "https://live.register.example"
    sample_waiting(sampler)
    settings.OUTBOUND_ALLOWED_NETWORKS = [ip_network("127.0.0.1")]
    sample_publishing(sampler, exemplar, make_user("olive", exemplar))
    return stable(sampler.found)


def test_each_request_of_the_schema_has_a_sample():
    assert {f"{each['method']} {each['path']}" for each in operations()} == samples().keys()


def with_nulls(schema):
    """Return a schema of OpenAPI 3.0 as JSON Schema, which has no `nullable`."""
    if isinstance(schema, list):
        return [with_nulls(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: with_nulls(each) for name, each in schema.items()}
    return {"anyOf": [found, {"type": "null"}]} if found.pop("nullable", False) is True else found


def test_each_sample_is_as_the_schema_describes_it(client):
    schema = with_nulls(client.get("/api/v1/schema/").json())
    wrong = []
    for operation, sample in samples().items():
        method, path = operation.split()
        response = schema["paths"][path][method.lower()]["responses"][str(sample["status"])]
        for kind, content in response.get("content", {}).items():
            if kind == "application/octet-stream":
                continue  # a file is no sample
            validator = Draft4Validator(content["schema"] | {"components": schema["components"]})
            errors = validator.iter_errors(sample["response"])
            wrong += [f"{operation} {each.json_path}: {each.message}" for each in errors]
    assert wrong == []


@pytest.mark.long
def test_the_samples_are_those_of_the_present_api(found):
    if os.environ.get("WRITE_SAMPLES"):
        SAMPLES.write_text(found)
    assert found == SAMPLES.read_text(), "run WRITE_SAMPLES=1 pytest tests/webapp/api/test_samples.py"


def test_the_page_shows_them(client):
    page = client.get("/api/v1/docs/").text
    assert page.count("<summary>Sample response</summary>") == len(operations())
    assert "EX4" in page
