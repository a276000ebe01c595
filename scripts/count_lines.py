"""Lines of product code at a commit: without blank lines, comments, docstrings and tests.

usage: count_lines.py [COMMIT ...]      (default: HEAD)

Every commit is formatted with the settings of this tree before it is counted, so that line lengths do not matter.
Python and JavaScript count together. Rust counts without `#[cfg(test)]` items and without the fault drive.
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import tarfile
import tempfile
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON_APPS = {"runners", "results", "webapp"}
NOT_PRODUCT = {"tests", "migrations", "vendor", "target", "data"}
FAULT_DRIVE = {"testdrive", "fault-drive"}
RUST_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|\'(?:\\.[^\']*|[^\'\\])\'', re.DOTALL)
JS_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|`(?:\\.|[^`\\])*`|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.DOTALL)
TEST_ITEM = re.compile(r"#\[cfg\((?:all\()?test\b[^\n]*\]\s*")
IGNORED_TOKENS = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def python_lines(source: str) -> int:
    """Return how many lines of a Python file hold code. Docstrings are no code."""
    docstrings = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node, clean=False) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in IGNORED_TOKENS:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def script_lines(source: str) -> int:
    """Return how many lines of a JavaScript file hold code."""
    return _filled_lines(_without_comments(source, JS_TOKEN))


def rust_lines(source: str) -> int:
    """Return how many lines of a Rust file hold code outside `#[cfg(test)]` items."""
    return _filled_lines(without_test_items(_without_comments(source, RUST_TOKEN)))


def without_test_items(source: str) -> str:
    """Return Rust source, already without comments, without each item that is compiled for tests only."""
    while found := TEST_ITEM.search(source):
        source = source[: found.start()] + source[_end_of_item(source, found.end()) :]
    return source


def test_modules(source: str) -> set[str]:
    """Return the names of the modules in other files that a Rust file includes for tests only."""
    source = _without_comments(source, RUST_TOKEN)
    return set(re.findall(r"#\[cfg\((?:all\()?test\b[^\n]*\]\s*(?:pub(?:\([^)]*\))? )?mod (\w+);", source))


def count(folder: Path) -> tuple[int, int]:
    """Return the lines of Python with JavaScript, and the lines of Rust, of a formatted checkout."""
    scripts, rust = 0, 0
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if NOT_PRODUCT & set(parts) or not path.is_file():
            continue
        if path.suffix == ".py" and parts[0] in PYTHON_APPS:
            scripts += python_lines(path.read_text())
        elif path.suffix == ".js" and parts[0] == "static":
            scripts += script_lines(path.read_text())
        elif path.suffix == ".rs" and not FAULT_DRIVE & set(parts) and not _is_for_tests(path):
            rust += rust_lines(path.read_text())
    return scripts, rust


def check_out(commit: str, folder: Path) -> None:
    """Write the files of a commit into a folder and format them with the settings of this tree."""
    archive = subprocess.run(["git", "-C", ROOT, "archive", commit], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    ruff: list[str | Path] = [ROOT / ".venv/bin/ruff", "format", "--quiet", "--config", ROOT / "pyproject.toml"]
    subprocess.run([*ruff, *(folder / app for app in sorted(PYTHON_APPS))], check=True)
    rust = [path for path in folder.rglob("*.rs") if not NOT_PRODUCT & set(path.relative_to(folder).parts)]
    settings: list[str | Path] = ["--edition", "2024", "--config-path", ROOT / "runners/drivetest/rustfmt.toml"]
    subprocess.run(["rustfmt", *settings, *rust], check=True)


def main() -> int:
    """Print the lines of each commit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("commits", nargs="*", default=["HEAD"], metavar="COMMIT")
    for commit in parser.parse_args().commits:
        with tempfile.TemporaryDirectory() as folder:
            check_out(commit, Path(folder))
            scripts, rust = count(Path(folder))
        print(f"{commit}: Python and JavaScript {scripts:,}; Rust {rust:,}")
    return 0


def _without_comments(source: str, token: re.Pattern[str]) -> str:
    """Return source with comments removed, and strings with their line breaks but without brackets and quotes."""

    def replace(found: re.Match[str]) -> str:
        text = found[0]
        return (
            "" if text.startswith(("//", "/*")) else "s" * max(1, len(text.split("\n")[0])) + "\ns" * text.count("\n")
        )

    return token.sub(replace, source)


def _end_of_item(source: str, start: int) -> int:
    """Return where an item ends: behind its semicolon, or behind the brace that closes it."""
    depth = 0
    for place in range(start, len(source)):
        depth += (source[place] in "{([") - (source[place] in "})]")
        if depth == 0 and source[place] in ";}":
            return place + 1
    return len(source)


def _filled_lines(source: str) -> int:
    return sum(1 for line in source.splitlines() if line.strip())


def _is_for_tests(path: Path) -> bool:
    """Return whether the file that declares a module includes it, or the folder around it, for tests only."""
    for module in (path, *path.parents):
        if module.name == "src":
            return False
        name = module.parent.name if module.name == "mod.rs" else module.stem
        folder = module.parent.parent if module.name == "mod.rs" else module.parent
        parents = (folder / "mod.rs", folder / "lib.rs", folder / "main.rs", folder.with_suffix(".rs"))
        if any(name in test_modules(each.read_text()) for each in parents if each.is_file()):
            return True
    return False


if __name__ == "__main__":
    sys.exit(main())
