import pytest

from results.models import Run, Submission
from webapp.submissions.grave import grave_sentences


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["/dev/zram1"], "/dev/zram1 is no drive by its name: "),
        (["/dev/zram1", "/dev/zram2"], "/dev/zram1, /dev/zram2 are no drives by their names: "),
    ],
)
def test_devices_that_are_no_drives_are_weighed_in_one_sentence(names, told):
    devices = [{"name": name, "size_bytes": 10**9} for name in names]
    run = Run(facts={"devices": devices, "is_virtual_device": True})
    (sentence,) = grave_sentences(Submission(), [run, run])
    assert sentence.startswith(told)


def test_nothing_speaks_against_a_device_that_its_name_does_not_betray():
    run = Run(facts={"devices": [{"name": "/dev/nvme0n1", "size_bytes": 10**9}], "is_virtual_device": False})
    assert grave_sentences(Submission(), [run]) == []
