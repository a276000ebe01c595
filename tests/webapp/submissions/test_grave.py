import pytest

from results.models import Evidence, Finding, Reading, Run, Submission
from tests.results.rows import make_product, make_run
from webapp.submissions.grave import WITHHELD, review_warnings
from webapp.submissions.sizes import size_sentences


def run_on(*names, named=()):
    """A run on devices of which a finding of drivetest names some as no drives."""
    devices = [{"name": name, "size_bytes": 10**9} for name in names]
    run = make_run(make_product(), facts={"devices": devices, "is_virtual_device": True})
    told = ", ".join(f"{name} (compressed memory)" for name in named)
    sentence = f"by their names devices are no drives: {told}"
    Finding.objects.create(run=run, ordinal=0, rule_id="device-virtual", severity="look", sentence=sentence)
    return run


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["/dev/zram1"], "/dev/zram1 is not a physical drive: "),
        (["/dev/zram1", "/dev/zram2"], "/dev/zram1, /dev/zram2 are not physical drives: "),
    ],
)
@pytest.mark.django_db
def test_devices_that_are_no_drives_are_weighed_in_one_sentence(names, told):
    run = run_on(*names, named=names)
    (sentence,) = review_warnings(Submission(), [run, run])
    assert sentence.startswith(told)


@pytest.mark.django_db
def test_a_drive_beside_a_device_that_is_none_is_not_called_none(db):
    run = run_on("/dev/nvme0n1", "/dev/zram10", named=["/dev/zram10"])
    (sentence,) = review_warnings(Submission(), [run])
    assert sentence.startswith("/dev/zram10 is not a physical drive: ")
    run.findings.all().delete()
    (sentence,) = review_warnings(Submission(), [run])
    assert sentence.startswith("One of /dev/nvme0n1, /dev/zram10 is not a physical drive: ")


def test_of_a_withheld_log_neither_names_nor_sizes_are_told():
    devices = [{"name": "/dev/zram1", "size_bytes": 10**9}]
    reading = Reading(evidence=Evidence(sequestered=True))
    run = Run(facts={"devices": devices, "is_virtual_device": True}, reading=reading)
    assert size_sentences(Submission(capacity_gb=1000), [run]) == []
    assert review_warnings(Submission(capacity_gb=1000), [run]) == [WITHHELD]


def test_nothing_speaks_against_a_device_that_its_name_does_not_betray():
    run = Run(facts={"devices": [{"name": "/dev/nvme0n1", "size_bytes": 10**9}], "is_virtual_device": False})
    assert review_warnings(Submission(), [run]) == []
