"""The table of test times, added up from the reports of pytest."""

import pytest

from scripts import test_times

CASE = """<testcase classname="tests.{folder}.test_a" name="{name}"><properties>
<property name="marks" value="{marks}"/><property name="worker" value="{worker}"/>
<property name="started" value="{started}"/><property name="ended" value="{ended}"/>
<property name="processor_s" value="0.5"/></properties></testcase>"""
CRASHED = '<testcase classname="tests.webapp.test_a" name="test_crashed"/>'


@pytest.fixture
def tests(tmp_path):
    cases = [
        CASE.format(folder="webapp.lab.hosts", name="test_one", marks="", worker="gw0", started=100, ended=103),
        CASE.format(folder="webapp.lab.hosts", name="test_two", marks="", worker="gw0", started=105, ended=106),
        CASE.format(folder="browser", name="test_three", marks="browser", worker="gw1", started=100, ended=120),
        CRASHED,
    ]
    report = tmp_path / "pytest.xml"
    report.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    return test_times.read_junit(report)


def rows_of(capsys):
    return [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:] if line]


def test_a_folder_has_the_sums_of_its_tests(tests, capsys):
    test_times.print_groups("folder", tests, lambda test: test.folder)
    assert rows_of(capsys) == [["tests/browser", "1", "20.0", "0.5"], ["tests/webapp/lab", "2", "4.0", "1.0"]]


def test_a_worker_is_idle_between_its_tests_and_after_its_last(tests, capsys):
    test_times.print_workers(tests)
    assert rows_of(capsys) == [["gw0", "2", "4.0", "2.0", "14.0"], ["gw1", "1", "20.0", "0.0", "0.0"]]
