"""Archives with logs of several drives: what their side files show."""

import pytest

from results.errors import ReviewRefusedError
from results.ingest.several_drives import drives_of_document, several_drives_message
from results.lifecycle.review import publish
from results.models import Run
from tests.results.builders import make_organisation, make_user, send
from tests.results.fixtures import evidence_dir
from tests.results.rows import make_product, make_run

__all__ = ["evidence_dir"]


def drive(model, kind="nvme", **facts):
    return {"name": "/dev/nvme0n1", "kind": kind, "model": model} | facts


def log(member, *drives):
    return {"member": member, "side_file": {"drives": list(drives)} if drives else None}


def drives_of(*logs, ycsb=()):
    return drives_of_document({"runs": list(logs), "ycsb_runs": list(ycsb)})


def test_two_models_are_two_drives_each_with_its_logs():
    found = drives_of(log("a.log", drive("A-9")), log("b.log", drive("B-1")), log("c.log", drive("A-9")))
    assert found == {"A-9": ["a.log", "c.log"], "B-1": ["b.log"]}
    message = several_drives_message(found)
    assert "A-9 in a.log and c.log; B-1 in b.log." in message
    assert "Send the logs of each drive separately" in message


@pytest.mark.parametrize("logs", [
    [log("a.log", drive("A-9", serial="1")), log("b.log", drive("a-9 ", serial="2", size_bytes=7))],
    [log("a.log", drive("A-9")), log("b.log")],
    [log("a.log", drive("A-9")), log("b.log", drive("loop0", kind="virtual"))],
    [log("a.log", drive("A-9")), log("b.log", drive(None))],
    [log("a.log", drive("A-9"), drive("B-1")), log("b.log", drive("B-1"), drive("A-9"))],
    [],
])  # fmt: skip
def test_units_of_one_model_and_logs_that_name_no_drive_are_one_drive(logs):
    assert drives_of(*logs) == {}


def test_a_log_of_two_models_is_another_drive_than_one_of_them():
    assert len(drives_of(log("a.log", drive("A-9"), drive("B-1")), log("b.log", drive("A-9")))) == 2


def test_runs_of_ycsb_count_and_a_file_has_each_run_once():
    assert drives_of(log("a.log", drive("A-9")), log("a.log", drive("A-9")), ycsb=[log("b.out", drive("B-1"))]) == {
        "A-9": ["a.log"], "B-1": ["b.out"],
    }  # fmt: skip


def test_many_logs_are_counted():
    found = {"A-9": [f"{number}.log" for number in range(5)], "B-1": ["b.log"]}
    assert "A-9 in 0.log, 1.log, 2.log and 2 more" in several_drives_message(found)


@pytest.mark.django_db
@pytest.mark.parametrize(("other", "is_refused"), [("B-1", True), ("A-9", False)])
def test_a_submission_of_several_drives_is_not_published(evidence_dir, other, is_refused):
    organisation, rita, product = make_organisation(), make_user("rita", is_reviewer=True), make_product()
    submission = send(organisation, b"archive")
    for member, model in (("a.log", "A-9"), ("b.log", other)):
        run = make_run(product, submission=submission, member=member, visibility="unreviewed")
        Run.objects.filter(pk=run.pk).update(facts={"side_file": {"drives": [drive(model)]}})
    if is_refused:
        with pytest.raises(ReviewRefusedError, match=r"A-9 in .*; B-1 in ") as refusal:
            publish(submission, rita)
        assert refusal.value.code == "several-drives"
    else:
        assert publish(submission, rita)
