"""The documents: valid links, and lines and paragraphs that are short enough to read."""

import re
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
LISTED = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
    cwd=ROOT, check=False, capture_output=True, text=True,
)  # fmt: skip
# An archive of the source has no history; there, all documents outside hidden and built folders are checked.
DOCUMENTS = [ROOT / name for name in LISTED.stdout.split()] or [
    path
    for path in ROOT.rglob("*.md")
    if not {"target", "node_modules"} & set(path.parts) and ".venv" not in path.parts
]
LINK = re.compile(r"\]\(([^()\s]+)\)")
LINE_CHARS = 120
PARAGRAPH_LINES = 5
LIST_ITEM = re.compile(r"\s*(?:[*+-]|\d+\.) ")


def without_code(text):
    """Return the text with the lines of code blocks empty, so that line numbers stay."""
    return re.sub(r"^ *```.*?^ *```$", lambda block: "\n" * block[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)


def anchors(path):
    """Return the anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", without_code(path.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(path):
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", without_code(path.read_text()))):
        if re.match(r"[a-z]+:|/", target):
            continue
        name, _, anchor = target.partition("#")
        place = (path.parent / name).resolve() if name else path
        if not place.exists() or (anchor and anchor not in anchors(place)):
            yield target


def long_paragraphs(path):
    """Yield the first line number of each paragraph or list item that has too many lines. Tables do not count."""
    lines, start = 0, 0
    for number, line in enumerate([*without_code(path.read_text()).split("\n"), ""], start=1):
        is_text = bool(line.strip()) and not line.lstrip().startswith(("|", "#", "<!--"))
        if not is_text or LIST_ITEM.match(line):
            if lines > PARAGRAPH_LINES:
                yield start
            lines = 0
        if is_text:
            start = start if lines else number
            lines += 1


def long_lines(path):
    for number, line in enumerate(without_code(path.read_text()).split("\n"), start=1):
        if len(line) > LINE_CHARS and not line.lstrip().startswith("|"):
            yield number


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_are_valid_and_lines_and_paragraphs_are_short(path):
    assert list(broken_links(path)) == []
    assert list(long_lines(path)) == []
    assert list(long_paragraphs(path)) == []


def test_every_document_that_a_source_file_names_exists():
    listed = subprocess.run(
        ["git", "grep", "-hoE", r"\bdocs/[A-Za-z0-9_./-]+\.(md|txt|png)\b"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert [name for name in sorted(set(listed.stdout.split())) if not (ROOT / name).exists()] == []


def test_broken_links_and_long_texts_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# One\n\n[a](page.md#one) [b](#two) [c](gone.md) `[d](e)`\n\n" + "x\n" * 6 + "\n" + "y" * 121 + "\n"
    )
    assert list(broken_links(page)) == ["#two", "gone.md"]
    assert list(long_paragraphs(page)) == [5]
    assert list(long_lines(page)) == [12]
