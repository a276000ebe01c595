"""Several YCSB runs in one submission: a table, with common values shown once."""

import copy

import pytest

from results.ingest.queue import sweep
from tests.results.builders import link_key, send
from tests.results.documents import YCSB_LOG, YCSB_RUN, answer_with, document_of

pytestmark = pytest.mark.django_db

OWN = {"id": "ycsb-failed", "severity": "decides", "line": 40, "sentence": "Two failed.", "remedy": ""}


@pytest.fixture
def make_page(evidence_dir, program, tmp_path, exemplar, vera, client):
    """Return a function that reads runs of these threads and returns their submission's page."""

    def make(*threads):
        runs = [copy.deepcopy(YCSB_RUN) | {"ordinal": at, "threads_count": n} for at, n in enumerate(threads)]
        runs[-1]["findings"].append(OWN)
        answer_with(program, tmp_path, document_of(YCSB_LOG, ycsb_runs=runs))
        submission = send(exemplar, YCSB_LOG, vera)
        sweep()
        return client.get(f"/submissions/{submission.public_id}/?key={link_key(submission)}").text

    return make


def test_runs_are_ordered_by_their_threads(make_page):
    text = make_page(64, 8)
    table = text[text.index("Sweep") : text.index("What the reader found")]
    assert table.index('<td class="n">8</td>') < table.index('<td class="n">64</td>')
    assert table.count("<b>6,525") == 2
    assert table.count("<td>READ</td>") == 2


def test_common_values_of_all_runs_are_shown_once(make_page):
    text = make_page(8, 64)
    assert (text.count("Few samples."), text.count("Two failed."), text.count("Findings of all runs")) == (1, 1, 1)


def test_a_single_run_is_not_a_sweep(make_page):
    text = make_page(8)
    assert "Sweep" not in text
    assert (text.count("Few samples."), text.count("Findings of all runs")) == (1, 0)
    assert text.index("Two failed.") < text.index("Few samples.")
