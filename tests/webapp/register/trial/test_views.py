"""`/try/` as a visitor without an account uses it."""

import gzip
import io
import logging
import re
import tarfile
from dataclasses import dataclass

import pytest
from django.apps import apps
from django.conf import settings
from django.test import Client
from django.utils.html import escape

from results.demonstration.examples import MAIN, stored_files
from results.ingest.ycsb import decimal_of
from results.models import Evidence, Profile
from tests.results.builders import DATA, log_bytes, make_user, sha256
from tests.results.stored_files import files_below
from webapp.register.http.responses import is_public_page
from webapp.register.trial.refusals import QUOTED_CHARS, SAMPLE_HEADER, UNREADABLE
from webapp.register.trial.views import try_log

pytestmark = pytest.mark.django_db


def text_of(response):
    """Return the text of the page without marks, with single spaces."""
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def rows_count():
    models = [model for app in ("results", "runners", "accounts") for model in apps.get_app_config(app).get_models()]
    return {model.__name__: model.objects.count() for model in models}


def test_the_form_is_a_public_page_the_same_for_everyone(client):
    response = client.get("/try/")
    assert response.status_code == 200
    assert is_public_page(try_log)
    assert response["Cache-Control"] == "public, max-age=60"
    assert response["ETag"]
    assert "csrf" not in response.text
    assert "Set-Cookie" not in response
    assert client.get("/try/", {"log": "x"}).status_code == 400
    assert client.put("/try/").status_code == 405


@pytest.mark.parametrize("path", ["/", "/explain/submit/", "/accounts/login/?next=/submit/"])
def test_pages_for_submitters_link_to_it(client, path, catalogue):
    assert client.get(path).text.count('href="/try/"') >= 2  # of the page and of the footer


def test_a_log_is_judged_without_an_account_and_without_a_token(real_reader, send, temporary):
    response = send(log_bytes("slow-disk-ms"))
    page = text_of(response)
    assert response.status_code == 200
    assert "Fails in slices of 10 seconds: slice 2 (10-20" in page
    assert "also over 1 ms and 8 ms" in page.replace("\N{NO-BREAK SPACE}", " ")
    assert "1 of 4 slices is within every limit." in page
    assert "In slices of 1 hour, it may not fail; a pass needs 24 hours." in page
    assert "No side file came with this log." in page
    assert "device-virtual" in page
    assert "no load test with one device passes (run 1: fail)" in page
    assert 'href="/submit/"' in response.text
    assert response["Cache-Control"] == "no-store"
    assert response["X-Robots-Tag"] == "noindex"
    assert list(temporary.iterdir()) == []


def test_a_log_shorter_than_a_slice_is_undecided_and_short_slices_that_exceed_a_limit_are_a_note(real_reader, send):
    page = text_of(send(log_bytes("slow-disk-ms"), slice_length_s="")).replace("\N{NO-BREAK SPACE}", " ")
    verdict = page[page.index("Verdict") :]
    assert verdict.startswith("Verdict Undecided : the log has no complete slice;")
    assert "In slices of 4 seconds, which are not those of the profile, a limit is exceeded: slice" in verdict
    assert "slices of 1 hour" in verdict
    assert "(run 1: undecided)" in page


def test_a_fail_in_slices_that_the_sender_chose_names_their_length(real_reader, send):
    assert "Fails in slices of 10 seconds: slice 2" in text_of(send(log_bytes("slow-disk-ms")))


def test_a_client_that_enforces_tokens_and_a_session_change_nothing(real_reader, send, client):
    anonymous = send(log_bytes("slow-disk-ms")).content
    client.force_login(make_user("mia"))
    client.handler.enforce_csrf_checks = True
    assert send(log_bytes("slow-disk-ms")).content == anonymous


def test_no_row_and_no_name_is_stored_or_logged(real_reader, send, temporary, evidence_dir, caplog):
    caplog.set_level(logging.DEBUG)
    before = rows_count()
    assert send(log_bytes("four-us"), companions=[("secret-name.conf", b"x")]).status_code == 200
    assert send(b"no log").status_code == 422
    assert rows_count() == before
    assert files_below(evidence_dir) == []
    assert list(temporary.iterdir()) == []
    assert "secret-name" not in caplog.text


def test_the_page_has_the_shares_and_slices_of_the_reader(real_reader, send):
    response = send(log_bytes("slow-disk-ms"))
    shares = re.findall(r'<td class="n share">(?:<span class="over">)?([\d.&lt;]+)', response.text)
    assert shares == ["1.35", "0.02", "0.00", "1.18", "0.65", "0.33", "3.82", "0.78", "0.17", "5.83", "1.33", "0.00"]
    assert response.text.count('<svg class="slice-bars"') == 3
    assert "The largest share over 64\N{NO-BREAK SPACE}ms is 0.33 %, slice 2, 10-20" in response.text
    assert "2 bars are over it." in response.text
    assert "plotly" not in response.text.lower()
    assert "style=" not in response.text


def test_a_short_log_is_undecided_and_says_what_to_do(real_reader, send):
    response = send(log_bytes("four-us"), slice_length_s="3600")
    page = text_of(response)
    assert "Undecided : the test is too short (1 minute of 24 hours)." in page
    assert "a verdict needs" not in page[: page.index("Findings")]
    assert "No verdict" not in page
    assert "so it has no worst slice. Send the log again with a slice length of 6&nbsp;s" in page
    assert 'name="slice_length_s" type="number" min="1" max="86400" value="6"' in response.text


SO_FAR = (
    "Undecided : the test is too short (20 minutes of 24 hours). "
    "So far {} of 10 slices of 2 minutes are within all limits{}."
)


def test_the_example_log_is_read_without_an_upload(real_reader, client):
    response = client.post("/try/", {"example": "1"})
    page = text_of(response)
    assert response.status_code == 200
    assert SO_FAR.format(10, "") in page
    assert "No side file came with this log." not in page


def test_a_short_test_has_one_form_and_its_verdict_is_above_the_notes_on_slices(real_reader, send):
    page = text_of(send(stored_files(MAIN)["demo-loop.log"], slice_length_s=""))
    verdict = SO_FAR.format(9, ", 1 is unclear")
    assert verdict in page
    assert page.index(verdict) < page.index("The profile requires slices of 1 hour, and the log is shorter.")


def test_the_example_names_the_length_of_its_slices_once_before_the_findings(real_reader, client, make_log_run):
    run = make_log_run(public_id="demo-loop", is_demo=True, is_virtual=True, product=None)
    log = stored_files(MAIN)["demo-loop.log"]
    Evidence.objects.filter(pk=run.reading.evidence_id).update(sha256=sha256(log))
    run.verdicts.update(outcome="undecided")
    page = text_of(client.post("/try/", {"example": "1"}))
    top = page[page.index("Result of your log Not stored.") : page.index("Slow reads, slice by slice")]
    assert top.count("slices of 2 minutes") == 1
    assert top.count("slices of 1 hour") == 1
    assert "The register shows this log as run demo-loop , with the same verdict." in top


def test_a_pasted_log_is_read_like_a_file(real_reader, send):
    pasted = send(None, text=log_bytes("slow-disk-ms").decode().replace("\n", "\r\n"))
    assert "1 of 4 slices is within every limit." in text_of(pasted)
    assert text_of(pasted) == text_of(send(log_bytes("slow-disk-ms"), text="no log"))


def test_an_empty_text_is_no_log(send):
    assert "No log was sent." in send(None, text=" ").text


def test_the_form_and_a_refusal_lead_to_the_log_of_the_example(real_reader, send, client, monkeypatch):
    assert "No log at hand?" not in client.get("/try/").text
    monkeypatch.setattr("webapp.register.trial.views.example_log_address", lambda: "/runs/demo-loop/log")
    link = '<a href="/runs/demo-loop/log">Download the log of the example run</a>'
    assert f"No log at hand? {link}" in client.get("/try/").text
    assert send(b"no log").text.count(link) == 2


def test_each_run_of_a_log_has_a_part(real_reader, send):
    response = send(log_bytes("two-runs-appended"))
    assert "The file has 2 runs: " in text_of(response)
    for number in (1, 2):
        assert f'<section id="run-{number}" aria-label="Run {number}">' in response.text
    assert "(run 1: undecided; run 2: void)" in response.text


def test_the_certificate_section_names_the_runs_that_it_considers(real_reader, send, monkeypatch):
    assert "This section considers" not in text_of(send(log_bytes("two-runs-appended")))
    monkeypatch.setattr("webapp.register.trial.page.SHOWN_RUNS", 1)
    assert "This section considers the first 1 of 2 runs. Send each run separately" in text_of(
        send(log_bytes("two-runs-appended"))
    )


def test_an_archive_has_its_files_and_the_name_of_each_run(real_reader, send):
    response = send(archive("four-us", "slow-disk-ms"))
    page = text_of(response)
    assert "Files in the archive" in page
    assert "Run 1 four-us.log" in page
    assert "Run 2 slow-disk-ms.log" in page


def archive(*cases):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        for case in cases:
            tar.add(DATA / "act/6.6" / f"{case}.log", f"{case}.log")
    return content.getvalue()


def test_a_run_of_ycsb_has_its_operations_and_no_verdict(real_reader, send):
    folder = DATA / "ycsb/ycsb-0.12.0"
    companions = [(f"run.{kind}", (folder / f"basicdb-run-a.{kind}").read_bytes()) for kind in ("stderr", "cmd")]
    page = text_of(send((folder / "basicdb-run-a.log").read_bytes(), companions))
    assert "run phase of workload" in page
    assert "READ" in page
    assert "never certifies a drive, because it goes through a database" in page
    alone = text_of(send((folder / "basicdb-run-a.log").read_bytes()))
    assert "the command line of YCSB is missing" in alone
    assert "the command line of YCSB is missing" not in page


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "empty"),
        (b"hello\n", "not-an-act-log"),
        (b"<html>" * 1000, "not-an-act-log"),
        (b"\0" * 100, "binary"),
    ],
)
def test_a_file_that_is_no_log_is_refused_with_a_remedy(real_reader, send, content, problem):
    response = send(content)
    assert response.status_code == 422
    assert f'<p class="id">{problem}' in response.text
    page = text_of(response)
    assert "The register stored nothing." in page
    assert "Expected: " in page
    assert "What to do: " in page
    assert '<input id="log"' in response.text


def test_text_of_a_log_is_escaped(real_reader, send):
    page = send(b"<script>alert(1)</script>\n").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


@dataclass(frozen=True)
class Stopped:
    """A reader, the setting whose limit it meets, and the response."""

    program: str
    setting: tuple[str, int]
    status: int
    problem: str
    remedy: str


@pytest.mark.parametrize(
    "case",
    [
        Stopped("while :; do :; done", ("TRIAL_CPU_S", 1), 422, "processor-limit", "Send each run separately."),
        Stopped("exec sleep 600", ("READ_TIMEOUT_S", 1), 503, "reader-failed", "Try again in 1 minute."),
        Stopped("exit 7", ("TRIAL_CPU_S", 20), 503, "reader-failed", "drivetest check LOG"),
        Stopped(
            "exec head -c 100001 /dev/zero", ("READ_OUTPUT_BYTES", 100_000), 422, "reading-too-large", "longer slice"
        ),
    ],
    ids=lambda case: case.program,
)
def test_a_reader_that_meets_a_limit_gives_an_answer_and_leaves_nothing(program, send, settings, temporary, case):
    setattr(settings, *case.setting)
    program(case.program)
    response = send()
    assert (response.status_code, f'<p class="id">{case.problem}' in response.text) == (case.status, True)
    assert "This is not a verdict on your log." in text_of(response)
    assert case.remedy in text_of(response)
    assert ("Retry-After" in response) is (case.status == 503)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("reader", "line"),
    [
        ("echo secret-output >&2; exit 7", "A reading of /try/ failed: ReaderBrokenError, exit status 7"),
        ("echo secret-output", "A reading of /try/ failed: ReaderBrokenError, exit status None"),
        ("exec sleep 600", "A reading of /try/ failed: ReaderKilledError, stopped after 1 s"),
    ],
)
def test_the_cause_of_a_failed_reader_is_logged_without_its_output(program, send, settings, caplog, reader, line):
    settings.READ_TIMEOUT_S = 1
    program(reader)
    assert send(companions=[("secret-name.conf", b"x")]).status_code == 503
    assert [each.getMessage() for each in caplog.records if "trial" in each.name] == [line]
    assert "secret" not in "".join(each.getMessage() for each in caplog.records)


def test_a_number_that_no_column_holds_is_refused(stand_in, send, monkeypatch):
    monkeypatch.setattr("webapp.register.trial.views.trial_page", lambda *_documents: decimal_of("1e400"))
    response = send(log_bytes("four-us"))
    assert response.status_code == 422
    assert "value-out-of-range" in response.text


def test_the_verdict_is_that_of_the_current_profile(real_reader, send):
    assert f"under profile {Profile.current()}" in text_of(send(log_bytes("four-us")))


@pytest.mark.parametrize(("slice_length_s", "is_linked"), [("10", True), ("3600", False)])
def test_the_result_names_the_slices_and_leads_to_others(real_reader, send, slice_length_s, is_linked):
    response = send(log_bytes("four-us"), slice_length_s=slice_length_s)
    slices = "slices of 10 seconds. The profile requires slices of 1 hour." if is_linked else "slices of 1 hour."
    assert f"Judged under profile {Profile.current()}, in {slices}" in text_of(response)
    assert ('<a href="#slice-length">Read the log in other slices</a>' in response.text) is is_linked


def test_the_address_is_in_the_sitemap(client):
    assert "/try/</loc>" in client.get("/sitemap.xml").text


def test_a_post_without_a_csrf_token_is_accepted(real_reader):
    client = Client(enforce_csrf_checks=True)
    assert client.post("/try/", {}).status_code == 400  # no file, and not 403


def test_a_refusal_says_what_is_wrong_where_what_was_expected_and_found_and_what_to_do(real_reader, send):
    page = text_of(send(b"hello\nworld\n"))
    assert "The file is not a log of ACT, drivetest or YCSB. Reading stopped at line " in page
    assert "Expected: a line that begins with" in page
    assert "Found: " in page
    assert "What to do: Upload the unmodified log file" in page


@pytest.mark.parametrize(
    "content",
    [
        b"\n=> ACT version 6.4\nAfter 1 sec:\n",
        b"=> ACT version 6.4\nhello\n",
        b"After 1 sec:\r\n",
        b"\xef\xbb\xbfno log",
    ],
)
def test_a_log_without_its_header_is_quoted_and_compared_with_a_complete_header(real_reader, send, content):
    response = send(content)
    lines = [(number, line) for number, line in enumerate(content.split(b"\n"), 1) if line]
    number, line = lines[0][0], lines[0][1].decode("utf-8-sig").rstrip()
    assert response.status_code == 422
    assert f"Line {number} of your log: <code><bdi>{escape(line)}</bdi></code>" in response.text
    assert f'<pre class="sample" tabindex="0">{escape(SAMPLE_HEADER)}</pre>' in response.text


def test_a_quoted_line_is_short_and_escaped(real_reader, send):
    quoted = send(b"<b>" + b"x" * 1000 + b"\n").text
    assert f"<code><bdi>&lt;b&gt;{'x' * (QUOTED_CHARS - 3)}…</bdi></code>" in quoted


@pytest.mark.parametrize("content", [gzip.compress(b"=> ACT version 6.4\n", mtime=0), b"\0" * 100, b""])
def test_what_is_no_plain_text_is_not_quoted(real_reader, send, content):
    text = send(content).text
    assert "of your log: <code>" not in text
    assert "not read" in text


def test_the_header_of_the_example_is_one_that_the_reader_accepts(real_reader, send):
    log = f"{SAMPLE_HEADER}\n\nafter 1 sec:\nreads (10 total)\n (00: 0000000010)\n"
    response = send(log.encode())
    assert response.status_code == 200
    assert "2,000 reads/s and 1,000 writes/s" in text_of(response)
    assert len(SAMPLE_HEADER.splitlines()) == 6


def test_every_error_of_the_reader_has_a_sentence():
    errors = (settings.BASE_DIR / "docs/reference/findings.md").read_text().split("## Errors")[1]
    assert set(UNREADABLE) == {*re.findall(r"^\| `([a-z-]+)`", errors, re.MULTILINE), "value-out-of-range"}


def test_a_short_log_without_a_chosen_slice_length_is_read_in_slices_that_fit(real_reader, send):
    response = send(log_bytes("four-us"), slice_length_s="")
    page = text_of(response).replace("\N{NO-BREAK SPACE}", " ")
    basis = f"Judged under profile {Profile.current()}. The profile requires slices of 1 hour, and the log is shorter."
    assert f"{basis} Each slice on this page is about a tenth of the log, and does not change the verdict." in page
    assert "drivetest check LOG gives the same verdict, and with --slice-sec 6 the same slices" in page
    assert '<table class="narrow slices">' in response.text
    assert response.text.count('<svg class="slice-bars"') == 3
    assert 'name="slice_length_s" type="number" min="1" max="86400" value=""' in response.text


def test_a_chosen_slice_length_is_kept(real_reader, send):
    page = text_of(send(log_bytes("four-us"), slice_length_s="3600"))
    assert "Each slice on this page" not in page
    assert "so it has no worst slice" in page


def test_the_worst_slice_has_the_largest_upper_end_of_all_slices(real_reader, send):
    page = text_of(send((DATA / "act/6.6/single-us.log").read_bytes())).replace("\N{NO-BREAK SPACE}", " ")
    assert "worst slice , over 1 ms 0.00 to 0.01 %, limit 5, slice 5 the log counts" in page
    assert "worst slice, over 8 ms 0.00 %, limit 1, in every slice the log counts" in page


def test_the_speed_of_a_program_that_could_not_keep_up_was_only_requested(real_reader, send):
    page = text_of(send((DATA / "act/6.6/lag-default10.log").read_bytes(), slice_length_s="1"))
    assert "Speed, requested but not reached 1,501,000" in page
    assert "slices are within every limit" not in page.partition("Slow reads, slice by slice")[0]


def test_a_run_of_ycsb_needs_nothing_for_a_certificate(real_reader, send):
    log = DATA / "ycsb/ycsb-0.12.0/basicdb-run-a.log"
    needs = text_of(send(log.read_bytes())).partition("Missing for a certificate")[2]
    assert needs.startswith(" A run of YCSB never certifies a drive, because it goes through a database. Submit")
