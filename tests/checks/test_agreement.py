"""docs/reference/agreement.md against the results of benchmarks/act_agreement.py on the real logs."""

import subprocess
import sys

import pytest
from django.conf import settings

from tests.results.fixtures import real_reader

__all__ = ["real_reader"]

SCRIPT = settings.BASE_DIR / "benchmarks/act_agreement.py"
PAGE = settings.BASE_DIR / "docs/reference/agreement.md"
MARKER = "<!-- below"
TABLES = "tests/data/act/5.0"


def agreement(*arguments):
    command = [sys.executable, SCRIPT, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_page_has_the_results_of_the_logs(real_reader):
    fresh = agreement("--drivetest", real_reader)
    assert fresh.returncode == 0, fresh.stderr
    assert PAGE.read_text().partition(MARKER)[2] == fresh.stdout.removeprefix(MARKER)


@pytest.fixture
def folder(tmp_path):
    """Return a folder with one log and a table of upstream, without an index."""
    (tmp_path / "5.0").mkdir()
    for name in ["four-us.log", "four-us.latency.txt"]:
        (tmp_path / "5.0" / name).write_bytes((settings.BASE_DIR / TABLES / name).read_bytes())
    return tmp_path


def test_a_folder_without_an_index_is_recognised_by_its_tables(real_reader, folder):
    found = agreement(folder, "--drivetest", real_reader)
    assert "| 5.0/four-us.log | yes |" in found.stdout
    assert found.returncode == 0


def test_one_changed_digit_is_an_unexplained_difference(real_reader, folder):
    table = folder / "5.0" / "four-us.latency.txt"
    text = table.read_text()
    assert "  max " in text
    table.write_text(text.replace("  max   100.00", "  max    99.99"))
    found = agreement(folder, "--drivetest", real_reader)
    assert "1 unexplained" in found.stdout
    assert found.returncode == 1
