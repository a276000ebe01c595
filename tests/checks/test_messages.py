"""Decisions by the text of the product's own messages, which are forbidden: states, reasons and kinds are codes."""

import ast
import subprocess

import pytest
from django.conf import settings

MESSAGES = {"reason", "sentence", "headline", "message", "detail", "remedy", "error"}
TEXT_METHODS = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "find"}
PATTERN_METHODS = {"match", "search", "fullmatch", "findall", "finditer"}
LOOKUPS = {
    f"{name}__{how}" for name in MESSAGES for how in ("contains", "startswith", "endswith", "regex", "icontains")
}
# The adapters and the other places that may read such a text, each with its reason.
ALLOWED = {
    ("runners/models/exit_codes.py", "document['reason'].startswith(text)"): "adapter for hosts with drivetest 0.2",
    ("webapp/register/runs/verdict.py", "verdict.sentence.removeprefix(verdict.get_outcome_display())"): "shows parts",
    ("webapp/register/runs/verdict.py", "reason not in verdict.headline"): "leaves out a reason that is shown already",
    ("webapp/register/runs/verdict.py", "STORED_SHARE.search(sentence)"): "places a link in the text",
    ("webapp/register/runs/verdict.py", "sentence.find(text, place)"): "places a link in the text",
    ("webapp/embedded.py", "'password authentication failed' in str(error)"): "a message of PostgreSQL, without a code",
    ("webapp/submissions/page.py", "'limits' not in reading.error"): "the error is a JSON object, this is its key",
    ("webapp/submissions/approvals.py", "sentence not in accepted"): "a reviewer confirms the text that was shown",
}


def is_message(node):
    """Return whether an expression is the text of a message, by its name."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
        return is_message(node.args[0])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return is_message(node.func.value) and node.func.attr in {"lower", "strip", "casefold", "removeprefix"}
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value in MESSAGES
    return getattr(node, "attr", getattr(node, "id", "")) in MESSAGES


def reads_a_message(node):
    """Return whether an expression reads the text of a message."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in TEXT_METHODS and is_message(node.func.value):
            return True
        return node.func.attr in PATTERN_METHODS and any(map(is_message, node.args))
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return is_message(node.left) or is_message(node.comparators[0])
    return isinstance(node, ast.keyword) and node.arg in LOOKUPS


def found_in(source):
    return [ast.unparse(node) for node in ast.walk(ast.parse(source)) if reads_a_message(node)]


def product_files():
    listed = ["git", "-C", settings.BASE_DIR, "ls-files", "results", "webapp", "runners"]
    paths = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()
    return [path for path in paths if path.endswith(".py") and "/migrations/" not in path]


def test_no_code_decides_by_the_text_of_a_message():
    found = {(path, each) for path in product_files() for each in found_in((settings.BASE_DIR / path).read_text())}
    assert sorted(found - set(ALLOWED)) == []
    assert sorted(set(ALLOWED) - found) == [], "these places are gone; remove them from ALLOWED"


@pytest.mark.parametrize(
    "source",
    [
        "step.reason.startswith('no answer')", "'mounted' in finding['sentence']", "re.match('x', error.message)",
        "str(error).endswith('full')", "steps.filter(reason__startswith='lost')", "PATTERN.search(run.headline)",
    ],
)  # fmt: skip
def test_a_decision_by_a_message_is_found(source):
    assert len(found_in(source)) == 1


@pytest.mark.parametrize(
    "source", ["step.kind == 'lost'", "error.errno in FULL", "name.startswith('/dev/')", "print(error)"]
)
def test_other_decisions_are_not_found(source):
    assert found_in(source) == []
