"""The checks of the packages: what they find, and what they say if the index or the advisories do not answer."""

import json
import subprocess

import pytest

from scripts import supply_chain
from scripts.supply_chain import CLEAN, FOUND, NOT_AUDITED


def answer(status=0, stdout="", stderr=""):
    return subprocess.CompletedProcess([], status, stdout, stderr)


@pytest.fixture
def commands(monkeypatch):
    """Answers of commands by the first word that they have in common with a key."""
    answers = {}

    def run(*command, cwd):
        return next(found for words, found in answers.items() if words in " ".join(command))

    monkeypatch.setattr(supply_chain, "run", run)
    monkeypatch.setattr(supply_chain, "refused_licences", lambda: [])
    monkeypatch.setattr(supply_chain.shutil, "which", lambda _: "/usr/bin/cargo-deny")
    return answers


def report(*, is_yanked=False):
    return answer(stdout=json.dumps({"install": [{"is_yanked": is_yanked, "metadata": {"name": "a", "version": "1"}}]}))


def audited(**package):
    return answer(
        1 if package else 0, json.dumps({"dependencies": [{"name": "a", "version": "1", "vulns": []} | package]})
    )


def audited_and_skipped():
    packages = [{"name": "a", "version": "1", "vulns": []}, {"name": "b", "skip_reason": "not on PyPI"}]
    return answer(1, json.dumps({"dependencies": packages}))


def test_each_pinned_package_has_a_hash():
    assert list(supply_chain.missing_hashes()) == []
    pins = supply_chain.pinned(supply_chain.ROOT / "requirements.txt")
    assert len(pins) > 40
    assert "django==" in " ".join(pins)


def test_a_package_without_a_hash_is_found(tmp_path):
    file = tmp_path / "requirements.txt"
    file.write_text("a==1 \\\n    --hash=sha256:00\nb==2\nc[x]==3 \\\n    --hash=sha256:11 \\\n    --hash=sha256:22\n")
    assert supply_chain.pinned(file) == {"a==1": True, "b==2": False, "c[x]==3": True}


@pytest.mark.long
def test_all_licences_are_allowed():
    assert list(supply_chain.refused_licences()) == []


@pytest.mark.parametrize(
    ("rust", "cargo", "message"),
    [(0, 101, "cargo metadata: exit status 101: no index"), (1, 0, "rustc -vV: exit status 1: no program")],
)
def test_crates_that_cargo_does_not_describe_are_a_problem_with_its_message(monkeypatch, rust, cargo, message):
    answers = {"rustc": answer(rust, "host: none", "no program\n"), "cargo": answer(cargo, "", "no index\n")}
    monkeypatch.setattr(supply_chain, "run", lambda program, *_, cwd: answers[program])
    assert list(supply_chain.refused_licences()) == [f"licences of crates: not checked: {message}"]


@pytest.mark.parametrize(
    ("expression", "is_allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("MIT/Apache-2.0", True),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only", True),
        ("GPL-3.0-only WITH Classpath-exception-2.0", False),
        ("MIT-unknown", False),
        ("the MIT licence", False),
        ("", False),
    ],
)
def test_an_expression_must_leave_a_choice_of_allowed_licences(expression, is_allowed):
    assert supply_chain.is_allowed(expression) == is_allowed


def test_a_yanked_release_is_an_error(commands, capsys):
    commands |= {"-m pip": report(is_yanked=True), "generate-lockfile": answer()}
    assert supply_chain.check() == FOUND
    assert "a 1 of requirements.txt is yanked" in capsys.readouterr().out


def test_a_yanked_crate_is_an_error(commands, capsys):
    commands |= {"-m pip": report(), "generate-lockfile": answer(101, stderr="version 1.0.0 is yanked")}
    assert supply_chain.check() == FOUND
    assert "version 1.0.0 is yanked" in capsys.readouterr().out


def test_without_an_index_the_check_says_what_it_did_not_check(commands, capsys):
    commands |= {"-m pip": answer(1), "generate-lockfile": answer(101, stderr="failed to download")}
    assert supply_chain.check() == CLEAN
    said = capsys.readouterr().out
    assert "Python packages: not checked for yanked releases" in said
    assert "crates: not checked for yanked releases" in said


RESULTS_BEGIN = {CLEAN: "Result: clean.", FOUND: "Result: FINDING", NOT_AUDITED: "Result: NOT AUDITED"}
NO_ADVISORIES = answer(1, stderr="ERROR: connection refused")


@pytest.mark.parametrize(
    ("wheels", "crates", "status", "said"),
    [
        (audited(), answer(), CLEAN, "no advisories"),
        (audited(vulns=[{"id": "PYSEC-1"}]), answer(), FOUND, "a 1: PYSEC-1"),
        (audited(skip_reason="not on PyPI"), answer(), NOT_AUDITED, "advisories for none of 1 packages: not on PyPI"),
        (audited_and_skipped(), answer(), FOUND, "b was skipped: not on PyPI"),
        (audited(), answer(1, stderr="RUSTSEC-1"), FOUND, "RUSTSEC-1"),
        (NO_ADVISORIES, answer(), NOT_AUDITED, "requirements.txt: not audited: ERROR: connection refused"),
        (audited(), answer(1, stderr="failed to fetch advisory database"), NOT_AUDITED, "crates: not audited"),
        (NO_ADVISORIES, answer(1, stderr="RUSTSEC-1"), FOUND, "not audited"),
    ],
)
def test_an_audit_says_what_it_found_or_that_it_could_not_audit(commands, capsys, wheels, crates, status, said):
    commands |= {"pip-audit": wheels, "cargo deny": crates}
    assert supply_chain.audit() == status
    printed = capsys.readouterr().out
    assert said in printed
    assert printed.splitlines()[-1].startswith(RESULTS_BEGIN[status])


def test_a_finding_in_one_file_is_not_lost_if_another_file_cannot_be_audited(commands, capsys):
    found = audited(vulns=[{"id": "PYSEC-1"}])
    commands |= {"--requirement requirements.txt": found, "pip-audit": NO_ADVISORIES, "cargo deny": answer()}
    assert supply_chain.audit() == FOUND
    printed = capsys.readouterr().out
    assert "requirements.txt: a 1: PYSEC-1" in printed
    assert "requirements-dev.txt: not audited" in printed


def test_an_audit_without_its_program_says_how_to_install_it(commands, capsys, monkeypatch):
    commands |= {"pip-audit": audited()}
    monkeypatch.setattr(supply_chain.shutil, "which", lambda _: None)
    assert supply_chain.audit() == NOT_AUDITED
    assert "cargo install --locked cargo-deny" in capsys.readouterr().out
