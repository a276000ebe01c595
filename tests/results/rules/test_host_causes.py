"""Ids of host causes in words: the same ids as drivetest and its documentation, in any stored headline."""

import re

import pytest
from django.conf import settings

from results.rules.host_causes import HOST_CAUSES, with_causes_in_words

FINDINGS_RS = settings.BASE_DIR / "runners/drivetest/crates/logs/src/act/side_file/findings.rs"
CLAUSE = "fails: slice 2; the host may be the cause: "


def test_the_ids_are_those_of_drivetest_and_documented():
    names = re.search(r"OF_HOST: \[&str; \d+\] = \[(.+?)\]", FINDINGS_RS.read_text())[1]
    ids = {name.lower().replace("_", "-") for name in re.findall(r"rule::(\w+)\.id", names)}
    assert ids == set(HOST_CAUSES)
    documented = (settings.BASE_DIR / "docs/reference/findings.md").read_text()
    assert all(f"| `{each}` |" in documented for each in ids)


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ("host-busy", "the processors of the host were busy"),
        (
            "generator-late, host-busy and host-stolen",
            "the load generator was late, the processors of the host were busy and other machines used the processors "
            "of the host",
        ),
        ("host-cold", "host-cold"),
        ("host-busy and host-cold", "the processors of the host were busy and host-cold"),
    ],
)
@pytest.mark.parametrize("rest", ["", " [drivetest 0.4.0, host-busy] -> passes"])
def test_ids_become_words_and_what_follows_stays(ids, words, rest):
    assert with_causes_in_words(f"{CLAUSE}{ids}{rest}") == f"{CLAUSE}{words}{rest}"


def test_an_id_elsewhere_stays():
    assert with_causes_in_words("void: line 3: generator-late") == "void: line 3: generator-late"
