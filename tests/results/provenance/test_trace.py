import gzip
import lzma
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from results.ingest.queue import sweep
from results.models import Run
from results.provenance.trace import trace
from results.rules.act.limits import shown_share
from tests.results.builders import log_bytes, make_organisation, send
from tests.results.rows import make_product, make_run

pytestmark = pytest.mark.django_db
LINES = log_bytes("four-us").decode().splitlines()


def traced_run(content):
    submission = send(make_organisation(), content)
    sweep()
    return submission.runs.get()


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_the_requested_load_is_traced_to_its_line_in_logs_of_every_compression(evidence_dir, real_reader, pack):
    run = traced_run(log_bytes("four-us"))
    run.reading.evidence = send(run.submission.organisation, pack(log_bytes("four-us"))).log
    origins = {each.name: each.origin for each in trace(run)}
    line = LINES.index("read-reqs-per-sec: 8000") + 1
    assert f"line {line}: read-reqs-per-sec: 8000" in origins["tps"]
    assert origins["device_count"].startswith(f"line {LINES.index('num-devices: 4') + 1}: num-devices: 4")


def test_a_share_is_traced_to_the_lines_of_its_slice(evidence_dir, real_reader):
    run = traced_run(log_bytes("four-us"))
    worst = run.shares.get(statistic="worst-slice", threshold_us=1000)
    (worst_share,) = [each for each in trace(run) if each.name == "share worst-slice over 1000 us"]
    assert (worst.printed, worst_share.value) == ("0.00", "<0.01 %"), "as the run's page shows a share above zero"
    first, last = map(int, re.search(r"lines (\d+) to (\d+)$", worst_share.origin).groups())
    assert LINES[first - 1].startswith("after ")
    assert f"{worst.over_count} of {worst.ops_count} operations, read at 1024 us" in worst_share.origin
    assert first < last <= len(LINES)


def test_the_trace_has_every_share_and_its_inputs(evidence_dir, real_reader):
    run = traced_run(log_bytes("four-us"))
    traced = list(trace(run))
    shares = run.shares.order_by("statistic", "threshold_us")
    values = [f"{shown_share(share.printed, share.over_count)} %" for share in shares]
    assert [each.value for each in traced if each.name.startswith("share ")] == values
    inputs = " ".join(f"{each.value} {each.origin}" for each in traced[:4])
    for expected in (run.reading.evidence.sha256, run.verdicts.get().profile.sha256, run.reading.reader_version):
        assert expected in inputs


def test_a_missing_log_is_reported(evidence_dir, real_reader, settings, tmp_path):
    run = traced_run(log_bytes("four-us"))
    settings.EVIDENCE_DIR = tmp_path / "elsewhere"
    origins = {each.name: each.origin for each in trace(run)}
    assert "line not looked up" in origins["tps"]


def test_a_published_run_is_traced_to_its_row():
    run = make_run(make_product(), source="Aerospike", source_row="| EX4 | 300,000 |", tps=300_000)
    assert [(each.name, each.value) for each in trace(run)] == [("source", "Aerospike"), ("tps", "300000")]


def test_the_command_prints_the_trace_and_refuses_an_unknown_run():
    run, output = make_run(make_product(), source="Aerospike", source_row="| EX4 |"), StringIO()
    call_command("trace", run.public_id, stdout=output)
    assert output.getvalue() == "source: Aerospike\n    published without a log; row as printed: | EX4 |\n"
    assert not Run.objects.filter(public_id="r-nothere").exists()
    with pytest.raises(CommandError, match="r-nothere: expected the id of a run"):
        call_command("trace", "r-nothere")
