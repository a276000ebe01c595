import json
import logging
import subprocess
import sys

import pytest

from results.logs.context import bound
from tests.register import ROOT
from webapp.logs.formatting import JSONFormatter, LineFormatter


def record(message, *arguments, **columns):
    return logging.makeLogRecord(
        {"name": "runners.poll", "levelname": "WARNING", "msg": message, "args": arguments, "created": 1.5} | columns
    )


def test_a_line_ends_with_the_ids():
    formatter = LineFormatter("%(levelname)s %(name)s: %(message)s")
    assert formatter.format(record("late")) == "WARNING runners.poll: late"
    with bound(request="r1", dispatch="d1"):
        assert formatter.format(record("late")) == "WARNING runners.poll: late [request=r1 dispatch=d1]"


def test_a_json_line_has_each_id_under_its_own_name():
    with bound(request="r1", host="3"):
        text = JSONFormatter().format(record("host %s: äöü\nis late", "lab", process=7))
    assert "\n" not in text
    assert json.loads(text) == {
        "time": "1970-01-01T00:00:01.500+00:00",
        "level": "WARNING",
        "logger": "runners.poll",
        "message": "host lab: äöü\nis late",
        "process": 7,
        "request": "r1",
        "host": "3",
    }


def test_a_json_line_has_the_trace_of_an_error():
    try:
        {}["missing"]
    except KeyError:
        line = json.loads(JSONFormatter().format(record("failed", exc_info=sys.exc_info())))
    assert "KeyError: 'missing'" in line["trace"]


PROGRAM = """
import logging, django
django.setup()
from results.logs.context import bound
with bound(reading=4):
    logging.getLogger("results").warning("waits")
"""


@pytest.mark.parametrize(("form", "is_json"), [("json", True), ("lines", False)])
def test_the_setting_chooses_the_form(form, is_json):
    command, environment = [sys.executable, "-c", PROGRAM], {"DJANGO_SETTINGS_MODULE": "webapp.settings"}
    done = subprocess.run(
        command, env=environment | {"LOG_FORMAT": form}, cwd=ROOT, capture_output=True, text=True, check=True
    )
    if is_json:
        assert json.loads(done.stderr).items() >= {"message": "waits", "reading": "4", "level": "WARNING"}.items()
    else:
        assert done.stderr.endswith("WARNING results: waits [reading=4]\n")


def test_an_unknown_form_stops_the_program():
    done = subprocess.run(
        [sys.executable, "-c", "import webapp.settings"],
        env={"LOG_FORMAT": "xml"},
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert b"LOG_FORMAT: expected lines or json, got 'xml'" in done.stderr
