import re
from pathlib import Path

from results.history import EVENT_LABELS, event_label

ROOT = Path(__file__).parents[2]


def test_every_kind_of_event_on_runs_and_certificates_has_its_words():
    kind = re.compile(r'"((?:run|annotation|correction|certificate|submission-slices)-[a-z]+(?:-[a-z]+)*)"')
    sources = [
        path
        for path in (ROOT / "results").rglob("*.py")
        if path.name != "event_labels.py" and "migrations" not in path.parts
    ]
    told = {found for path in sources for found in kind.findall(path.read_text())}
    assert told == set(EVENT_LABELS)


def test_another_kind_is_called_by_its_own_name():
    assert event_label("identity-named") == "identity named"
