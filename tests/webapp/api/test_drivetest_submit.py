"""`drivetest submit` against a web server: verdicts, broken connections, the spool, and refusals."""

import json
import os
import subprocess

import pytest
from django.conf import settings as project

from results.ingest.queue import sweep
from results.models import Draft, Organisation, Submission
from tests.cutting_proxy import CuttingProxy, RefusingProxy
from tests.register import free_port
from tests.results.builders import log_bytes, make_organisation, make_user, wait_for
from tests.results.stored_files import use_directory
from tests.web_server import web_server
from tests.webapp.accounts.publishers.issuer import AUDIENCE, running_issuer
from webapp.accounts.audit.trail import Actor
from webapp.accounts.models import APIToken, TrustedPublisher, User
from webapp.accounts.publishers.rules import trust
from webapp.accounts.tokens.rules import issue_token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
PROGRAM = project.DRIVETEST  # a fixture may replace the one that reads
FACTS = ("--category=nvme-flash", "--vendor=Exemplar", "--model=EX4")
PASSED, FAILED, REFUSED, SPOOLED, USAGE = 0, 1, 3, 4, 64


class Lab:
    """A folder with a log, a token, and a spool."""

    def __init__(self, folder, secret):
        self.folder, self.secret, self.spool = folder, secret, folder / "spool"
        self.log = folder / "load.log"
        self.log.write_bytes(log_bytes("slow-disk-ms"))

    def submit(self, port, *arguments, **variables):
        """Run the command while the register reads logs; return its exit status and its reports."""
        command = [PROGRAM, "submit", *arguments, "--json", "--register", f"http://127.0.0.1:{port}"]
        command += ["--spool-dir", self.spool]
        environment = os.environ | {"DRIVECERT_TOKEN": self.secret} | variables
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
            wait_for(lambda: [sweep(), process.poll()][1] is not None)
            output, self.errors = process.communicate()
        return process.returncode, [json.loads(line) for line in output.splitlines()]

    def entries(self):
        return [each for each in self.spool.glob("*") if each.name != "refused"]


def new_lab(tmp_path, settings):
    organisation = make_organisation()
    _, secret = issue_token(make_user("vera", organisation), organisation, "lab")
    use_directory(settings, tmp_path / "var" / "evidence")
    return Lab(tmp_path, secret)


@pytest.fixture
def lab(tmp_path, settings, stand_in):
    """Return a lab whose register knows the recorded logs."""
    return new_lab(tmp_path, settings)


@pytest.fixture
def reading_lab(tmp_path, settings, real_reader):
    """Return a lab whose register reads any log."""
    return new_lab(tmp_path, settings)


@pytest.fixture
def server(tmp_path, transactional_db):
    with web_server(tmp_path) as server:
        yield server


def test_the_exit_status_is_the_verdict_and_the_same_log_is_one_submission(lab, server):
    side = lab.folder / "load.err"
    side.write_bytes(b"warning\n")
    status, (report,) = lab.submit(server.port, lab.log, "--with", side, "--slice-sec=10", *FACTS)
    assert (status, report["outcome"], report["notes"]) == (FAILED, "failed", []), lab.errors
    submission = Submission.objects.get()
    assert (report["submission"], submission.model) == (submission.public_id, "EX4")
    assert (submission.slice_length_s, submission.companions.get().filename) == (10, "load.err")
    status, (again,) = lab.submit(server.port, lab.log, "--with", side, "--slice-sec=10", *FACTS)
    assert (status, again["submission"]) == (FAILED, submission.public_id)
    assert again["notes"]
    assert Submission.objects.count() == 1


def test_an_upload_continues_after_broken_connections(reading_lab, server):
    lab = reading_lab
    content = log_bytes("slow-disk-ms")
    lab.log.write_bytes(content + b"\n" * (20 * 1024 * 1024))
    with CuttingProxy(server.port, 6 * 1024 * 1024) as proxy:
        status, (report,) = lab.submit(proxy.port, lab.log, *FACTS)
        assert proxy.cuts_count >= 3
    assert report["submission"] == Submission.objects.get().public_id, lab.errors
    assert status != SPOOLED
    assert Submission.objects.get().log.size_bytes == lab.log.stat().st_size
    assert Draft.objects.count() == 1


def test_a_submission_waits_in_the_spool_while_the_register_is_down_and_is_sent_once(lab, tmp_path):
    port = free_port()
    for _ in range(2):
        status, (report,) = lab.submit(port, lab.log, "--retry-sec=0", *FACTS)
        assert (status, report["outcome"]) == (SPOOLED, "spooled"), lab.errors
    assert len([each for each in lab.entries() if not each.name.startswith(".")]) == 1
    lab.log.unlink()
    with web_server(tmp_path) as server:
        entry = next(each for each in lab.entries() if not each.name.startswith("."))
        document = entry / "submission.json"
        document.write_text(document.read_text().replace(f":{port}", f":{server.port}"))
        status, (report,) = lab.submit(server.port, "--spool")
        assert (status, report["log"]) == (FAILED, "load.log"), lab.errors
        assert lab.submit(server.port, "--spool") == (PASSED, [])
    assert [each.name for each in lab.entries()] == [".lock"]
    assert Submission.objects.get().model == "EX4"


def test_a_busy_register_is_requested_again_after_retry_after(lab, server):
    busy = b"HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with RefusingProxy(server.port, busy) as proxy:
        status, (report,) = lab.submit(proxy.port, lab.log, *FACTS)
    assert (status, report["outcome"]) == (FAILED, "failed"), lab.errors
    assert "next attempt in 1 s" in lab.errors


def test_a_log_whose_bytes_are_refused_leaves_no_draft(lab, server):
    too_large = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with RefusingProxy(server.port, too_large, b"PATCH") as proxy:
        status, (report,) = lab.submit(proxy.port, lab.log, *FACTS)
    assert (status, report["outcome"]) == (REFUSED, "refused"), lab.errors
    assert "413" in report["problem"]
    assert not Draft.objects.exists()


def test_a_log_whose_number_of_bytes_is_not_told_leaves_no_draft(lab, server):
    conflict = b"HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    forbidden = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with (
        RefusingProxy(server.port, conflict, b"PATCH") as inner,
        RefusingProxy(inner.port, forbidden, b"HEAD") as outer,
    ):
        status, (report,) = lab.submit(outer.port, lab.log, *FACTS)
    assert (status, report["outcome"], "403" in report["problem"]) == (REFUSED, "refused", True), lab.errors
    assert not Draft.objects.exists()


def test_a_wrong_token_is_refused_and_leaves_the_spool_as_it_is(lab, server):
    status, (report,) = lab.submit(server.port, lab.log, *FACTS, DRIVECERT_TOKEN="dc_wrong")
    assert (status, report["outcome"]) == (REFUSED, "refused")
    assert "401" in report["problem"]
    assert not lab.entries()


def test_a_log_that_cannot_be_read_is_not_sent(lab):
    lab.log.write_text("no log\n")
    status, (report,) = lab.submit(free_port(), lab.log, *FACTS)
    assert (status, report["outcome"]) == (REFUSED, "refused")
    assert "was not sent" in report["problem"]


def test_a_missing_fact_is_named_by_its_option_and_leaves_no_draft(lab, server):
    status, (report,) = lab.submit(server.port, lab.log, "--vendor=Exemplar", "--model=EX4")
    assert (status, "--category: " in report["problem"]) == (REFUSED, True)
    assert not Draft.objects.exists()


def test_a_file_with_a_token_that_others_can_read_is_refused(lab):
    token = lab.folder / "token"
    token.write_text(lab.secret)
    token.chmod(0o644)
    status, _ = lab.submit(free_port(), lab.log, "--token-file", token)
    assert (status, "chmod 600" in lab.errors) == (USAGE, True)


@pytest.fixture
def ci_job(lab, server_for_jobs):
    """Return the issuer of identity tokens of a CI service that the organisation of the lab trusts."""
    organisation = Organisation.objects.get()
    with running_issuer() as issuer:
        columns = {"issuer": issuer.address, "audience": AUDIENCE, "claims": {"repository": "exemplar/firmware"}}
        trust(organisation, Actor(User.objects.get()), name="firmware", **columns)
        yield issuer


@pytest.fixture
def server_for_jobs(tmp_path, transactional_db):
    """Return a web server that may read the keys of the issuer."""
    with web_server(tmp_path, OUTBOUND_ALLOWED_NETWORKS="127.0.0.1") as server:
        yield server


def test_a_job_submits_for_its_identity_token_without_another_secret(lab, server_for_jobs, ci_job):
    lab.secret = ""
    arguments = (server_for_jobs.port, lab.log, "--organisation", "exemplar", *FACTS)
    status, (report,) = lab.submit(*arguments, DRIVECERT_IDENTITY_TOKEN=ci_job.token())
    assert (status, report["outcome"]) == (FAILED, "failed"), lab.errors
    assert APIToken.objects.get(kind="publisher").scopes == ["submit", "read-own"]
    assert lab.submit(*arguments, DRIVECERT_IDENTITY_TOKEN=ci_job.token(repository="x")) == (REFUSED, [])
    assert "repository=x" in lab.errors
    assert lab.submit(*arguments) == (REFUSED, [])
    assert "id-token: write" in lab.errors


def test_a_job_of_github_actions_requests_its_identity_token_for_the_register(lab, server_for_jobs, ci_job):
    register = f"http://127.0.0.1:{server_for_jobs.port}"
    TrustedPublisher.objects.update(audience=register)
    ci_job.documents[f"/token?job=1&audience={register}"] = {"value": ci_job.token(aud=register)}
    service = {"ACTIONS_ID_TOKEN_REQUEST_URL": f"{ci_job.address}/token?job=1", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "x"}
    arguments = (server_for_jobs.port, lab.log, "--organisation", "exemplar", *FACTS)
    status, (report,) = lab.submit(*arguments, **service)
    assert (status, report["outcome"]) == (FAILED, "failed"), lab.errors
