"""Pages with more, fewer or larger figures than usual."""

from decimal import Decimal
from types import SimpleNamespace

from results.models import Run
from webapp.register.runs.charts.over_time import requested_reads_per_s
from webapp.register.ycsb.fixed_points import _pairs


def test_a_third_drive_on_one_level_is_compared_with_the_first_too():
    stated = [SimpleNamespace(row=SimpleNamespace(model=model, workload="a", metric="avg")) for model in "CAB"]
    figures = SimpleNamespace(drives=["A", "B", "C"])
    pairs = _pairs(figures, stated, lambda _: 1)
    assert [(drive.row.model, base.row.model) for drive, base in pairs] == [("A", "B"), ("A", "C")]


def test_a_rate_of_400_digits_in_a_header_is_rejected():
    facts = {"derived": [["internal-read-reqs-per-sec", "9" * 400]]}
    run = Run(workload="act-storage", facts=facts, reads_per_s=Decimal(600))
    assert requested_reads_per_s(run) == 600
