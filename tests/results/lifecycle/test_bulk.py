from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from results.lifecycle.corrections import annotate
from results.models import Annotation, Event, Run
from tests.results.builders import make_user
from tests.results.rows import from_a_log, make_product, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def runs(db):
    product = make_product()
    return [make_run(product, firmware=firmware, tool_version="6.6") for firmware in ("FW1", "FW1", "FW2")]


def command(*arguments):
    output = StringIO()
    call_command("decide_runs", *arguments, "--reason", "beta firmware", "--actor", "rita", stdout=output)
    return output.getvalue().splitlines()


def test_a_dry_run_names_the_runs_and_writes_nothing(runs, rita):
    lines = command("annotate", "--firmware", "FW1", "--dry-run")
    assert lines == ["would annotate: 2 runs; refused: 0", runs[0].public_id, runs[1].public_id]
    assert not Annotation.objects.exists()
    assert not Event.objects.exists()


def test_each_run_gets_a_separate_event(runs, rita):
    assert command("withdraw", "--firmware", "FW1")[0] == "withdraw: 2 runs; refused: 0"
    events = Event.objects.filter(kind="run-withdrawn").order_by("pk")
    assert [(event.subject_id, event.reason, event.actor) for event in events] == [
        (run.public_id, "beta firmware", rita) for run in runs[:2]
    ]
    assert [run.visibility for run in Run.objects.order_by("pk")] == ["withdrawn", "withdrawn", "public"]


def test_a_run_in_another_state_is_refused_and_the_others_are_changed(runs, rita):
    Run.objects.filter(pk=runs[0].pk).update(visibility="withdrawn")
    lines = command("withdraw", "--tool-version", "6.6")
    assert lines[0] == "withdraw: 2 runs; refused: 1"
    assert lines[-1].startswith(f"refused: {runs[0].public_id}: {runs[0].public_id} is withdrawn; only")


def test_a_bulk_change_is_reversed_in_bulk(runs, rita):
    command("annotate", "--firmware", "FW1")
    annotate(runs[2], "of another kind", rita)
    assert command("retract", "--tool-version", "6.6")[0] == "retract: 2 runs; refused: 1"
    assert [annotation.text for annotation in Annotation.objects.current()] == ["of another kind"]


@pytest.mark.parametrize("selection", ["organisation", "finding", "reader-version"])
def test_runs_are_selected_by_shared_attributes(runs, rita, selection):
    run = make_run(make_product(), **from_a_log())
    run.findings.create(ordinal=0, rule_id="cut", severity="look", sentence="It is cut.")
    value = {"organisation": run.submission.organisation.slug, "finding": "cut", "reader-version": "0.1.0"}[selection]
    assert command("annotate", f"--{selection}", value, "--dry-run")[1:] == [run.public_id]
    assert command("annotate", f"--{selection}", "none-such", "--dry-run")[1:] == []


def test_hidden_runs_are_not_selected(rita):
    make_run(make_product(), visibility="unreviewed", firmware="FW1")
    assert command("annotate", "--firmware", "FW1") == ["annotate: 0 runs; refused: 0"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["annotate", "--actor", "rita"], "expected at least one of --organisation, --tool-version"),
        (
            ["annotate", "--actor", "vera", "--firmware", "FW1"],
            "--actor: expected the username of a reviewer",
        ),
    ],
)
def test_an_invalid_command_line_is_refused_with_the_expected_form(rita, arguments, complaint):
    make_user("vera")
    with pytest.raises(CommandError, match=complaint):
        call_command("decide_runs", *arguments, "--reason", "beta firmware")
