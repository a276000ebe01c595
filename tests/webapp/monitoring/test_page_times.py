import os
import subprocess
import sys

import pytest

from webapp.monitoring.page_times import HOST, count_pages, observe, page_times, remove_counts


@pytest.fixture(autouse=True)
def directory(settings, tmp_path):
    settings.METRICS_DIR = tmp_path / "counts"
    return settings.METRICS_DIR


def counts():
    """Return how many responses were counted by route and status class."""
    (family,) = page_times()
    return {
        (sample.labels["route"], sample.labels["status"]): sample.value
        for sample in family.samples
        if sample.name.endswith("_count")
    }


def respond(status, route=None):
    def application(environ, start_response):
        if route:
            environ["drivecert.route"] = route
        start_response(status, [])
        return [b""]

    return application


def ask(application, path="/"):
    return count_pages(application)({"PATH_INFO": path}, lambda *_: None)


def test_a_response_is_counted_by_route_and_status_class():
    ask(respond("200 OK", "home"))
    ask(respond("304 Not Modified", "home"))
    ask(respond("404 Not Found", "unrouted"))
    ask(respond("200 OK"))
    assert counts() == {("home", "2xx"): 1, ("home", "3xx"): 1, ("unrouted", "4xx"): 1, ("snapshot", "2xx"): 1}


def test_an_application_that_raises_is_counted_as_an_error():
    def fail(*_):
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        ask(fail)
    assert counts() == {("snapshot", "5xx"): 1}


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_probes_are_not_counted(path):
    ask(respond("200 OK"), path)
    assert [sample for family in page_times() for sample in family.samples] == []


OTHER = """
import os, signal, sys
from pathlib import Path
from django.conf import settings
settings.configure(METRICS_DIR=Path(sys.argv[1]))
from webapp.monitoring.page_times import observe
for _ in range(3):
    observe("home", "200 OK", 0.15)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_counts_of_a_killed_process_stay_in_the_sum(directory):
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", OTHER, str(directory)], check=False).returncode == -9
    observe("home", "200 OK", 0.03)
    assert counts() == {("home", "2xx"): 7}
    (family,) = page_times()
    buckets = {sample.labels["le"]: sample.value for sample in family.samples if "le" in sample.labels}
    assert (buckets["0.05"], buckets["0.1"], buckets["0.2"], buckets["+Inf"]) == (1, 1, 7, 7)
    assert len(list(directory.iterdir())) == 3


def test_a_page_does_not_fail_because_its_count_does(directory, settings, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    settings.METRICS_DIR = tmp_path / "file" / "counts"
    assert ask(respond("200 OK")) == [b""]
    assert "times of pages are not counted" in caplog.text


def test_a_start_removes_the_counts_of_ended_processes(directory):
    observe("home", "200 OK", 0.03)
    (own,) = directory.iterdir()
    parent = own.name.replace(f"-{os.getpid()}.db", f"-{os.getppid()}.db")
    for name in ("other", parent, f"histogram_{HOST}-{2**30}.db", f"histogram_elsewhere-{os.getppid()}.db"):
        (directory / name).write_bytes(b"")
    remove_counts(directory)
    assert sorted(path.name for path in directory.iterdir()) == sorted(["other", parent])
