"""Charts of a run that is measured now: what their bars and lines mean, from counts made by hand."""

import re
from decimal import Decimal

import pytest

from runners.models import Dispatch
from runners.models.states import State
from tests.runners.lab import poll_state
from webapp.lab.dispatches.charts import live_charts

# Until 10 s 100 reads, 5 of them over 1 ms; until 20 s 300 and 15; the last report is at 25 s.
PROGRESS = {
    "label_s": 25,
    "reads_count": 350,
    "shares": [{"over_count": 15}, {"over_count": 0}, {"over_count": 0}],
    "samples": [[10, 100, 5, 0, 0], [20, 300, 15, 0, 0]],
}
SHARES = [{"threshold_us": 1000, "limit_pct": Decimal(5)}]


def titles(chart):
    return re.findall(r"<title>([^<]*)</title>", chart.picture)


def charts(progress=PROGRESS, requested=Decimal(10), duration_s=100):
    return live_charts(Dispatch(progress=progress, duration_s=duration_s), SHARES, requested)


def test_each_bar_is_of_the_reads_between_two_samples():
    rate, share = charts()
    assert titles(rate) == ["0-10\N{NO-BREAK SPACE}s: 10.0 reads/s", "10-20\N{NO-BREAK SPACE}s: 20.0 reads/s",
                            "20-25\N{NO-BREAK SPACE}s: 10.0 reads/s"]  # fmt: skip
    assert titles(share) == ["0-10\N{NO-BREAK SPACE}s: 5 %", "10-20\N{NO-BREAK SPACE}s: 5 %",
                             "20-25\N{NO-BREAK SPACE}s: 0 %"]  # fmt: skip


def test_the_time_axis_has_the_ordered_duration():
    rate, _ = charts()
    assert 'x="0" width="100"' in rate.picture  # 10 of 100 s are a tenth of 1000
    assert ">100</text>" in rate.picture


def test_the_lines_are_the_requested_rate_and_the_limit():
    rate, share = charts()
    assert rate.unit == "reads/s, 10 requested"
    assert share.unit == "% of reads, limit 5 % in any slice"
    assert all('class="limit"' in chart.picture for chart in (rate, share))


def test_without_a_requested_rate_there_is_no_line():
    rate, _ = charts(requested=None)
    assert rate.unit == "reads/s"
    assert 'class="limit"' not in rate.picture


def test_an_interval_without_reads_has_a_rate_of_0_and_no_share():
    rate, share = charts(PROGRESS | {"label_s": 20, "samples": [[10, 0, 0, 0, 0], [20, 350, 15, 0, 0]]})
    assert titles(rate)[0] == "0-10\N{NO-BREAK SPACE}s: 0.0 reads/s"
    assert titles(share) == ["10-20\N{NO-BREAK SPACE}s: 4.29 %"]


def test_a_report_with_the_time_of_the_last_sample_is_no_bar_of_its_own():
    rate, _ = charts(PROGRESS | {"label_s": 20, "reads_count": 301})
    assert len(titles(rate)) == 2


@pytest.mark.parametrize("progress", [{}, {"tail": ["a line"]}, {key: PROGRESS[key] for key in ("label_s", "shares")}])
def test_a_run_without_samples_has_no_charts(progress):
    assert charts(progress) == []


@pytest.mark.django_db
def test_the_page_draws_the_charts_while_the_run_grows(lab_client, in_state, dispatch, connect, fake):
    address = f"/lab/dispatches/{dispatch.public_id}/"
    assert poll_state(dispatch, connect) == State.RUNNING
    in_state(State.RUNNING, heartbeat_at=None)
    assert "By time" not in lab_client.get(address).text
    fake.write_log(dispatch.public_id, b"after 1 sec:\nreads (10 total)\n (10: 0000000006) (11: 0000000004)\n\n")
    poll_state(dispatch, connect)
    text = lab_client.get(address).text
    assert "<title>0-1\N{NO-BREAK SPACE}s: 10.0 reads/s</title>" in text
    assert "<title>0-1\N{NO-BREAK SPACE}s: 40 %</title>" in text
