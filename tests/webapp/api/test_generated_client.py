"""The generated Python client against running servers: submit and wait, order and watch."""

import io
import subprocess
import sys
from importlib import import_module
from types import SimpleNamespace

import pytest

from results.ingest.queue import sweep
from results.models import Submission
from runners.models import Dispatch
from tests.register import ROOT
from tests.results.builders import log_bytes, make_user
from tests.results.stored_files import use_directory
from tests.runners.fake_host import FakeHost
from tests.runners.lab import a_lab, connect, device, separate_evidence
from tests.web_server import web_server
from webapp.accounts.tokens.rules import issue_token

__all__ = ["a_lab", "connect", "device", "separate_evidence"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
SCOPES = ("submit", "read-own", "order")


@pytest.fixture
def fake():
    host = FakeHost()
    host.add_drive(drive_key="file:lab1:8:5")
    return host


@pytest.fixture(scope="session")
def package(tmp_path_factory):
    """Return the modules of the client by name, as `make client` generates it."""
    folder = tmp_path_factory.mktemp("client") / "client"
    command = ["make", "--no-print-directory", "client", f"CLIENT={folder}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    yield lambda name: import_module(f"drivecert_client.{name}")
    sys.path.remove(str(folder))


@pytest.fixture
def served(tmp_path, package, a_lab, transactional_db):
    """Return the client for a web server, and for the process of waiting clients; the lab has a token."""
    olga = make_user("olga", is_operator=True)
    olga.memberships.create(organisation=a_lab, role="owner")
    _, secret = issue_token(olga, a_lab, "script", SCOPES)

    def client_of(server):
        return package("client").AuthenticatedClient(
            f"http://127.0.0.1:{server.port}", secret, raise_on_unexpected_status=True
        )

    (tmp_path / "live").mkdir()
    with (
        web_server(tmp_path) as site,
        web_server(tmp_path / "live", "webapp.asgi:application", interface="asgi") as live,
        client_of(site) as own,
        client_of(live) as waiting,
    ):
        yield SimpleNamespace(site=own, live=waiting)


def test_a_log_is_submitted_and_its_verdict_awaited(served, package, settings, tmp_path, stand_in):
    use_directory(settings, tmp_path / "var" / "evidence")
    log = package("types").File(io.BytesIO(log_bytes("slow-disk-ms")), "load.log", "text/plain")
    facts = {"vendor": "Exemplar", "model": "EX4", "category": package("models").CategoryEnum.NVME_FLASH}
    body = package("models").UploadRequest(log=log, **facts)
    submitted = package("api.submissions.submissions_create").sync(client=served.site, body=body)
    assert submitted.id == Submission.objects.get().public_id
    wait = package("api.live.live_submissions_retrieve")
    first = wait.sync_detailed(submitted.id, client=served.live)
    assert sweep()
    second = wait.sync_detailed(submitted.id, client=served.live, wait=60, if_none_match=first.headers["ETag"])
    assert (second.parsed.state, second.parsed.runs[0].verdict.outcome) == ("awaiting-identity", "fail")


def test_a_run_is_ordered_and_watched(served, package, device):
    order = package("models").LabOrderRequest.from_dict({"device": device.pk, "nx_load": "0.5", "duration_s": 60})
    create = package("api.lab.lab_dispatches_create")
    ordered = create.sync(client=served.site, body=order, idempotency_key="one")
    assert create.sync(client=served.site, body=order, idempotency_key="one").id == ordered.id
    watch = package("api.live.live_lab_dispatches_retrieve")
    first = watch.sync_detailed(ordered.id, client=served.live)
    Dispatch.objects.update(state="cancelled", reason="the drive is needed elsewhere")
    second = watch.sync_detailed(ordered.id, client=served.live, wait=60, if_none_match=first.headers["ETag"])
    assert (second.parsed.state, second.parsed.reason) == ("cancelled", "the drive is needed elsewhere")


def test_a_refusal_has_its_code_and_the_fields(served, package):
    order = package("models").LabOrderRequest.from_dict({"device": 0})
    refusal = package("api.lab.lab_dispatches_create").sync(client=served.site, body=order)
    assert (refusal.status, refusal.errors[0].field) == (400, "device")
