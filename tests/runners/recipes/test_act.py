from decimal import Decimal

import pytest

from runners.models import Device, Dispatch
from runners.recipes.act import STORAGE, unit


def make(path="/dev/nvme0n1", nx_load="1", **options):
    device = Device(path=path, size_bytes=64 * 1024 * 1024)
    return Dispatch(device=device, nx_load=Decimal(nx_load), duration_s=60, slice_length_s=10, options=options)


def test_a_drive_is_loaded_by_the_keys_of_act():
    assert STORAGE.config_text(make(nx_load="466.67")) == (
        "device-names: /dev/nvme0n1\ntest-duration-sec: 60\nreport-interval-sec: 1\nmicrosecond-histograms: yes\n"
        "read-reqs-per-sec: 933340\nwrite-reqs-per-sec: 466670\nrecord-bytes: 1536\n"
    )


def test_a_plain_file_comes_with_its_size():
    assert "device-names: /srv/drive.img\nfile-size-mbytes: 64\n" in STORAGE.config_text(make("/srv/drive.img"))


def test_options_are_sent_as_ordered():
    text = STORAGE.config_text(
        make(report_interval_s=5, record_bytes=512, microsecond_histograms=False, service_threads=7)
    )
    for line in ("report-interval-sec: 5", "record-bytes: 512", "microsecond-histograms: no", "service-threads: 7"):
        assert f"{line}\n" in text


@pytest.mark.parametrize(("load", "reads"), [("0.001", "2"), ("0.5", "1000")])
def test_a_small_load_is_whole_requests(load, reads):
    assert f"read-reqs-per-sec: {reads}\n" in STORAGE.config_text(make(nx_load=load))


@pytest.mark.parametrize("load", ["0.0005", "1.0001", "0", "-1"])
def test_a_load_without_whole_requests_is_a_bug_of_the_order(load):
    with pytest.raises(ValueError, match="whole number"):
        STORAGE.config_text(make(nx_load=load))


def test_the_drive_that_was_bound_is_the_one_that_may_be_loaded():
    assert STORAGE.argv(Dispatch(drive_key="nvme:X:1"))[-2:] == ["--expect-drive", "nvme:X:1"]


def test_the_unit_follows_the_option():
    assert unit(make()) == "us"
    assert unit(make(microsecond_histograms=False)) == "ms"
