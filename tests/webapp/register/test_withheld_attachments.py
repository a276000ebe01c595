"""Contents of a sequestered attachment: in no page, file or response of the register."""

import copy
import json

import pytest
from django.urls import reverse

from results.access.withholding import visible_verdict
from results.history import record_event, run_subject
from results.lifecycle.submission_states import with_state
from results.models import (
    Companion,
    EarlierResult,
    Evidence,
    Finding,
    Product,
    Run,
    Submission,
    YcsbInterval,
    YcsbOperation,
    YcsbRun,
)
from tests.results.builders import link_key, make_user
from tests.webapp.register.conftest import SLOW_DISK_FACTS, SLOW_DISK_VERDICT
from tests.webapp.register.runs.test_side_file import SIDE_FILE
from tests.webapp.register.ycsb.test_machine import telemetry
from webapp.api.serializers import SubmissionSerializer
from webapp.register.dumps import store as dumps_store
from webapp.register.dumps.importer import read_rows
from webapp.register.dumps.tables import TABLES
from webapp.register.dumps.writer import write_dump
from webapp.register.syndication.public_addresses import public_addresses
from webapp.register.ycsb.loads import LOAD_KEY_DIGITS
from webapp.register.ycsb.machine import machine_of

pytestmark = pytest.mark.django_db
LOAD = reverse("ycsb-load", args=["5" * LOAD_KEY_DIGITS])
HOST, LINK, SECRET, BUSY, STOP = "lab-host-17", "8.0 GT/s PCIe x4", "-p password=4711", "40.5", "client-fault"
SENTENCE, REASON = "The command line names lab-4711.", "The standard error stream tells 17 faults."


def attach(run, role="stderr"):
    """Give a run's log a companion."""
    organisation = run.submission.organisation
    evidence = Evidence.objects.create(
        organisation=organisation, sha256=f"{run.pk:x}".rjust(64, "c"), size_bytes=1, filename="load.err"
    )
    Companion.objects.create(submission=run.submission, evidence=evidence, filename="load.err", role=role)
    return evidence


def attach_side_file(run):
    """Give a run's log the side file that a lab writes."""
    run.submission.side_file = attach(run)
    run.submission.save()
    Companion.objects.all().delete()
    return run.submission.side_file


def sequester(evidence):
    Evidence.objects.filter(pk=evidence.pk).update(sequestered=True)


EACH_ROLE = pytest.mark.parametrize("lay", [attach, attach_side_file])


@pytest.fixture
def make_reported(make_log_run):
    """Return a function that makes a run whose side file reported its host and the link of its drive."""

    def make(**fields):
        drives = [SIDE_FILE["drives"][0] | {"pcie_link": LINK}]
        document = copy.deepcopy(SIDE_FILE) | {"host": SIDE_FILE["host"] | {"hostname": HOST}, "drives": drives}
        return make_log_run(facts=SLOW_DISK_FACTS | {"side_file": document}, device_count=1, **fields)

    return make


@pytest.fixture
def make_swept(make_log_run):
    """Return a function that makes a YCSB run whose stderr has its command line and status lines."""

    def make(threads=4, **fields):
        run = make_log_run(workload="ycsb", facts={"telemetry": telemetry(BUSY), "stop": {"kind": STOP}}, **fields)
        properties = [["recordcount", "471100"], ["fieldcount", "17"], ["fieldlength", "4001"]]
        facts = {"record_count": 471_200, "operation_count": 471_300, "target_ops_per_s": 471_400}
        facts |= {"time_limit_s": 471, "reasons": [REASON]}
        facts |= {"validity": "valid", "workload": "a", "command_line": SECRET, "properties": properties}
        facts |= {"threads_count": threads, "throughput_ops_per_s": 1000, "sweep_key": "5" * 64}
        ycsb = YcsbRun.objects.create(run=run, **facts)
        YcsbOperation.objects.create(ycsb_run=ycsb, ordinal=0, name="READ", outcome="ok", ops_count=9, mean_us=100)
        YcsbInterval.objects.create(
            ycsb_run=ycsb, ordinal=0, elapsed_s=10, done_ops_count=4, ops_per_s="1234.5", operations=[]
        )
        return run

    return make


@EACH_ROLE
def test_the_page_of_a_run_hides_it_and_keeps_the_figures_of_the_log(client, make_reported, lay):
    run = make_reported()
    evidence, page = lay(run), f"/runs/{run.public_id}/"
    assert HOST in client.get(page).text
    sequester(evidence)
    text = client.get(page).text
    assert (HOST in text, "Side file <span" in text, "5.83" in text) == (False, False, True)


@EACH_ROLE
def test_neither_page_nor_api_has_the_causes_at_the_host(client, make_log_run, lay):
    clause = "the host may be the cause: generator-late and host-busy"
    facts = SLOW_DISK_FACTS | {"side_file": SIDE_FILE | {"host_causes": ["generator-late", "host-busy"]}}
    document = SLOW_DISK_VERDICT | {"headline": f"{SLOW_DISK_VERDICT['headline']}; {clause}"}
    run = make_log_run(facts=facts, document=document)
    find(run)
    evidence, paths = lay(run), [f"{folder}/runs/{run.public_id}/" for folder in ("", "/api/v1")]
    words = "the host may be the cause: the load generator was late and the processors of the host were busy"
    page, answer = (client.get(path).text for path in paths)
    assert (words in page, clause in page, clause in answer) == (True, False, True)
    sequester(evidence)
    for path in paths:
        text = client.get(path).text
        assert [
            word for word in ("generator-late", "was late", "host-busy", "may be the cause") if word in text
        ] == [], path


@EACH_ROLE
@pytest.mark.parametrize("form", ["html", "csv", "json"])
def test_a_comparison_has_no_condition_from_it(client, make_reported, make_product, lay, form):
    run, other = make_reported(), make_reported()
    address = f"/compare/?run={run.public_id}&run={other.public_id}&format={form}"
    evidence = lay(run)
    assert client.get(address).text.count(LINK) == 2
    sequester(evidence)
    assert client.get(address).text.count(LINK) == 1


@EACH_ROLE
def test_the_page_of_a_ycsb_run_shows_neither_properties_nor_machine(client, make_swept, lay):
    run = make_swept()
    evidence, page = lay(run), f"/runs/{run.public_id}/"
    words = (SECRET, "471100", "471,200", "471,300", "471,400", REASON, "1,234.5", BUSY, STOP)
    text = client.get(page).text
    assert all(word in text for word in words)
    sequester(evidence)
    text = client.get(page).text
    assert not any(word in text for word in words)
    assert "Withheld for legal reasons" in text


@EACH_ROLE
def test_the_api_has_neither_command_line_nor_status_lines(client, make_swept, lay):
    run = make_swept()
    evidence, paths = lay(run), (f"/api/v1/runs/{run.public_id}/", "/api/v1/runs/")
    for path in paths:
        assert SECRET in client.get(path).text
    sequester(evidence)
    for path in paths:
        assert SECRET not in client.get(path).text
        assert not any(word in client.get(path).text for word in ("471100", "471200", "471300", "471400", REASON))
    assert client.get(f"/api/v1/runs/{run.public_id}/intervals/").status_code == 451


@EACH_ROLE
def test_its_files_answer_451(client, make_swept, lay):
    run = make_swept()
    evidence = lay(run)
    EarlierResult.objects.create(run=run, number=1, reading=run.reading, document={"below": {}})
    for download in ("status-lines.csv", "earlier/1.json"):
        assert client.get(f"/runs/{run.public_id}/{download}").status_code == 200
    sequester(evidence)
    for download in ("status-lines.csv", "earlier/1.json"):
        assert client.get(f"/runs/{run.public_id}/{download}").status_code == 451


def test_the_file_itself_answers_451_to_everyone(client, make_reported):
    run = make_reported()
    evidence = attach(run)
    sequester(evidence)
    for query in ("", f"?key={link_key(run.submission)}"):
        assert client.get(f"/runs/{run.public_id}/companions/{evidence.sha256}{query}").status_code == 451
    assert '<span class="dim">withheld for legal reasons</span>' in client.get(f"/runs/{run.public_id}/").text


@EACH_ROLE
def test_a_load_shows_only_the_machines_of_the_other_runs(client, make_swept, lay):
    run, other = make_swept(4), make_swept(8)
    evidence = lay(run)
    assert client.get(f"{LOAD}?format=csv").text.count(",40.5") == 2
    sequester(evidence)
    assert client.get(f"{LOAD}?format=csv").text.count(",40.5") == 1
    assert (machine_of(Run.objects.get(pk=run.pk)), bool(machine_of(other))) == ({}, True)


@EACH_ROLE
def test_no_table_of_a_dump_has_its_run(make_reported, lay):
    run, shown = make_reported(), make_reported()
    sequester(lay(run))
    dump = dumps_store.read_dump(write_dump())
    rows = json.dumps({table.name: list(read_rows(dump, table.name)) for table in TABLES})
    assert (run.public_id in rows, shown.public_id in rows) == (False, True)
    assert dump.withheld == [run.public_id]


@EACH_ROLE
def test_no_list_of_public_addresses_has_withheld_files(make_swept, lay):
    run = make_swept()
    evidence, lines = lay(run), f"/runs/{run.public_id}/status-lines.csv"
    assert lines in {each.path for each in public_addresses()}
    sequester(evidence)
    assert lines not in {each.path for each in public_addresses()}


@pytest.mark.parametrize("path", ["/api/v1/runs/", LOAD])
def test_a_list_needs_as_many_queries_for_one_such_run_as_for_ten(make_swept, make_product, count_queries, path):
    product = make_product()
    sequester(attach(make_swept(1, product=product)))
    few = count_queries(path)
    for threads in range(2, 11):
        sequester(attach(make_swept(threads, product=product)))
    assert count_queries(path) == few


def find(run, sentence=SENTENCE):
    Finding.objects.create(run=run, ordinal=90, rule_id="host-busy", severity="look", sentence=sentence)


@EACH_ROLE
@pytest.mark.parametrize("kind", ["make_reported", "make_swept"])
def test_its_findings_are_not_on_the_page_of_its_run_or_submission(client, request, lay, kind):
    run = request.getfixturevalue(kind)()
    find(run)
    evidence, pages = lay(run), (f"/runs/{run.public_id}/", f"/submissions/{run.submission.public_id}/")
    client.force_login(make_user("rita", is_reviewer=True))
    for page in pages:
        assert SENTENCE in client.get(page).text, page
    sequester(evidence)
    for page in pages:
        text = client.get(page).text
        assert (SENTENCE in text, REASON in text) == (False, False), page
    assert "Withheld for legal reasons, with the log or a file submitted with it." in client.get(pages[0]).text


@EACH_ROLE
def test_a_comparison_has_no_condition_from_withheld_ycsb_properties(client, make_swept, lay):
    run, other = make_swept(), make_swept(8)
    evidence, address = lay(run), f"/compare/?run={run.public_id}&run={other.public_id}&format=json"

    def described():
        return {row["name"]: row["values"] for row in client.get(address).json()["conditions"]}

    names = ("record_bytes", "record_count", "operation_count", "target_ops_per_s", "options_sha256")
    assert "not stated" not in [described()[name][0] for name in names]
    sequester(evidence)
    assert [described()[name][0] for name in names] == ["not stated"] * len(names)
    assert described()["record_bytes"][1] != "not stated"


@EACH_ROLE
def test_a_load_is_described_by_a_run_without_withheld_files(client, make_swept, lay):
    run = make_swept(4)
    sequester(lay(run))
    assert "471,200" not in client.get(LOAD).text
    assert "recordcount not reported" in client.get(LOAD).text
    make_swept(8)
    assert "recordcount 471,200" in client.get(LOAD).text


SLOW_HOST = "the host may be the cause: host-busy"
SLOW_HOST_IN_WORDS = "the host may be the cause: the processors of the host were busy"
ASKED_MORE = "Line 4711 of the side file: 989 of 1000 reads/s asked."
EXACT = {
    "statistic": "overall", "threshold_us": 1000, "read_at_us": 1000, "share_pct": "98.16", "over_count": 471_147,
    "ops_count": 480_000, "slice": None,
}  # fmt: skip
HARDLY_OVER = SLOW_DISK_VERDICT["violations"][0] | {"share_pct": "0.10", "over_count": 502, "ops_count": 500_000}
TELLING = {
    "fail": (SLOW_DISK_VERDICT["headline"] + f"; {SLOW_HOST}", "slice 2, reads over 64 ms"),
    "undecided": (f"undecided: nothing over a limit, but {ASKED_MORE}", "undecided"),
}


@pytest.fixture(params=TELLING)
def reported_run(request, make_log_run):
    """A run whose current and earlier verdicts repeat the sentence of an attachment."""
    headline, _ = TELLING[request.param]
    document = SLOW_DISK_VERDICT | {"outcome": request.param, "headline": headline, "exact": [EXACT]}
    run = make_log_run(document=document | {"reasons": [ASKED_MORE]})
    verdict = run.verdicts.get()
    verdict.pk = None
    verdict.save()
    headlines = {"before": f"{headline} [drivetest 0.1.0]", "after": f"{headline} [drivetest 0.1.1]"}
    record_event(None, "run-judged-anew", run_subject(run), "", headlines)
    run.submission.log.readings.update(findings=[{"id": "file-cut", "severity": "look", "sentence": ASKED_MORE}])
    return run


def verdict_exits(client, run):
    submission, product = run.submission.public_id, run.product.slug
    pages = [f"/runs/{run.public_id}/", f"/submissions/{submission}/", f"/drive/{product}/"]
    texts = {path: client.get(path).text for path in [*pages, f"/api/v1/runs/{run.public_id}/", "/api/v1/runs/"]}
    sent = with_state(Submission.objects.filter(pk=run.submission_id)).get()
    return texts | {"API of the submission": json.dumps(SubmissionSerializer(sent).data, default=str)}


@EACH_ROLE
def test_no_verdict_repeats_the_content_of_a_withheld_attachment(client, reported_run, lay):
    evidence = lay(reported_run)
    secrets = (SLOW_HOST, SLOW_HOST_IN_WORDS, ASKED_MORE, str(EXACT["over_count"]))
    client.force_login(make_user("vera", is_reviewer=True))
    before = verdict_exits(client, reported_run)
    assert all(any(secret in text for secret in secrets) for text in before.values())
    sequester(evidence)
    for path, text in verdict_exits(client, reported_run).items():
        assert [secret for secret in secrets if secret in text] == [], path


@EACH_ROLE
def test_reasons_from_the_log_alone_stay_in_the_verdict(client, reported_run, lay):
    sequester(lay(reported_run))
    verdict = client.get(f"/api/v1/runs/{reported_run.public_id}/").json()["verdict"]
    stays = TELLING[verdict["outcome"]][1]
    assert stays in verdict["headline"]
    assert verdict["document"]["headline"] == verdict["headline"]
    assert (verdict["document"]["reasons"], verdict["document"]["exact"]) == ([], None)
    assert verdict["document"]["shares"] == SLOW_DISK_VERDICT["shares"]
    assert stays.removeprefix("undecided") in client.get(f"/runs/{reported_run.public_id}/").text.replace("&nbsp;", " ")


@pytest.mark.parametrize(
    ("outcome", "changes", "shown"),
    [
        ("pass", {}, "passes: at most 5.83 % over 1 ms, 1.33 % over 8 ms and 0.33 % over 64 ms of reads"),
        ("fail", {}, "fails: slice 2, reads over 64 ms: 0.33 % > 0.1 %; also over 1 ms and 8 ms"),
        (
            "fail",
            {"violations": SLOW_DISK_VERDICT["violations"][:2]},
            "fails: slice 2, reads over 64 ms: 0.33 % > 0.1 %",
        ),
        (
            "fail",
            {"violations": [HARDLY_OVER]},
            "fails: slice 2, reads over 64 ms: 0.1004 % > 0.1 %",
        ),
        ("fail", {"violations": []}, "fails"),
        ("void", {}, "void"),
        ("undecided", {}, "undecided"),
    ],
)
def test_the_headline_of_a_withheld_file_has_only_figures_of_the_log(make_log_run, outcome, changes, shown):
    document = SLOW_DISK_VERDICT | changes | {"outcome": outcome, "headline": f"{outcome}; {ASKED_MORE}"}
    run = make_log_run(document=document)
    sequester(attach(run))
    assert visible_verdict(run, run.verdicts.get()).headline == shown


@EACH_ROLE
def test_no_certificate_repeats_the_reason_from_a_withheld_file(client, make_log_run, make_product, lay):
    run, other = make_log_run(), make_log_run()
    faults = [
        {"run_id": each.public_id, "sentence": "differs from the profile", "departures": [ASKED_MORE]}
        for each in (other, run)
    ]
    attempt = {"profile": "p", "device_count": 1, "attempted_nx": None, "is_certified": False, "reasons": []}
    missing = [{"sentence": "a stress test is missing", "shortcomings": faults}]
    Product.objects.filter(pk=run.product_id).update(attempts=[attempt | {"present": [], "missing": missing}])
    evidence, page = lay(run), f"/drive/{run.product.slug}/"
    assert client.get(page).text.count(ASKED_MORE) == 2
    sequester(evidence)
    assert client.get(page).text.count(ASKED_MORE) == 1
