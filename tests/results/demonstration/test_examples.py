"""The example runs of the register: created from their stored logs through the intake, removed without any loss."""

import hashlib
import json
import lzma

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from results.demonstration import examples
from results.evidence.store import open_evidence
from results.models import Event, Evidence, Reading, Run, Slice, Submission, Visibility
from tests.results.fixtures import evidence_dir, program, real_reader
from tests.results.rows import make_product, make_run

__all__ = ["evidence_dir", "program", "real_reader"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir")]
IDS = [example.run_id for example in examples.EXAMPLES]


def stored(run_id, kind):
    return lzma.decompress((examples.LOGS / f"{run_id}.{kind}.xz").read_bytes())


def side_file(run_id):
    return [json.loads(line) for line in stored(run_id, "jsonl").splitlines()]


def rows_count():
    return [model.objects.count() for model in (Run, Submission, Evidence, Reading, Event, Slice)]


def test_the_examples_have_fixed_ids_a_flag_slices_and_no_product(real_reader):
    runs = examples.create()
    assert [run.public_id for run in runs] == IDS
    assert {(run.is_demo, run.is_virtual, run.product, run.visibility) for run in runs} == {
        (True, True, None, "public")
    }
    assert all(run.slices.count() >= 4 and run.verdicts.exists() and run.findings.exists() for run in runs)
    assert sorted(run.public_id for run in Run.objects.examples()) == sorted(IDS)


def test_their_evidence_is_the_stored_log_byte_for_byte(real_reader):
    for run in examples.create():
        log, attached = run.submission.log, run.submission.side_file
        with open_evidence(log) as file:
            assert file.read() == stored(run.public_id, "log")
        assert attached.sha256 == hashlib.sha256(stored(run.public_id, "jsonl")).hexdigest()


def test_creating_them_again_changes_nothing(real_reader):
    examples.create()
    before = rows_count()
    examples.create()
    assert rows_count() == before


def test_removed_examples_keep_their_evidence_and_return_under_their_ids(real_reader, capsys):
    keys = [run.pk for run in examples.create()]
    call_command("demo", "--remove")
    assert not Run.objects.examples().exists()
    assert {run.visibility for run in Run.objects.filter(pk__in=keys)} == {Visibility.UNREVIEWED}
    assert Evidence.objects.count() == 2 * len(IDS)
    call_command("demo")
    assert sorted(run.pk for run in Run.objects.examples()) == sorted(keys)
    assert "Shown as examples" in capsys.readouterr().out


def test_a_start_creates_them_once_and_never_after_their_removal(real_reader, capsys):
    assert not examples.was_created()
    call_command("demo", "--once")
    assert (examples.was_created(), Run.objects.examples().count()) == (True, len(IDS))
    call_command("demo", "--remove")
    call_command("demo", "--once")
    assert (examples.was_created(), Run.objects.examples().count()) == (True, 0)
    assert "nothing was changed" in capsys.readouterr().out


@pytest.mark.parametrize("shown_count", [0, 1, 2])
def test_a_start_after_an_interruption_creates_what_is_missing(real_reader, monkeypatch, shown_count):
    interrupt_after(shown_count, monkeypatch)
    assert Submission.objects.exclude(demo_run_id="").count() == shown_count + 1
    assert not examples.was_created()
    call_command("demo", "--once")
    assert sorted(run.public_id for run in Run.objects.examples()) == sorted(IDS)
    assert examples.was_created()


def test_an_example_that_was_removed_after_an_interruption_does_not_come_back(real_reader, monkeypatch):
    interrupt_after(1, monkeypatch)
    call_command("demo", "--remove")
    call_command("demo", "--once")
    assert not Run.objects.examples().exists()


def interrupt_after(shown_count, monkeypatch):
    """Create the examples, and end like a killed process after the submission of the next one."""
    real, shown = examples._attempts, []

    def attempts(submission):
        if len(shown) == shown_count:
            raise KeyboardInterrupt
        shown.append(submission)
        return real(submission)

    with monkeypatch.context() as patch:
        patch.setattr(examples, "_attempts", attempts)
        with pytest.raises(KeyboardInterrupt):
            examples.create()


def test_removing_them_from_a_register_without_them_is_no_error(capsys):
    call_command("demo", "--remove")
    assert "No example run is shown" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 9", "expected the drivetest program"),
        ('[ "$1" = --version ] && echo drivetest 9 || exit 9', "expected a run"),
    ],
)
def test_a_log_that_cannot_be_read_is_reported_and_shows_nothing(program, monkeypatch, script, reason):
    monkeypatch.setattr(examples, "READING_TIMEOUT_S", 1)
    program(script)
    with pytest.raises(CommandError, match=f"The example runs are not shown.*{reason}"):
        call_command("demo")
    assert not Run.objects.examples().exists()


def test_an_example_is_in_no_queryset_of_public_runs_and_any_other_run_is(db):
    shown = make_run(make_product())
    example = make_run(None, is_demo=True, is_virtual=True)
    assert list(Run.objects.public()) == list(Run.objects.listed()) == [shown]
    assert list(Run.objects.examples()) == [example]


@pytest.mark.parametrize("fields", [{"is_virtual": False}, {"is_virtual": True, "product": True}])
def test_the_database_refuses_an_example_of_a_product_or_on_a_drive(fields):
    product = make_product() if fields.pop("product", False) else None
    with pytest.raises(IntegrityError, match="example_run_is_of_no_product"), transaction.atomic():
        make_run(product, is_demo=True, **fields)
    assert make_run(None, is_demo=True, is_virtual=True).pk


@pytest.mark.parametrize("run_id", IDS)
def test_a_stored_side_file_names_a_neutral_host_and_a_loop_device(run_id):
    start = side_file(run_id)[0]
    assert start["host"]["hostname"] == "example-host"
    assert [device["path"] for device in start["devices"]] == ["/dev/loop7"]
    assert [(device["kind"], device["serial"]) for device in start["devices"]] == [("virtual", None)]


def test_the_stored_files_are_small():
    assert sum(path.stat().st_size for path in examples.LOGS.iterdir()) < 1024**2
