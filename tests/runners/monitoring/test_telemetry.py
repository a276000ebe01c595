import json

import pytest

from runners.monitoring.progress import last_record, summarise_interval
from tests.runners.lab import poll

INTERVAL = {
    "record": "interval", "label_s": 5, "achieved_reads_per_s": "199.8", "lag_max_ns": 12,
    "telemetry": {"disks": [
        {"disk": "nvme0n1", "temperature": {"sensor": "nvme Composite", "celsius": 41, "limit_celsius": 70}},
        {"disk": "loop0", "temperature": None},
        {"disk": "sda", "temperature": {"sensor": "drivetemp temp1", "celsius": None, "limit_celsius": None}},
    ]},
}  # fmt: skip


def lines(*records):
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_the_last_whole_interval_is_taken():
    older = INTERVAL | {"label_s": 4}
    end = {"record": "end", "reason": "finished"}
    assert last_record(lines(older, INTERVAL, end)[7:], "interval")["label_s"] == 5
    assert last_record(lines(older) + lines(INTERVAL)[:-1], "interval")["label_s"] == 4


@pytest.mark.parametrize("chunk", [b"", b"\0\0\n", b"[1]\n", b'{"record": "start"}\n', b'{"record": "interval"'])
def test_without_an_interval_there_is_no_telemetry(chunk):
    assert last_record(chunk, "interval") is None


def test_values_that_the_host_does_not_report_are_left_out():
    shown = summarise_interval(INTERVAL)
    assert shown["achieved_reads_per_s"] == "199.8"
    assert [each["celsius"] for each in shown["temperatures"]] == [41]
    assert summarise_interval({"record": "interval"}) == {"temperatures": []}


@pytest.mark.django_db
def test_a_poll_stores_the_temperature_for_the_page(dispatch, connect, fake):
    poll(dispatch.pk, connect)
    fake.write_log(dispatch.public_id)
    fake.files[dispatch.public_id]["side.jsonl"] = lines(INTERVAL)
    poll(dispatch.pk, connect)
    dispatch.refresh_from_db()
    assert dispatch.progress["telemetry"]["temperatures"][0]["limit_celsius"] == 70
