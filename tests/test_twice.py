"""What failed beside others has one more try by itself, is told, and fails if it fails again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.twice import MOST, without_group

TWICE = Path(__file__).with_name("twice.py")

# As many tests as are asked for; each fails until it has been run as often as its directory is told.
TESTS = """
from pathlib import Path
import pytest

@pytest.mark.filterwarnings("ignore::pytest.PytestUnknownMarkWarning")
@pytest.mark.xdist_group("a.group")
@pytest.mark.parametrize("number", range({tests}), ids="n@{{}}".format)
def test_late(number):
    with open(f"runs-{{number}}", "a") as runs:
        runs.write("x")
    assert len(Path(f"runs-{{number}}").read_text()) > {failures}

def test_steady():
    open("steady", "x").close()
"""


@pytest.fixture
def twice(tmp_path):
    """Return what runs a directory of tests, `tests` of which fail the first `failures` times."""

    def run(tests, failures, *options):
        (tmp_path / "test_it.py").write_text(TESTS.format(tests=tests, failures=failures))
        shell = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "DJANGO_"))}
        shell["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        command = [sys.executable, str(TWICE), "-q", *options]
        return subprocess.run(command, cwd=tmp_path, env=shell, capture_output=True, text=True, check=False)

    return run


def test_a_test_that_passes_by_itself_is_told_and_passes(twice):
    end = twice(MOST, 1, "-p", "xdist", "-n", "1", "--dist", "loadgroup")
    assert end.returncode == 0, end.stdout
    told = [line.split()[1] for line in end.stdout.splitlines() if line.startswith("UNSTEADY ")]
    assert sorted(told) == [f"test_it.py::test_late[n@{number}]:" for number in range(MOST)]


def test_a_test_that_fails_again_fails(twice):
    end = twice(tests=1, failures=2)
    assert end.returncode == 1
    assert "UNSTEADY" not in end.stdout


def test_more_than_a_few_are_not_tried_again(twice):
    end = twice(tests=MOST + 1, failures=1)
    assert end.returncode == 1
    assert f"{MOST + 1} tests failed" in end.stdout


def test_what_all_passes_is_run_once(twice):
    end = twice(tests=1, failures=0)
    assert (end.returncode, "once more" in end.stdout) == (0, False)


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("a/test_b.py::test_c", "a/test_b.py::test_c"),
        ("a/test_b.py::test_c@tests.a.test_b", "a/test_b.py::test_c"),
        ("a/test_b.py::test_c[x@y]", "a/test_b.py::test_c[x@y]"),
        ("a/test_b.py::test_c[x@y]@browser", "a/test_b.py::test_c[x@y]"),
    ],
)
def test_a_name_loses_its_group(name, typed):
    assert without_group(name) == typed
