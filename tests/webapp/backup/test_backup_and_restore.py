import dataclasses
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from pathlib import Path
from uuid import uuid4

import psycopg
import pyrage
import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.utils import timezone
from psycopg import sql

from results.evidence.references import REFERRING, references_query
from results.evidence.store import StoreUnavailableError
from results.ingest.queue import sweep
from results.models import DraftFile, Evidence, Run, ScrubFault, Verdict
from tests.results.builders import log_bytes, make_organisation, send
from tests.results.stored_files import path_of
from webapp.backup.creation import Options, create_backup
from webapp.backup.models import Backup
from webapp.backup.repository import DUMP, Repository
from webapp.management.commands.doctor import examine_backup

LOGS = ("four-us", "burst-cmp-disk-t10")


@pytest.fixture
def register(settings, evidence_dir, real_reader, tmp_path, transactional_db):
    """A register with two submissions that were read, and with keys."""
    settings.DATA_DIR = tmp_path / "var"
    for name in ("lab/ssh_key", "secrets/encryption", "secrets/django"):
        path = settings.DATA_DIR / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"the key {name}")
    organisation = make_organisation()
    sent = [send(organisation, log_bytes(case)) for case in LOGS]
    sweep()
    assert Verdict.objects.count() == len(LOGS)
    return sent


@pytest.fixture
def empty_machine(settings, tmp_path):
    """Return a context in which the register has an empty data directory and an empty database."""

    @contextmanager
    def enter():
        name = f"restored_{uuid4().hex[:12]}"
        before, directories = connection.settings_dict["NAME"], (settings.DATA_DIR, settings.EVIDENCE_DIR)
        administer(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        connections["default"].close()
        connections["default"].settings_dict["NAME"] = name
        settings.DATA_DIR = tmp_path / name
        settings.EVIDENCE_DIR = settings.DATA_DIR / "evidence"
        settings.DATA_DIR.mkdir()
        try:
            yield
        finally:
            connections["default"].close()
            connections["default"].settings_dict["NAME"] = before
            settings.DATA_DIR, settings.EVIDENCE_DIR = directories
            administer(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    return enter


def administer(statement):
    own = connection.settings_dict
    address = {"host": own["HOST"], "port": own["PORT"] or None, "user": own["USER"], "password": own["PASSWORD"]}
    with psycopg.connect(dbname="postgres", autocommit=True, **address) as session:
        session.execute(statement)


def run(*arguments):
    """Run a command; return its exit status and its output."""
    output = StringIO()
    try:
        call_command(*map(str, arguments), stdout=output, stderr=output)
    except CommandError as error:
        return 1, f"{output.getvalue()}{error}"
    except SystemExit as end:
        return end.code, output.getvalue()
    return 0, output.getvalue()


def verdicts():
    return sorted(Verdict.objects.values_list("run__public_id", "outcome", "headline"))


@pytest.mark.long
def test_an_encrypted_backup_is_restored_into_an_empty_machine_with_every_hash_and_verdict(
    register, empty_machine, settings, tmp_path
):
    identity = pyrage.x25519.Identity.generate()
    (tmp_path / "key").write_text(str(identity))
    status, text = run("backup", tmp_path / "to", "--recipient", identity.to_public())
    assert (status, "2 submissions, 2 runs, 2 verdicts" in text) == (0, True), text
    assert re.search(r"done in \d+\.\d minutes", text)
    before, keys = verdicts(), (settings.DATA_DIR / "secrets/encryption").read_bytes()
    with empty_machine():
        assert run("restore", tmp_path / "to", "--check")[0] == 0
        status, text = run("restore", tmp_path / "to")
        assert (status, "Give the private key by --identity" in text) == (1, True)
        status, text = run("restore", tmp_path / "to", "--identity", tmp_path / "key")
        assert status == 0, text
        assert "every hash equal" in text
        assert "read again: 2 logs with 2 runs and 2 verdicts; 0 differences" in text
        assert verdicts() == before
        assert all(path_of(each.sha256).stat().st_size == each.size_bytes for each in Evidence.objects.all())
        restored_key = settings.DATA_DIR / "secrets/encryption"
        assert (restored_key.read_bytes(), restored_key.stat().st_mode & 0o777) == (keys, 0o600)
        assert not Backup.objects.exists()
        status, text = run("restore", tmp_path / "to", "--identity", tmp_path / "key")
        assert (status, "expected an empty database, found" in text) == (1, True)


@pytest.mark.long
def test_one_command_restores_a_register_on_a_machine_without_a_server(register, settings):
    parent = Path(tempfile.mkdtemp(prefix="drivecert-restore-"))  # other accounts can enter it
    parent.chmod(0o711)
    try:
        assert run("backup", parent / "to")[0] == 0
        environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        done = subprocess.run(
            [sys.executable, "manage.py", "restore", str(parent / "to")],
            cwd=settings.BASE_DIR,
            env=environment | {"DRIVECERT_DATA": str(parent / "var"), "DJANGO_SETTINGS_MODULE": "webapp.settings"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "read again: 2 logs with 2 runs and 2 verdicts; 0 differences" in done.stdout
        assert (parent / "var/postgres/PG_VERSION").exists()
        assert (parent / "var/secrets/encryption").read_text() == "the key secrets/encryption"
    finally:
        shutil.rmtree(parent)


@pytest.mark.long
def test_a_restore_names_a_flipped_bit_a_missing_file_and_another_verdict(register, empty_machine, tmp_path):
    judged = Verdict.objects.get(run__submission=register[0])
    third = send(register[0].organisation, log_bytes("commit-us"))
    sweep()
    Verdict.objects.filter(pk=judged.pk).update(outcome="pass" if judged.outcome != "pass" else "fail")
    assert run("backup", tmp_path / "to")[0] == 0
    repository = Repository(tmp_path / "to")
    manifest = repository.manifest()
    paths = {each.sha256: repository.path_of_object("plain", each) for each in repository.evidence_of(manifest)}
    flipped, gone = paths[register[1].log.sha256], paths[third.log.sha256]
    content = bytearray(flipped.read_bytes())
    content[100] ^= 1
    flipped.chmod(0o600)
    flipped.write_bytes(content)
    gone.unlink()
    status, text = run("restore", tmp_path / "to", "--check")
    assert (status, f"{flipped}: damaged" in text, f"{gone}: missing" in text) == (1, True, True)
    with empty_machine():
        status, text = run("restore", tmp_path / "to")
        assert status == 1
        assert f"DAMAGED {flipped}" in text
        assert f"MISSING {gone}" in text
        for submission in (register[1], third):
            assert f"evidence {submission.log.sha256} of {submission.public_id} is missing" in text
        run_id = Run.objects.get(submission__public_id=register[0].public_id).public_id
        assert f"{run_id} of {register[0].public_id}: another verdict" in text


def test_a_truncated_dump_is_named_before_anything_changes(register, empty_machine, settings, tmp_path):
    assert run("backup", tmp_path / "to")[0] == 0
    repository = Repository(tmp_path / "to")
    dump = repository.path_of_file(repository.manifest(), DUMP)
    os.truncate(dump, dump.stat().st_size - 1000)
    with empty_machine():
        status, text = run("restore", tmp_path / "to")
        assert (status, f"{dump}: damaged: expected" in text, "Nothing was changed" in text) == (1, True, True)
        assert list(settings.DATA_DIR.iterdir()) == []


@pytest.mark.long
def test_a_restore_names_files_that_the_store_had_with_other_bytes(register, empty_machine, tmp_path):
    assert run("backup", tmp_path / "to")[0] == 0
    with empty_machine():
        there = path_of(register[0].log.sha256)
        there.parent.mkdir(parents=True)
        there.write_bytes(bytes(register[0].log.size_bytes))
        status, text = run("restore", tmp_path / "to")
        fault = f"evidence {register[0].log.sha256} of {register[0].public_id}: the stored file has other bytes"
        assert (status, fault in text) == (1, True), text


@pytest.mark.long
def test_a_file_of_the_repository_that_cannot_be_read_is_named_and_the_restore_goes_on(
    register, empty_machine, tmp_path
):
    assert run("backup", tmp_path / "to")[0] == 0
    repository = Repository(tmp_path / "to")
    first, second = repository.evidence_of(repository.manifest())
    unreadable = repository.path_of_object("plain", first)
    unreadable.unlink()
    unreadable.mkdir()
    with empty_machine():
        status, text = run("restore", tmp_path / "to")
        assert (status, f"DAMAGED {unreadable}: it cannot be read: Is a directory" in text) == (1, True), text
        assert path_of(second.sha256).exists()


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk")
def test_a_repository_that_is_mounted_read_only_is_restored_and_gets_no_backup(register, empty_machine, tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)], check=True)
    try:
        assert run("backup", place)[0] == 0
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        status, text = run("backup", place)
        assert (status, "Read-only file system. Check this disk" in text) == (1, True), text
        with empty_machine():
            assert run("restore", place)[0] == 0
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("module", ["_check_rows", "_prove_verdicts"])
def test_an_outage_of_the_store_after_the_database_says_how_to_finish(
    register, empty_machine, tmp_path, monkeypatch, module
):
    def refuse(*_):
        raise StoreUnavailableError("no answer")

    assert run("backup", tmp_path / "to")[0] == 0
    monkeypatch.setattr(f"webapp.backup.restoration._Restoration.{module}", refuse)
    with empty_machine():
        status, text = run("restore", tmp_path / "to")
        assert (status, "no answer. Everything is restored" in text, "scrub --all" in text) == (1, True, True), text


def test_a_full_disk_of_the_data_directory_ends_the_restore_with_a_sentence(
    register, empty_machine, tmp_path, monkeypatch
):
    def refuse(**_):
        raise OSError(28, "No space left on device")

    assert run("backup", tmp_path / "to")[0] == 0
    monkeypatch.setattr("webapp.backup.restoration.tempfile.TemporaryFile", refuse)
    with empty_machine():
        status, text = run("restore", tmp_path / "to")
        assert (status, "No space left on device. Nothing is lost" in text) == (1, True), text


def test_evidence_and_keys_are_restored_without_a_database(register, settings, tmp_path):
    """The database was recovered in another way; what the repository lacks is named."""
    assert run("backup", tmp_path / "to")[0] == 0
    settings.DATA_DIR = tmp_path / "recovered"
    settings.EVIDENCE_DIR = settings.DATA_DIR / "evidence"
    status, text = run("restore", tmp_path / "to", "--files-only")
    assert (status, "2 files of evidence" in text, "no database was restored" in text) == (0, True, True), text
    assert [path_of(each.log.sha256).exists() for each in register] == [True, True]
    assert (settings.DATA_DIR / "secrets/encryption").read_text() == "the key secrets/encryption"
    repository = Repository(tmp_path / "to")
    gone = repository.path_of_object("plain", repository.evidence_of(repository.manifest())[0])
    gone.unlink()
    status, text = run("restore", tmp_path / "to", "--files-only")
    assert (status, f"ERROR   MISSING {gone}" in text) == (1, True), text


def test_a_key_that_is_a_symbolic_link_is_in_the_backup(register, settings, tmp_path):
    key = settings.DATA_DIR / "secrets/encryption"
    key.rename(tmp_path / "elsewhere")
    key.symlink_to(tmp_path / "elsewhere")
    assert run("backup", tmp_path / "to")[0] == 0
    settings.DATA_DIR = tmp_path / "recovered"
    assert run("restore", tmp_path / "to", "--files-only")[0] == 0
    restored = settings.DATA_DIR / "secrets/encryption"
    assert (restored.is_symlink(), restored.read_text()) == (False, "the key secrets/encryption")


def test_an_empty_recipient_is_refused(register, tmp_path):
    status, text = run("backup", tmp_path / "to", "--recipient", "")
    assert (status, "--recipient: expected a public key" in text) == (1, True)
    assert not (tmp_path / "to").exists()


def test_a_repository_of_encrypted_backups_gets_no_plain_one(register, tmp_path):
    public = pyrage.x25519.Identity.generate().to_public()
    assert run("backup", tmp_path / "to")[0] == 0
    assert run("backup", tmp_path / "to", "--recipient", public)[0] == 0
    status, text = run("backup", tmp_path / "to")
    assert (status, "Use --recipient, or another directory" in text) == (1, True)
    assert run("backup", tmp_path / "to", "--recipient", public)[0] == 0


def test_a_repository_that_is_not_mounted_gets_no_backup(register, tmp_path):
    assert run("backup", tmp_path / "to")[0] == 0
    (tmp_path / "to").rename(tmp_path / "unmounted")
    (tmp_path / "to").mkdir()
    status, text = run("backup", tmp_path / "to")
    assert (status, "expected the repository of earlier backups, found no repository" in text) == (1, True)
    assert list((tmp_path / "to").iterdir()) == []
    assert run("backup", tmp_path / "other")[0] == 0


def test_encrypted_evidence_that_is_cut_off_is_copied_again(register, tmp_path):
    recipient = str(pyrage.x25519.Identity.generate().to_public())
    options = Options(tmp_path / "to", recipient)
    manifest = create_backup(options, print).manifest
    repository = Repository(options.directory)
    stored = repository.evidence_of(manifest)[0]
    os.truncate(repository.path_of_object(manifest.object_set, stored), stored.size_bytes)
    assert create_backup(options, print).copied_count == 1
    assert create_backup(options, print).copied_count == 0
    assert list(repository.faults(repository.manifest())) == []


def test_the_second_backup_copies_only_new_evidence_and_old_backups_are_removed(register, tmp_path):
    options = Options(tmp_path / "to")
    assert create_backup(options, print).copied_count == 2
    send(register[0].organisation, log_bytes("commit-us"))
    second = create_backup(dataclasses.replace(options, keep=1), print)
    assert (second.copied_count, second.manifest.evidence_count, len(second.removed)) == (1, 3, 1)
    assert Repository(options.directory).names() == [second.manifest.name]
    assert list(Backup.objects.values_list("outcome", "copied_bytes", "evidence_count")) == [
        ("good", len(log_bytes("commit-us")), 3),
        ("good", sum(len(log_bytes(case)) for case in LOGS), 2),
    ]


def test_damaged_evidence_is_named_and_the_rest_is_backed_up(register, tmp_path):
    damaged = path_of(register[0].log.sha256)
    damaged.chmod(0o600)
    damaged.write_bytes(bytes(damaged.stat().st_size))
    status, text = run("backup", tmp_path / "to")
    assert status == 1
    assert f"DAMAGED evidence {register[0].log.sha256} of {register[0].public_id}" in text
    assert "INCOMPLETE: the backup lacks 1 file of evidence" in text
    status, text = run("backup", tmp_path / "to", "--keep", "1")
    assert (status, "no backup is removed, because this one is incomplete" in text) == (1, True)
    assert len(Repository(tmp_path / "to").names()) == 2
    manifest = Repository(tmp_path / "to").manifest()
    assert (manifest.evidence_count, manifest.damaged) == (1, [register[0].log.sha256])
    assert {each.outcome for each in Backup.objects.all()} == {Backup.Outcome.INCOMPLETE}
    damaged.unlink()
    status, text = run("backup", tmp_path / "to")
    assert (status, "got none" in text) == (1, True)
    status, text = run("restore", tmp_path / "to", "--check")
    assert (status, f"lacks evidence {register[0].log.sha256}" in text) == (1, True)


def test_rows_that_are_added_while_bytes_are_copied_are_in_the_next_backup(register, tmp_path, monkeypatch):
    """The rows are those of one moment, and each byte that they refer to is there."""
    real, sent = Repository.add_object, []

    def add_after_new_rows(self, *arguments):
        if not sent:
            sent.append(send(register[0].organisation, log_bytes("commit-us")))
        return real(self, *arguments)

    monkeypatch.setattr(Repository, "add_object", add_after_new_rows)
    first = create_backup(Options(tmp_path / "to"), print)
    second = create_backup(Options(tmp_path / "to"), print)
    assert (first.manifest.rows["submissions"], first.manifest.evidence_count) == (2, 2)
    assert (second.manifest.rows["submissions"], second.manifest.evidence_count, second.copied_count) == (3, 3, 1)


def test_a_backup_that_was_interrupted_is_recorded_and_the_next_one_goes_on(register, tmp_path, monkeypatch):
    real, calls = Repository.add_object, []

    def end_at_the_second(self, *arguments):
        calls.append(arguments)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return real(self, *arguments)

    monkeypatch.setattr(Repository, "add_object", end_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        create_backup(Options(tmp_path / "to"), print)
    monkeypatch.undo()
    assert Repository(tmp_path / "to").names() == []
    Backup.objects.update(outcome="running")  # as after kill -9
    assert create_backup(Options(tmp_path / "to"), print).copied_count == 1
    assert list(Backup.objects.values_list("outcome", flat=True)) == ["good", "interrupted"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_ends_the_backup_with_a_sentence(register, tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)], check=True)
    try:
        status, text = run("backup", place)
        assert (status, "the disk of the repository is full" in text, "Make room" in text) == (1, True, True)
        assert list((place / "backups").iterdir()) == []
        assert Backup.objects.get().outcome == Backup.Outcome.DISK_FULL
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_backup_is_good_although_an_older_one_that_stays_is_damaged(register, tmp_path):
    first = create_backup(Options(tmp_path / "to"), print).manifest
    (Repository(tmp_path / "to").directory_of(first.name) / "evidence.list").write_text("damaged")
    status, text = run("backup", tmp_path / "to", "--keep", "2")
    assert (status, "evidence.list: damaged" in text) == (1, True)
    assert list(Backup.objects.values_list("outcome", flat=True)) == ["good", "good"]


@pytest.mark.parametrize("keep", ["0", "-1"])
def test_at_least_one_backup_is_kept(tmp_path, keep):
    assert run("backup", tmp_path, "--keep", keep) == (1, f"--keep: expected 1 or more, got {keep}")


def test_every_table_with_hash_and_size_is_in_the_backup():
    models = {
        model
        for model in apps.get_models()
        if {"sha256", "size_bytes"} <= {field.name for field in model._meta.concrete_fields}
    }
    assert models - {DraftFile, ScrubFault} == set(REFERRING)


@pytest.mark.django_db
def test_a_hash_of_two_organisations_is_one_file(evidence_dir):
    for slug in ("first", "second"):
        send(make_organisation(slug), b"the same")
    with connection.cursor() as cursor:
        cursor.execute(references_query())
        assert cursor.fetchall() == [(hashlib.sha256(b"the same").hexdigest(), 8)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("age_h", "outcome", "word"),
    [(25, "good", "OK"), (27, "good", "WARNING"), (1, "incomplete", "WARNING"), (1, "running", "WARNING")],
)
def test_doctor_warns_of_an_old_backup(settings, age_h, outcome, word):
    settings.BACKUP_AGE_MAX_H = 26
    at = timezone.now() - timedelta(hours=age_h)
    Backup.objects.create(name="b", repository="/to", outcome=outcome, started_at=at, ended_at=at)
    check = examine_backup()
    assert (check.word, bool(check.remedy)) == (word, word != "OK")


@pytest.mark.django_db
def test_doctor_warns_without_a_backup():
    assert (examine_backup().word, examine_backup().found) == ("WARNING", "no complete backup yet")
