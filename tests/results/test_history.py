import re
from pathlib import Path

from results.history import EVENT_LABELS, event_label

ROOT = Path(__file__).parents[2]


def test_every_kind_of_public_event_has_a_label():
    subjects = "run|product|alias|maker|annotation|objection|takedown|correction|certificate|claims?|submission-slices"
    subjects += "|submission-link|submission-file"
    kind = re.compile(rf'"((?:{subjects})-[a-z]+(?:-[a-z]+)*)"')
    sources = [
        path
        for path in (ROOT / "results").rglob("*.py")
        if path.name != "event_labels.py" and "migrations" not in path.parts
    ]
    recorded = {found for path in sources for found in kind.findall(path.read_text())}
    assert recorded == {each for each in EVENT_LABELS if not each.startswith("host-")}


def test_each_label_of_a_host_is_of_an_event_that_the_lab_records():
    source = "".join(path.read_text() for path in (ROOT / "runners").rglob("*.py"))
    assert [each for each in EVENT_LABELS if each.startswith("host-") and f'"{each}"' not in source] == []


def test_an_unknown_kind_is_shown_by_its_name():
    assert event_label("identity-named") == "identity named"
