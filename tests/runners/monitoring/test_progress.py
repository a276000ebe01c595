import random
from pathlib import Path

import pytest

from runners.hosts.protocol import ProgramState, ProgramStatus
from runners.models import Dispatch
from runners.monitoring.progress import (
    CHUNK_BYTES,
    SAMPLES_MAX,
    TAIL_BYTES,
    TAIL_LINES,
    Block,
    follow,
    last_error_line,
    last_record,
    parse_blocks,
    read_end,
    summarise,
    tail,
)
from runners.recipes.ycsb import progress as ycsb_columns
from tests.runners.fake_host import REAL_LOG, FakeHost

DATA = Path(__file__).parents[2] / "data/act/6.6"
BLOCK = b"after 1 sec:\nreads (10 total)\n (10: 0000000006) (11: 0000000004)\n\n"


def host_with(content):
    host = FakeHost()
    host.write_log("d-one", content)
    return host


def test_a_real_log_has_its_blocks():
    blocks = parse_blocks(REAL_LOG)
    assert [block.label_s for block in blocks] == list(range(1, 61))
    assert (blocks[0].reads_count, sum(blocks[0].buckets.values())) == (8010, 8010)


@pytest.mark.parametrize("cut", [1, 2, 20, 60])
def test_an_incomplete_block_is_not_counted(cut):
    assert [block.label_s for block in parse_blocks(REAL_LOG[:-cut])] == list(range(1, 60))


def test_nothing_is_read_from_a_header_alone():
    assert parse_blocks(REAL_LOG[: REAL_LOG.index(b"after 1 sec")]) == []


@pytest.mark.parametrize(("bucket", "over"), [(10, 0), (11, 1)])
def test_over_1_ms_begins_at_the_edge_that_a_microsecond_log_has(bucket, over):
    blocks = parse_blocks(b"after 1 sec:\nreads (1 total)\n (%02d: 0000000001)\n\n" % bucket)
    assert summarise({}, blocks, "us", 60)["shares"][0] == {
        "threshold_us": 1000,
        "read_at_us": 1024,
        "over_count": over,
        "share_pct": f"{100 * over:.2f}",
    }


@pytest.mark.parametrize(
    ("bucket", "over"), [(0, [0, 0, 0]), (1, [1, 0, 0]), (3, [1, 0, 0]), (4, [1, 1, 0]), (7, [1, 1, 1])]
)
def test_a_millisecond_log_has_the_thresholds_themselves_as_edges(bucket, over):
    blocks = parse_blocks(b"after 1 sec:\nreads (1 total)\n (%02d: 0000000001)\n\n" % bucket)
    assert [share["over_count"] for share in summarise({}, blocks, "ms", 60)["shares"]] == over


def test_the_samples_of_a_short_run_are_all_its_reports():
    blocks = parse_blocks(REAL_LOG)
    samples = summarise({}, blocks, "us", 60)["samples"]
    assert [sample[:2] for sample in samples] == [[block.label_s, block.reads_count] for block in blocks]
    over_1_ms = sum(count for bucket, count in blocks[0].buckets.items() if bucket > 10)
    assert samples[0][2] == over_1_ms > 0


@pytest.mark.parametrize("polls", [1, 7, 2880])
def test_the_samples_of_a_day_are_as_many_however_often_the_run_is_polled(polls):
    day_s, blocks = 86_400, [Block(label_s, label_s * 10, {11: label_s}, 0) for label_s in range(30, 86_401, 30)]
    shown, each = {}, -(-len(blocks) // polls)
    for first in range(0, len(blocks), each):
        shown = summarise(shown, blocks[first : first + each], "us", day_s)
    assert [sample[0] for sample in shown["samples"]] == list(range(600, day_s + 1, 600))
    assert len(shown["samples"]) == SAMPLES_MAX
    assert shown["samples"][-1] == [day_s, 10 * day_s, day_s, 0, 0]


def test_the_rate_is_of_the_last_interval():
    shown = summarise(
        {}, parse_blocks(BLOCK + BLOCK.replace(b"1 sec", b"6 sec").replace(b"10 total", b"35 total")), "us", 60
    )
    assert (shown["label_s"], shown["interval_s"], shown["interval_reads_count"]) == (6, 5, 25)
    assert shown["reads_per_s"] == "5.0"


def test_the_rate_continues_from_the_figures_shown_before():
    shown = summarise({"label_s": 0, "reads_count": 0}, parse_blocks(BLOCK), "us", 60)
    later = summarise(
        shown, parse_blocks(BLOCK.replace(b"1 sec", b"2 sec").replace(b"10 total", b"30 total")), "us", 60
    )
    assert later["reads_per_s"] == "20.0"


def test_no_reads_give_no_share():
    shown = summarise({}, parse_blocks(b"after 1 sec:\nreads (0 total)\n\n"), "us", 60)
    assert [share["share_pct"] for share in shown["shares"]] == ["", "", ""]


def test_without_new_blocks_the_figures_stay():
    assert summarise({"label_s": 3}, [], "us", 60) == {"label_s": 3}


def test_following_a_log_byte_by_byte_reads_every_block_once():
    labels, read_bytes = [], 0
    for size in range(0, len(REAL_LOG) + 1, 97):
        read_bytes, blocks = follow(host_with(REAL_LOG[:size]), "d-one", size, read_bytes)
        labels += [block.label_s for block in blocks]
    _, blocks = follow(host_with(REAL_LOG), "d-one", len(REAL_LOG), read_bytes)
    assert labels + [block.label_s for block in blocks] == list(range(1, 61))


def test_a_poll_that_is_far_behind_skips_to_the_last_blocks():
    content = REAL_LOG * (2 * CHUNK_BYTES // len(REAL_LOG))
    read_bytes, blocks = follow(host_with(content), "d-one", len(content), 0)
    assert (read_bytes, blocks[-1].label_s) == (len(content), 60)


def test_a_log_without_any_block_does_not_delay_the_polls():
    content = b"x" * (CHUNK_BYTES + 10)
    read_bytes, blocks = follow(host_with(content), "d-one", CHUNK_BYTES, 0)
    assert (read_bytes, blocks) == (CHUNK_BYTES, [])


def test_the_tail_is_the_last_lines_unchanged():
    lines = tail(host_with(REAL_LOG[:-30]), "d-one", len(REAL_LOG) - 30)
    assert lines == REAL_LOG[:-30].decode().splitlines()[-TAIL_LINES:]


def test_a_tail_that_is_no_text_is_shown():
    assert tail(host_with(b"\xff\n"), "d-one", 2) == ["\ufffd"]


def host_with_stderr(content):
    host = FakeHost()
    host.files["d-one"] = {"stderr": content}
    return host


def test_zeros_from_a_power_cut_are_shown_as_replacement_characters():
    assert tail(host_with(b"a\0b\n"), "d-one", 4) == ["a\ufffdb"]
    assert last_error_line(host_with_stderr(b"cannot\0write\n"), "d-one") == "cannot\ufffdwrite"


@pytest.mark.parametrize(("content", "line"), [(b"said\n\0\0\0", "said"), (b"\0" * 40, ""), (b"", "")])
def test_zeros_alone_are_no_error_line(content, line):
    assert last_error_line(host_with_stderr(content), "d-one") == line


def test_a_warning_from_before_the_load_is_no_error_line():
    warned = b"drivetest: warning: irqbalance does not run (irqbalance)\n"
    assert last_error_line(host_with_stderr(warned), "d-one") == ""
    assert last_error_line(host_with_stderr(b"drivetest: read failed\n" + warned), "d-one") == "read failed"


@pytest.mark.parametrize("warning_bytes", [0, TAIL_BYTES - 5, TAIL_BYTES, 3 * TAIL_BYTES])
def test_the_error_line_is_the_last_of_a_long_output(warning_bytes):
    assert last_error_line(host_with_stderr(b"w" * warning_bytes + b"\nthe end\n"), "d-one") == "the end"


def test_the_last_whole_record_of_a_kind_is_found():
    chunk = b'9}\n{"record": "progress", "done_bytes": 1}\n{"record": "round"}\n{"record": "progress", "done_by'
    assert last_record(chunk, "progress") == {"record": "progress", "done_bytes": 1}
    assert last_record(chunk, "end") is None
    assert last_record(b"", "progress") is None


STATUS = "2026-11-21 02:56:33:287 10 sec: 120000 operations; 12000.5 current ops/sec; [READ: Count=1]\n"
STARTING = "2026-11-21 02:56:23:287 0 sec: 0 operations; est completion in 0 second\n"


@pytest.mark.parametrize(
    ("stderr", "shown"),
    [
        (STARTING + STATUS, {"elapsed_s": 10, "done_ops_count": 120000, "ops_per_s": "12000.5"}),
        (STARTING, {"elapsed_s": 0, "done_ops_count": 0}),
        ("YCSB Client 0.17.0\n", {}),
    ],
)
def test_a_client_shows_its_last_status_line(stderr, shown):
    fake = FakeHost()
    fake.files["d-1.load"] = {"stderr": stderr.encode(), "log": b"x"}
    status = ProgramStatus(ProgramState.RUNNING, log_bytes=1)
    columns = ycsb_columns(Dispatch(), fake, "d-1.load", status)
    assert columns["progress"]["ycsb"] == {"stage": "load", "read_bytes": len(stderr)} | shown


def test_status_lines_are_read_once_while_the_client_has_no_output():
    fake, status, dispatch = FakeHost(), ProgramStatus(ProgramState.RUNNING, log_bytes=0), Dispatch(log_bytes=0)
    fake.files["d-1.run"] = {"stderr": (STARTING + STATUS[:60]).encode()}
    dispatch.progress = ycsb_columns(dispatch, fake, "d-1.run", status)["progress"]
    assert dispatch.progress["ycsb"]["read_bytes"] == len(STARTING)
    assert ycsb_columns(dispatch, fake, "d-1.run", status) == {}
    fake.files["d-1.run"]["stderr"] = b"~" * len(STARTING) + STATUS.encode()
    dispatch.progress = ycsb_columns(dispatch, fake, "d-1.run", status)["progress"]
    assert dispatch.progress["ycsb"]["done_ops_count"] == 120000


def test_a_stage_begins_without_figures_of_the_previous_one():
    fake, status = FakeHost(), ProgramStatus(ProgramState.RUNNING, log_bytes=0)
    dispatch = Dispatch(log_bytes=9, progress={"ycsb": {"stage": "load", "done_ops_count": 7, "read_bytes": 9}})
    assert ycsb_columns(dispatch, fake, "d-1.run", status)["progress"]["ycsb"] == {"stage": "run", "read_bytes": 0}


def poll_client(fake, dispatch, stage="load"):
    columns = ycsb_columns(dispatch, fake, f"d-1.{stage}", ProgramStatus(ProgramState.RUNNING, log_bytes=1))
    dispatch.progress = columns["progress"]
    return columns["progress"]["ycsb"]


class NoFetch(FakeHost):
    """Fail on a whole file: its log may cover a day, so a poll must not fetch it."""

    longest = 0

    def fetch(self, run, file):
        pytest.fail(f"{run}/{file} was fetched")

    def read(self, run, file, offset, limit):
        piece = super().read(run, file, offset, limit)
        self.longest = max(self.longest, len(piece)) if file == "stderr" else self.longest
        return piece


def test_a_poll_of_a_client_reads_only_new_status_lines():
    fake, dispatch = NoFetch(), Dispatch()
    files = fake.files["d-1.load"] = {"log": b"x", "stderr": (STARTING + STATUS[:30]).encode()}
    assert poll_client(fake, dispatch)["elapsed_s"] == 0
    files["stderr"] = (STARTING + STATUS).encode()
    fake.longest = 0
    assert poll_client(fake, dispatch)["done_ops_count"] == 120000
    assert fake.longest == len(STATUS)
    assert poll_client(fake, dispatch)["done_ops_count"] == 120000


def test_the_next_stage_of_a_client_is_read_from_its_beginning():
    fake, dispatch = NoFetch(), Dispatch()
    fake.files["d-1.load"] = {"log": b"x", "stderr": (STARTING + STATUS).encode()}
    fake.files["d-1.run"] = {"log": b"x", "stderr": STARTING.encode()}
    poll_client(fake, dispatch)
    assert poll_client(fake, dispatch, "run") == {
        "stage": "run", "read_bytes": len(STARTING), "elapsed_s": 0, "done_ops_count": 0
    }  # fmt: skip


def test_a_long_output_of_a_client_is_read_piece_by_piece():
    fake, dispatch = NoFetch(), Dispatch()
    fake.files["d-1.load"] = {"log": b"x", "stderr": b"x" * (2 * CHUNK_BYTES) + b"\n" + STATUS.encode()}
    assert poll_client(fake, dispatch)["done_ops_count"] == 120000
    assert fake.longest == CHUNK_BYTES


@pytest.mark.parametrize("length", [0, 1, TAIL_BYTES - 1, TAIL_BYTES, TAIL_BYTES + 1, 5 * TAIL_BYTES + 7, 10**6])
def test_the_end_of_a_file_of_any_length_is_found_without_fetching_it(length):
    content = random.Random(length).randbytes(length)  # noqa: S311 - no secret
    fake = NoFetch()
    fake.files["d-1"] = {"stderr": content}
    assert read_end(fake, "d-1", "stderr") == content[-TAIL_BYTES:]
    assert fake.longest <= TAIL_BYTES
