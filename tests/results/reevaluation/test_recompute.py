import hashlib
import json
import sys
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from results import locks
from results.ingest.queue import sweep
from results.models import EarlierResult, Event, Profile, Reading, Run, Slice, Verdict
from results.reader import process as reader_process
from results.reevaluation.recompute import Order, recompute
from tests.results.builders import log_bytes, make_organisation, other_session, send
from tests.results.rows import make_product

pytestmark = pytest.mark.django_db

# The real program under another version; it edits its output as EDIT says.
WRAPPER = """
import json, subprocess, sys
answer = subprocess.run([{real!r}, *sys.argv[1:]], capture_output=True, text=True, close_fds=False)
if sys.argv[1:] == ["--version"]:
    print("drivetest {version}")
    sys.exit(0)
document = json.loads(answer.stdout)
document["reader"]["version"] = "{version}"
{edit}
print(json.dumps(document))
sys.exit(answer.returncode)
"""
SPLIT = 'document["runs"].append(dict(document["runs"][0], ordinal=1, first_line=10**6, last_line=10**6 + 9))'
MOVED = 'document["runs"][0].update(first_line=10**6, last_line=10**6 + 9)'
REFUSE = """document["runs"] = []
document["error"] = dict(id="x", sentence="No log.", line=1, expected="a log", got="none", remedy="send one")
print(json.dumps(document)); sys.exit(3)"""


@pytest.fixture
def install(real_reader, tmp_path, program):
    """Install the real program as the reader, with another version and a change of its output."""

    def install_version(version, edit=""):
        script = tmp_path / "wrapper.py"
        script.write_text(WRAPPER.format(real=str(real_reader), version=version, edit=edit))
        program(f'exec {sys.executable} -I {script} "$@"')

    return install_version


@pytest.fixture
def run(evidence_dir, install):
    """Return a public run, read by version 8 under rule version 1."""
    install("8.0.0")
    submission = send(make_organisation(), log_bytes("four-us"))
    sweep()
    submission.runs.update(product=make_product(), visibility="public", firmware="FW1", predates_approvals=True)
    return submission.runs.get()


def add_stricter_profile():
    document = json.loads(Profile.objects.get().document)
    document["rule_version"] = 2
    document["limits"][0]["limit_pct"] = "0"
    text = json.dumps(document)
    return Profile.objects.create(
        name=document["name"], rule_version=2, document=text, sha256=hashlib.sha256(text.encode()).hexdigest()
    )


def everything():
    """Return everything that a dry run must not change."""
    tables = (Run, Reading, Verdict, Slice, Event, EarlierResult)
    return {table.__name__: list(table.objects.order_by("pk").values()) for table in tables}


def apply(**order):
    return recompute(Order(reason="a new reader", is_dry=False, **order))


def test_nothing_is_stale_under_the_same_reader_and_rules(run):
    assert apply().cases == []


@pytest.mark.parametrize("is_by_rule", [False, True])
def test_a_dry_run_lists_the_changes_and_writes_nothing(run, install, is_by_rule):
    if is_by_rule:
        add_stricter_profile()
    else:
        install("9.0.0", 'document["runs"][0]["verdict"].update(outcome="void", headline="void: it was cut")')
    before = everything()
    (case,) = recompute(Order(reason="", is_dry=True)).cases
    assert (case.kind, case.run_id, case.visibility) == ("outcome", run.public_id, "public")
    assert case.before.startswith("undecided")
    assert case.after.startswith("fails: slice" if is_by_rule else "void: it was cut")
    assert everything() == before


def test_a_new_rule_version_re_evaluates_a_run_under_the_same_id(run):
    profile, slices = add_stricter_profile(), Slice.objects.count()
    apply()
    again = Run.objects.get()
    assert (again.pk, again.public_id, again.firmware, again.visibility) == (run.pk, run.public_id, "FW1", "public")
    assert [(verdict.outcome, verdict.profile.rule_version) for verdict in again.verdicts.all()] == [
        ("fail", 2),
        ("undecided", 1),
    ]
    assert (again.verdicts.first().profile, again.reading, Slice.objects.count()) == (profile, run.reading, slices)


def test_a_new_reader_version_is_a_new_reading_of_the_same_evidence(run, install):
    install("9.0.0", 'document["runs"][0]["tool_version"] = "6.7"')
    apply()
    again = Run.objects.get()
    assert (again.pk, again.tool_version, again.reading.reader_version) == (run.pk, "6.7", "9.0.0")
    assert list(Reading.objects.order_by("pk").values_list("reader_version", "state")) == [
        ("8.0.0", "done"),
        ("9.0.0", "done"),
    ]


def test_the_previous_result_stays_readable(run, install):
    shares = list(run.shares.values_list("statistic", "threshold_us", "printed"))
    install("9.0.0", 'document["runs"][0]["verdict"]["shares"].pop(0); document["runs"][0]["tool_version"] = "6.7"')
    apply()
    earlier = run.earlier_results.get()
    assert earlier.document["columns"]["tool_version"] == "6.6"
    rows = earlier.document["below"]
    assert [(row["statistic"], row["threshold_us"], row["printed"]) for row in rows["share"]] == shares
    assert run.shares.count() == len(shares) - 1
    assert len(rows["slice"]) == run.slices.count() > 1
    assert (earlier.verdict, earlier.reading.reader_version) == (run.verdicts.last(), "8.0.0")


def test_the_event_has_the_difference(run, install):
    edit = """
shares = document["runs"][0]["verdict"]["shares"]
gone, changed = shares.pop(0), shares[0]
changed["share_pct"] = "0.99"
document["runs"][0]["verdict"].update(outcome="fail", headline="fails")"""
    before = {(share.statistic, share.threshold_us): share.printed for share in run.shares.all()}
    install("9.0.0", edit)
    apply()
    details = Event.objects.get(kind="run-judged-anew").details
    after = {(share.statistic, share.threshold_us): share.printed for share in run.shares.all()}
    assert (details["outcomes"], details["readers"]) == (["undecided", "fail"], ["8.0.0", "9.0.0"])
    assert details["profiles"] == ["operational-database, rule version 1"] * 2
    assert details["validities"] == ["", ""]
    listed = {(each["statistic"], each["threshold_us"]): (each["before"], each["after"]) for each in details["shares"]}
    differing = {key for key in before if before[key] != after.get(key)}
    assert listed == {key: (before[key], after.get(key)) for key in differing}
    assert len(differing) == 2


def test_the_event_of_a_new_rule_version_names_both_and_no_equal_share(run):
    add_stricter_profile()
    apply()
    details = Event.objects.get(kind="run-judged-anew").details
    assert details["profiles"] == [f"operational-database, rule version {version}" for version in (1, 2)]
    assert (details["outcomes"], details["shares"]) == (["undecided", "fail"], [])


def test_an_earlier_result_is_never_changed(run, install):
    install("9.0.0", 'document["runs"][0]["tool_version"] = "6.7"')
    apply()
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        EarlierResult.objects.update(number=7)


def test_a_reader_with_the_same_output_adds_only_its_verdict(run, install):
    install("9.0.0")
    assert [case.kind for case in apply().cases] == ["same"]
    assert not EarlierResult.objects.exists()
    assert list(run.verdicts.values_list("reader_version", flat=True)) == ["9.0.0", "8.0.0"]
    assert apply().cases == []


def test_each_run_gets_an_event_with_both_verdicts_and_the_reason(run):
    add_stricter_profile()
    apply()
    event = Event.objects.get(kind="run-judged-anew")
    assert (event.subject_id, event.reason, event.details["kind"]) == (run.public_id, "a new reader", "outcome")
    assert "rule version 1" in event.details["before"]
    assert "rule version 2" in event.details["after"]


def test_going_back_to_an_earlier_reader_makes_its_verdict_the_newest(run, install):
    for version in ("9.0.0", "8.0.0"):
        install(version)
        apply()
    assert list(run.verdicts.values_list("reader_version", flat=True)) == ["8.0.0", "9.0.0", "8.0.0"]
    assert Run.objects.get().reading.reader_version == "8.0.0"
    assert apply().cases == []


def test_a_log_that_is_now_unreadable_is_reported_and_changes_nothing(run, install):
    install("9.0.0", REFUSE)
    before = everything()
    (case,) = apply().cases
    assert (case.kind, case.after) == ("unreadable now", "No log.; nothing was changed")
    assert everything() == before


def test_missing_evidence_is_reported_and_changes_nothing(run, install, settings, tmp_path):
    install("9.0.0")
    settings.EVIDENCE_DIR = tmp_path / "elsewhere"
    before = everything()
    assert [case.kind for case in apply().cases] == ["unreadable now"]
    assert everything() == before


def test_an_additional_run_of_the_new_reader_waits_for_review(run, install):
    install("9.0.0", SPLIT)
    assert [case.kind for case in apply().cases] == ["same", "new run"]
    new = Run.objects.exclude(pk=run.pk).get()
    assert (new.visibility, new.ordinal, new.product) == ("unreviewed", 1, run.submission.product)
    assert Run.objects.get(pk=run.pk).visibility == "public"


def test_a_run_that_the_new_reader_does_not_find_stays_as_it_was_read(run, install):
    install("9.0.0", MOVED)
    assert [case.kind for case in apply().cases] == ["run not found", "new run"]
    stored = Run.objects.get(pk=run.pk)
    assert (stored.reading.reader_version, stored.histograms.count() > 0) == ("8.0.0", True)
    assert Event.objects.get(kind="run-not-found-again").subject_id == run.public_id
    assert apply().cases == []


def test_a_limit_leaves_the_rest_and_after_continues(run, evidence_dir):
    later = send(run.submission.organisation, log_bytes("slow-disk-ms"))
    sweep()
    add_stricter_profile()
    report = apply(limit=1)
    assert (report.last_submission_id, report.remaining) == (run.submission.public_id, 1)
    rest = recompute(Order(reason="", is_dry=True, after=report.last_submission_id))
    assert [case.submission_id for case in rest.cases] == [later.public_id]
    assert [case.submission_id for case in apply().cases] == [later.public_id]


def test_only_the_named_runs_are_re_evaluated(run):
    send(run.submission.organisation, log_bytes("slow-disk-ms"))
    sweep()
    add_stricter_profile()
    assert [case.run_id for case in apply(run_ids=(run.public_id,)).cases] == [run.public_id]


def test_a_log_in_another_recomputation_is_skipped(run):
    add_stricter_profile()
    with other_session() as session:
        session.execute("SELECT pg_advisory_lock(%s, %s)", [locks.RECOMPUTE, run.submission.pk])
        assert [case.kind for case in apply().cases] == ["busy"]
    assert [case.kind for case in apply().cases] == ["outcome"]


def run_command(*arguments):
    output = StringIO()
    call_command("recompute_verdicts", *arguments, stdout=output)
    return output.getvalue()


def test_the_command_prints_counts_first_and_then_every_case(run):
    add_stricter_profile()
    lines = run_command("--dry-run").splitlines()
    assert lines[0].startswith("Looked at 1 run read from a log")
    assert lines[1] == "What would become of 1 case:"
    assert [line.split() for line in lines[2:4]] == [["1", "outcome"], ["0", "headline"]]
    (case,) = [line for line in lines if line.startswith("outcome: ")]
    assert run.public_id in case
    assert " -> fails: slice" in case
    assert "What became of 1 case:" in run_command("--reason", "rule version 2")


def test_a_dry_run_with_nothing_to_do_prints_the_reader_the_profile_and_the_number_of_runs(run):
    profile = Profile.objects.get()
    report_text = run_command("--dry-run")
    assert f"by drivetest {reader_process.reader_version()} and profile {profile}" in report_text
    assert "Looked at 1 run read from a log" in report_text
    assert "Nothing to do: each is judged by this reader and these rules." in report_text
    assert "cases" not in report_text


def test_a_dry_run_that_begins_after_the_last_log_checks_no_run(run):
    assert "Looked at 0 runs" in run_command("--dry-run", "--after", run.submission.public_id)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "--reason: expected why"),
        (["--dry-run", "--limit", "0"], "--limit: expected 1 or more, got 0"),
        (["--dry-run", "--run", "r-nothere"], "--run: expected a run that was read from a log, got r-nothere"),
        (["--dry-run", "--after", "s-nothere"], "--after: expected a submission, got s-nothere"),
    ],
)
def test_an_invalid_command_line_is_refused_with_the_expected_form(arguments, complaint):
    with pytest.raises(CommandError, match=complaint):
        run_command(*arguments)


def test_without_a_reader_the_command_fails_and_changes_nothing(run, program):
    program("exit 1")
    with pytest.raises(CommandError, match="expected the drivetest program"):
        run_command("--dry-run")
    assert reader_process.reader_version.cache_info().currsize == 0
