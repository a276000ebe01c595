"""The comparison of two recordings: every difference except that of a sentence is listed."""

import json
import subprocess
import sys

from tests.regression import compare


def found(old, new):
    return list(compare.differences({"/": old}, {"/": new}))


def test_equal_records_have_no_difference():
    assert found({"status": 200, "ids": ["a"]}, {"status": 200, "ids": ["a"]}) == []


def test_another_sentence_is_equal_and_a_missing_one_is_a_difference():
    assert found({"headline": "fails"}, {"headline": "FAIL"}) == []
    assert found({"headline": "fails"}, {}) == ['/ .headline: "<text>" -> (missing)']
    assert found({"headline": "fails"}, {"headline": None}) == ['/ .headline: "<text>" -> null']


def test_another_number_type_or_status_is_a_difference():
    assert found({"status": 200}, {"status": 404}) == ["/ .status: 200 -> 404"]
    assert found({"tps": 1}, {"tps": "1"}) == ['/ .tps: 1 -> "1"']
    assert found({"is_public": True}, {"is_public": 1}) == ["/ .is_public: true -> 1"]


def test_a_difference_of_lists_shows_removed_and_added_names():
    assert found({"links": ["a", "b", "c"]}, {"links": ["a", "d"]}) == ['/ .links: ["b", "c"] -> ["d"]']


def test_the_order_and_number_of_values_matter():
    assert found({"figures": [1, 2]}, {"figures": [2, 1]}) != []
    assert found({"ids": ["a", "a"]}, {"ids": ["a"]}) != []


def test_an_address_of_only_one_side_is_a_difference():
    assert list(compare.differences({"/a": {}}, {"/b": {}})) == ["/a: only before", "/b: only after"]


def test_names_that_begin_with_an_underscore_are_not_compared():
    assert found({"_text": "old"}, {"_text": "new"}) == []


def test_a_renamed_name_is_not_a_difference(tmp_path):
    (tmp_path / "before").write_text('{"address": "/", "data": ["data-old=1", "data-older=2"]}\n')
    assert compare.load(tmp_path / "before", ["data-old=data-new"])["/"]["data"] == ["data-new=1", "data-older=2"]


def test_the_command_exits_with_1_if_there_is_a_difference(tmp_path):
    for name, status in (("before", 200), ("same", 200), ("after", 500)):
        (tmp_path / name).write_text(json.dumps({"address": "/", "status": status}) + "\n")
    same, other = [run(tmp_path / "before", tmp_path / name) for name in ("same", "after")]
    assert (same.returncode, same.stdout) == (0, "no differences\n")
    assert (other.returncode, other.stdout) == (1, "/ .status: 200 -> 500\n1 differences\n")


def run(*paths):
    return subprocess.run([sys.executable, compare.__file__, *paths], capture_output=True, text=True, check=False)
