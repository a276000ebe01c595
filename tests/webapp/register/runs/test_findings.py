import pytest

from results.models import Finding
from webapp.register.runs.page import in_order, shared_by_all


def finding(severity, ordinal=0, rule="stall", sentence="It stood still."):
    return Finding(severity=severity, ordinal=ordinal, rule_id=rule, sentence=sentence)


def test_decisive_findings_come_first_and_notes_last():
    findings = [finding("note", 0), finding("look", 1), finding("decides", 2), finding("look", 3)]
    assert [each.ordinal for each in in_order(findings)] == [2, 1, 3, 0]


@pytest.mark.parametrize(("second", "is_shared"), [("It stood still.", True), ("It stood still for 2 s.", False)])
def test_a_finding_is_shared_if_every_run_has_the_same_sentence(second, is_shared):
    runs = [[finding("look")], [finding("look", sentence=second), finding("note", rule="crash")]]
    assert shared_by_all(runs) == ({("stall", "It stood still.")} if is_shared else set())


def test_a_single_run_has_no_shared_finding():
    assert shared_by_all([[finding("look")]]) == set()
