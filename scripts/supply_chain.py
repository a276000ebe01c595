"""Checks of the packages that the register is built from: hashes, licences, withdrawn releases, advisories.

`check` needs no advisories and belongs to `make test`. What an index does not answer is reported as not checked.
`audit` compares the packages with the published advisories. Exit status: 0 clean, 1 a finding, 2 not audited.
"""

import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
WORKSPACE = ROOT / "runners/drivetest"
REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "requirements-audit.txt")
CLEAN, FOUND, NOT_AUDITED = 0, 1, 2
INDEX_TIMEOUT_S = 240

# Licences under which the register may be given away as it is (Apache-2.0), with its packages next to it.
ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0",
    "CDLA-Permissive-2.0", "EPL-2.0", "ISC",
    "LGPL-3.0-only", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "OFL-1.1", "PSF-2.0", "Unicode-3.0", "Unlicense", "ZPL-2.1",
    "Zlib",
}  # fmt: skip
OF_CLASSIFIER = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
# Packages whose metadata name no licence in the words of SPDX, by their licence files.
BY_HAND = {
    "axe-playwright-python": "MIT",
    "protobuf": "BSD-3-Clause",
    "pyrage": "MIT",
    "qrcode": "BSD-3-Clause",
    "resvg-py": "MIT",
    "uritemplate": "BSD-3-Clause OR Apache-2.0",
}


def is_allowed(expression: str) -> bool:
    """Return whether an SPDX expression leaves a choice of allowed licences only.

    >>> [is_allowed(text) for text in ("MIT OR GPL-3.0-only", "MIT AND GPL-3.0-only", "(MIT/Apache-2.0) AND Zlib", "")]
    [True, False, True, False]
    """
    tokens = re.findall(
        r"\(|\)|AND|OR|(?:(?!\b(?:AND|OR)\b)[\w.+-]+)(?: WITH [\w.-]+)?", expression.replace("/", " OR ")
    )
    words = {"(": "(", ")": ")", "AND": "and", "OR": "or"}
    text = " ".join(words.get(token, str(token in ALLOWED)) for token in tokens)
    try:
        return bool(text) and bool(eval(text, {"__builtins__": {}}))  # noqa: S307 - of the words above, True and False
    except SyntaxError:  # the name of a licence in other words
        return False


def pinned(path: Path) -> dict[str, bool]:
    """Return the requirements of a file as NAME==VERSION, and whether each has a hash."""
    entries = re.findall(r"^([A-Za-z0-9][\w.\[\]-]*==[^\s\\;]+)((?:[^\n]*\\\n)*[^\n]*)", path.read_text(), re.MULTILINE)
    return {name.lower(): "--hash=sha256:" in rest for name, rest in entries}


def missing_hashes() -> Iterator[str]:
    """Yield the packages whose bytes are not pinned."""
    for name in REQUIREMENTS:
        yield from (f"{package} of {name} has no hash" for package, has in pinned(ROOT / name).items() if not has)
    for crate in tomllib.loads((WORKSPACE / "Cargo.lock").read_text())["package"]:
        if "source" in crate and "checksum" not in crate:
            yield f"{crate['name']} {crate['version']} of Cargo.lock has no checksum"


def refused_licences() -> Iterator[str]:
    """Yield the installed packages and the crates whose licence is not in the list."""
    names = {package.partition("==")[0] for file in REQUIREMENTS[:2] for package in pinned(ROOT / file)}
    for distribution in importlib.metadata.distributions():
        name = re.sub(r"[-_.]+", "-", distribution.name).lower()
        if name in names and not is_allowed(licence := licence_of(name, distribution.metadata)):
            yield f"{name} has the licence {licence or 'of no name'}, which scripts/supply_chain.py does not allow"
    try:
        described = crates()
    except RuntimeError as error:
        yield f"licences of crates: not checked: {error}"
        return
    for crate in described:
        if crate["source"] and not is_allowed(crate["license"] or ""):
            yield f"{crate['name']} has the licence {crate['license']}, which scripts/supply_chain.py does not allow"


def licence_of(name: str, metadata: Any) -> str:
    """Return the licence of a wheel as an SPDX expression; empty if its metadata name none."""
    if name in BY_HAND:
        return BY_HAND[name]
    stated = metadata.get("License-Expression") or (metadata.get("License") or "").strip()
    if is_allowed(stated):
        return str(stated)
    classifiers = [text.rpartition(" :: ")[2] for text in metadata.get_all("Classifier", []) if "License ::" in text]
    return " AND ".join(OF_CLASSIFIER.get(text, text) for text in classifiers) or str(stated)


def crates() -> list[dict[str, Any]]:
    """Return cargo's description of the crates of this platform. Raises RuntimeError with its message if it fails."""
    host = re.search(r"^host: (.+)$", _output("rustc", "-vV"), re.MULTILINE)
    platform = host[1] if host else ""
    described = _output("cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", platform)
    packages: list[dict[str, Any]] = json.loads(described)["packages"]
    return packages


def _output(*command: str) -> str:
    answer = run(*command, cwd=WORKSPACE)
    if answer.returncode:
        raise RuntimeError(f"{command[0]} {command[1]}: exit status {answer.returncode}: {answer.stderr.strip()}")
    return answer.stdout


def yanked_wheels() -> list[str] | None:
    """Return the pinned releases that their index has withdrawn; None if the index does not answer."""
    found = []
    for name in REQUIREMENTS:
        options = ("--dry-run", "--ignore-installed", "--no-deps", "--quiet", "--report", "-", "--requirement", name)
        answer = run(sys.executable, "-m", "pip", "install", *options, cwd=ROOT)
        if answer.returncode:
            return None
        withdrawn = (item["metadata"] for item in json.loads(answer.stdout)["install"] if item["is_yanked"])
        found += [f"{package['name']} {package['version']} of {name} is yanked" for package in withdrawn]
    return found


def yanked_crates() -> list[str] | None:
    """Return the pinned crates that cannot be chosen any more; None if the index does not answer.

    Without a lock file, cargo chooses no yanked release. So a crate that needs exactly these releases is resolved.
    """
    lock = tomllib.loads((WORKSPACE / "Cargo.lock").read_text())["package"]
    wanted = [
        f'c{number} = {{ package = "{crate["name"]}", version = "={crate["version"]}", default-features = false }}\n'
        for number, crate in enumerate(lock)
        if "source" in crate
    ]
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "src").mkdir()
        (Path(directory) / "src/lib.rs").touch()
        package = '[package]\nname = "pinned"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\n'
        (Path(directory) / "Cargo.toml").write_text(package + "".join(wanted))
        answer = run("cargo", "generate-lockfile", cwd=Path(directory))
    if answer.returncode == 0:
        return []
    return [answer.stderr.strip()] if "yanked" in answer.stderr else None


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command and return its output; a command that is missing or too slow counts as failed."""
    try:
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=INDEX_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def check() -> int:
    """Print what is wrong with the pinned packages, and what could not be checked."""
    problems = [*missing_hashes(), *refused_licences()]
    for kind, yanked in (("Python packages", yanked_wheels()), ("crates", yanked_crates())):
        if yanked is None:
            print(f"{kind}: not checked for yanked releases, because the index does not answer")
        problems += yanked or []
    print("\n".join(problems) or "packages: pinned with hashes, and their licences are allowed")
    return FOUND if problems else CLEAN


# `make` ends with 2 after every failure: only the last line distinguishes a finding from a missing answer.
RESULTS = {
    CLEAN: "Result: clean. All packages were compared with the advisories, and none is about them.",
    FOUND: "Result: FINDING (exit status 1). Update or replace the packages above.",
    NOT_AUDITED: "Result: NOT AUDITED (exit status 2). No finding was made: advisories or a program were missing, as "
    "stated above. Run it again on a machine that reaches pypi.org and github.com, with cargo-deny.",
}


def audit() -> int:
    """Print the advisories about the pinned packages, and the result in one line."""
    status = _worst([audit_wheels(), audit_crates()])
    print(RESULTS[status])
    return status


def _worst(statuses: list[int]) -> int:
    """Return the status of several audits: a finding also counts if another part could not be audited."""
    return FOUND if FOUND in statuses else max(statuses)


def audit_wheels() -> int:
    """Compare the Python packages with the advisories of PyPI. A package that was skipped counts as a finding."""
    status = _worst([_audit_requirements(name) for name in REQUIREMENTS])
    if status == CLEAN:
        print("Python packages: no advisories")
    return status


def _audit_requirements(name: str) -> int:
    options = ("--format", "json", "--disable-pip", "--require-hashes", "--requirement", name)
    answer = run(str(Path(sys.executable).parent / "pip-audit"), *options, cwd=ROOT)
    try:
        packages = json.loads(answer.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(f"{name}: not audited: {(answer.stderr.strip().splitlines() or ['no output'])[-1]}")
        return NOT_AUDITED
    if all("skip_reason" in package for package in packages):
        reason = packages[0]["skip_reason"] if packages else "no packages"
        print(f"{name}: not audited: the index has advisories for none of {len(packages)} packages: {reason}")
        return NOT_AUDITED
    findings = []
    for package in packages:
        ids = [advisory["id"] for advisory in package.get("vulns", [])]
        if "skip_reason" in package:
            findings.append(f"{name}: {package['name']} was skipped: {package['skip_reason']}")
        elif ids:
            findings.append(f"{name}: {package['name']} {package['version']}: {', '.join(ids)}")
    print("\n".join(findings), end="\n" if findings else "")
    return FOUND if findings else CLEAN


def audit_crates() -> int:
    """Compare the crates with the advisories of RustSec."""
    if shutil.which("cargo-deny") is None:
        print("crates: not audited: no cargo-deny; install it with `cargo install --locked cargo-deny`")
        return NOT_AUDITED
    answer = run("cargo", "deny", "--locked", "check", "advisories", cwd=WORKSPACE)
    if answer.returncode and "failed to fetch advisory database" in answer.stderr:
        print("crates: not audited: the advisories of RustSec cannot be fetched")
        return NOT_AUDITED
    print(answer.stderr.strip() or "crates: no advisories")
    return FOUND if answer.returncode else CLEAN


if __name__ == "__main__":
    sys.exit({"check": check, "audit": audit}[sys.argv[1]]())
