"""Warnings before publication."""

from decimal import Decimal

import pytest

from results.models import Evidence, Finding, Reading, Run, Submission
from tests.results.rows import make_product, make_run
from webapp.submissions.review_warnings import WITHHELD, review_warnings, size_sentences


def run_on(*names, named=()):
    """Return a run of which a finding of drivetest names some devices as virtual."""
    devices = [{"name": name, "size_bytes": 10**9} for name in names]
    run = make_run(make_product(), facts={"devices": devices, "is_virtual_device": True})
    listed = ", ".join(f"{name} (compressed memory)" for name in named)
    sentence = f"by their names devices are no drives: {listed}"
    Finding.objects.create(run=run, ordinal=0, rule_id="device-virtual", severity="look", sentence=sentence)
    return run


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        (["/dev/zram1"], "/dev/zram1 is not a physical drive: "),
        (["/dev/zram1", "/dev/zram2"], "/dev/zram1, /dev/zram2 are not physical drives: "),
    ],
)
@pytest.mark.django_db
def test_virtual_devices_are_listed_in_one_warning(names, listed):
    run = run_on(*names, named=names)
    (sentence,) = review_warnings(Submission(), [run, run])
    assert sentence.startswith(listed)


@pytest.mark.django_db
def test_a_drive_next_to_a_virtual_device_is_not_called_virtual(db):
    run = run_on("/dev/nvme0n1", "/dev/zram10", named=["/dev/zram10"])
    (sentence,) = review_warnings(Submission(), [run])
    assert sentence.startswith("/dev/zram10 is not a physical drive: ")
    run.findings.all().delete()
    (sentence,) = review_warnings(Submission(), [run])
    assert sentence.startswith("One of /dev/nvme0n1, /dev/zram10 is not a physical drive: ")


def test_names_and_sizes_of_a_withheld_log_are_not_shown():
    devices = [{"name": "/dev/zram1", "size_bytes": 10**9}]
    reading = Reading(evidence=Evidence(sequestered=True))
    run = Run(facts={"devices": devices, "is_virtual_device": True}, reading=reading)
    assert size_sentences(Submission(capacity_gb=1000), [run]) == []
    assert review_warnings(Submission(capacity_gb=1000), [run]) == [WITHHELD]


def test_an_unrecognised_device_gives_no_warning():
    run = Run(facts={"devices": [{"name": "/dev/nvme0n1", "size_bytes": 10**9}], "is_virtual_device": False})
    assert review_warnings(Submission(), [run]) == []


GB = 10**9


def sentences(size_bytes, over_provisioning_pct=None, capacity_gb=1000):
    submission = Submission(capacity_gb=capacity_gb, over_provisioning_pct=over_provisioning_pct)
    run = Run(facts={"devices": [{"name": "/dev/nvme0n1", "size_bytes": size_bytes, "minimum_io_bytes": 512}]})
    return size_sentences(submission, [run, run])


@pytest.mark.parametrize("size_bytes", [900 * GB, 1100 * GB])
def test_a_device_of_about_the_size_of_the_drive_gives_no_warning(size_bytes):
    assert sentences(size_bytes) == []


@pytest.mark.parametrize("size_bytes", [900 * GB - 1, 1100 * GB + 1])
def test_another_size_is_reported_once_with_both_sizes(size_bytes):
    (listed,) = sentences(size_bytes)
    assert listed.startswith("/dev/nvme0n1 has ")
    assert "the stated drive has 1\N{NO-BREAK SPACE}TB" in listed


@pytest.mark.parametrize(("size_bytes", "is_told"), [(720 * GB, False), (720 * GB - 1, True)])
def test_stated_over_provisioning_reduces_the_expected_size(size_bytes, is_told):
    assert bool(sentences(size_bytes, Decimal(20))) is is_told


@pytest.mark.parametrize("unknown", [{"capacity_gb": None}, {"size_bytes": None}])
def test_unknown_sizes_give_no_warning(unknown):
    assert sentences(**{"size_bytes": GB} | unknown) == []


def test_devices_of_the_same_size_are_listed_in_one_sentence():
    devices = [{"name": f"/dev/zram{number}", "size_bytes": GB, "minimum_io_bytes": 512} for number in range(1, 5)]
    other = {"name": "/dev/sda", "size_bytes": 2 * GB, "minimum_io_bytes": 512}
    listed = size_sentences(Submission(capacity_gb=1000), [Run(facts={"devices": [*devices, other]})])
    assert len(listed) == 2
    assert any(each.startswith("/dev/zram1, /dev/zram2, /dev/zram3, /dev/zram4 have ") for each in listed)
    assert any(each.startswith("/dev/sda has ") for each in listed)


@pytest.mark.parametrize(("count", "ending"), [(8, "/dev/x7 have "), (9, "/dev/x7 and 1 more have ")])
def test_only_the_first_of_very_many_devices_are_named(count, ending):
    devices = [{"name": f"/dev/x{number}", "size_bytes": GB, "minimum_io_bytes": 512} for number in range(count)]
    (listed,) = size_sentences(Submission(capacity_gb=1000), [Run(facts={"devices": devices})])
    assert ending in listed
