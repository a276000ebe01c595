import dataclasses
import hashlib
import io
import os
import subprocess

import pyrage
import pytest

from results.evidence.store import StoreUnavailableError
from webapp.backup.encryption import Digest, Recipient, read_identities
from webapp.backup.errors import BackupError, RepositoryFullError, SourceDamagedError
from webapp.backup.repository import DAMAGED, EVIDENCE, KEYS, MISSING, PLAIN, Manifest, Repository, StoredObject

LOG = b"a log of a drive\n" * 9000


def sha256_of(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def repository(tmp_path):
    made = Repository(tmp_path / "repository")
    made.create()
    return made


@pytest.fixture
def identity():
    return pyrage.x25519.Identity.generate()


def add(repository, content, recipient=None):
    return repository.add_object(recipient, sha256_of(content), len(content), lambda: io.BytesIO(content))


def publish(repository, name, objects, recipient=None, keys=b"keys"):
    """Make a backup of some evidence without a database."""
    directory = repository.incoming / name
    directory.mkdir()
    listing = "".join(each.line for each in objects).encode()
    files = [
        repository.add_file(directory, KEYS, io.BytesIO(keys), recipient),
        repository.add_file(directory, EVIDENCE, io.BytesIO(listing), None),
    ]
    object_set, public_key = (recipient.fingerprint, recipient.text) if recipient else (PLAIN, "")
    counts = {"evidence_count": len(objects), "evidence_bytes": sum(each.size_bytes for each in objects)}
    moments = {"started_at": "", "ended_at": ""}
    described = {"object_set": object_set, "recipient": public_key, "rows": {}, "migrations": [], "versions": {}}
    repository.publish(directory, Manifest(name, files=files, **counts, **moments, **described))
    return repository.manifest(name)


def test_a_backup_that_was_written_has_no_faults_and_is_read_back(repository):
    manifest = publish(repository, "1", [add(repository, LOG), add(repository, b"")])
    assert list(repository.faults(manifest)) == []
    assert repository.manifest() == manifest
    assert [each.sha256 for each in repository.evidence_of(manifest)] == [sha256_of(LOG), sha256_of(b"")]


def test_a_flipped_bit_and_a_missing_file_are_each_named(repository):
    manifest = publish(repository, "1", [add(repository, LOG), add(repository, b"other"), add(repository, b"third")])
    flipped, gone, _ = (repository.path_of_object(PLAIN, each) for each in repository.evidence_of(manifest))
    content = bytearray(flipped.read_bytes())
    content[4000] ^= 1
    flipped.write_bytes(content)
    gone.unlink()
    assert [(each.kind, each.path) for each in repository.faults(manifest)] == [(DAMAGED, flipped), (MISSING, gone)]


@pytest.mark.parametrize("cut", [1, 4])
def test_a_file_that_is_cut_off_is_named(repository, cut):
    manifest = publish(repository, "1", [], keys=b"12345678")
    path = repository.path_of_file(manifest, KEYS)
    os.truncate(path, 8 - cut)
    (fault,) = repository.faults(manifest)
    assert (fault.kind, fault.path) == (DAMAGED, path)
    assert f"found {8 - cut} bytes" in str(fault)


def test_a_changed_manifest_is_refused(repository):
    publish(repository, "1", [])
    path = repository.directory_of("1") / "manifest.json"
    path.write_text(path.read_text().replace('"evidence_count": 0', '"evidence_count": 1'))
    with pytest.raises(BackupError, match="damaged: its content has another hash"):
        repository.manifest()
    path.write_text(path.read_text()[:-9])
    with pytest.raises(BackupError, match="damaged: it cannot be read"):
        repository.manifest()
    path.unlink()
    path.mkdir()
    with pytest.raises(BackupError, match=r"damaged: it cannot be read: .*Is a directory"):
        repository.manifest()


def test_bytes_of_another_hash_are_not_stored(repository):
    with pytest.raises(SourceDamagedError, match="found 5 with"):
        repository.add_object(None, sha256_of(LOG), 5, lambda: io.BytesIO(b"other"))
    assert list(repository.objects(PLAIN)) == []
    assert list(repository.incoming.iterdir()) == []


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_a_source_that_cannot_be_read_is_damaged(repository, identity, is_encrypted):
    class Broken(io.BytesIO):
        def read(self, size=-1):
            raise OSError(5, "Input/output error")

    recipient = Recipient(str(identity.to_public())) if is_encrypted else None
    with pytest.raises(SourceDamagedError, match="Input/output error"):
        repository.add_object(recipient, sha256_of(b""), 0, Broken)
    assert list(repository.incoming.iterdir()) == []


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_object_storage_that_does_not_answer_is_no_damage(repository, identity, is_encrypted):
    class Unavailable(io.BytesIO):
        def read(self, size=-1):
            raise StoreUnavailableError("no answer")

    def refuse():
        raise StoreUnavailableError("no answer")

    recipient = Recipient(str(identity.to_public())) if is_encrypted else None
    for source in (Unavailable, refuse):
        with pytest.raises(StoreUnavailableError, match="no answer"):
            repository.add_object(recipient, sha256_of(b""), 0, source)


def test_a_source_that_cannot_be_opened_is_damaged(repository):
    def refuse():
        raise OSError(5, "Input/output error")

    with pytest.raises(SourceDamagedError, match="it cannot be read: Input/output error"):
        repository.add_object(None, sha256_of(b""), 0, refuse)


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_an_error_of_the_repository_and_one_of_the_target_differ(repository, identity, tmp_path, is_encrypted):
    class Full(io.BytesIO):
        def write(self, piece):
            raise OSError(28, "No space left on device")

    recipient = Recipient(str(identity.to_public())) if is_encrypted else None
    manifest = publish(repository, "1", [], recipient)
    path = repository.path_of_file(manifest, KEYS)
    with pytest.raises(OSError, match="No space left"):
        repository.open_content(path, Full(), manifest, [identity])
    path.unlink()
    path.mkdir()  # a file that cannot be read, also by root
    with pytest.raises(SourceDamagedError, match="it cannot be read: Is a directory"):
        repository.open_content(path, io.BytesIO(), manifest, [identity])


def test_encrypted_evidence_is_checked_without_a_key_and_restored_with_it(repository, identity, tmp_path):
    recipient = Recipient(str(identity.to_public()))
    manifest = publish(repository, "1", [add(repository, LOG, recipient)], recipient)
    (stored,) = repository.evidence_of(manifest)
    path = repository.path_of_object(manifest.object_set, stored)
    assert list(repository.faults(manifest)) == []
    assert LOG[:40] not in path.read_bytes()
    content = io.BytesIO()
    assert repository.open_content(path, content, manifest, [identity]) == Digest(sha256_of(LOG), len(LOG))
    assert content.getvalue() == LOG
    with pytest.raises(BackupError, match="--identity"):
        repository.open_content(path, io.BytesIO(), manifest, ())
    with pytest.raises(BackupError, match="none of the identities"):
        repository.open_content(path, io.BytesIO(), manifest, [pyrage.x25519.Identity.generate()])


def test_the_program_age_decrypts_what_the_register_encrypts(repository, identity, tmp_path):
    recipient = Recipient(str(identity.to_public()))
    manifest = publish(repository, "1", [], recipient, keys=LOG)
    key_file = tmp_path / "key"
    key_file.write_text(f"# created: today\n{identity}\n")
    path = repository.path_of_file(manifest, KEYS)
    assert list(map(str, read_identities(key_file))) == [str(identity)]
    try:
        done = subprocess.run(["age", "--decrypt", "-i", key_file, path], capture_output=True, check=True)
    except FileNotFoundError:
        pytest.skip("no program age on this machine")
    assert done.stdout == LOG


def test_the_same_evidence_for_another_recipient_is_another_object(repository, identity):
    recipient = Recipient(str(identity.to_public()))
    add(repository, LOG)
    add(repository, LOG, recipient)
    assert [each[1] for each in repository.objects(PLAIN)] == [sha256_of(LOG)]
    assert [each[1] for each in repository.objects(recipient.fingerprint)] == [sha256_of(LOG)]


@pytest.mark.parametrize("text", ["age1wrong", "", "ssh-ed25519 wrong"])
def test_a_wrong_recipient_is_refused(text):
    with pytest.raises(BackupError, match="--recipient: expected a public key"):
        Recipient(text)


def test_an_identity_file_without_a_key_is_refused(tmp_path):
    path = tmp_path / "key"
    path.write_text("# nothing\n")
    with pytest.raises(BackupError, match="expected a line AGE-SECRET-KEY-"):
        read_identities(path)


def test_old_backups_go_with_the_evidence_that_only_they_need(repository):
    shared, old, new = add(repository, b"shared"), add(repository, b"old"), add(repository, b"new")
    left_over = add(repository, b"of an interrupted backup")
    publish(repository, "1", [shared, old])
    publish(repository, "2", [shared, new])
    removed, freed_bytes = repository.prune(1)
    assert (removed, freed_bytes) == (["1"], old.size_bytes + left_over.size_bytes)
    assert repository.names() == ["2"]
    assert list(repository.faults(repository.manifest())) == []
    assert {each[1] for each in repository.objects(PLAIN)} == {shared.sha256, new.sha256}


def test_nothing_is_removed_if_a_backup_that_stays_cannot_be_read(repository):
    publish(repository, "1", [add(repository, b"old")])
    manifest = publish(repository, "2", [add(repository, b"new")])
    with repository.path_of_file(manifest, EVIDENCE).open("a") as listing:
        listing.write("more\n")
    with pytest.raises(BackupError, match="damaged"):
        repository.prune(1)
    assert repository.names() == ["1", "2"]
    assert len(list(repository.objects(PLAIN))) == 2


def test_a_backup_without_manifest_is_none_and_its_files_are_removed_by_the_next(repository):
    (repository.incoming / "1").mkdir()
    (repository.incoming / "1" / KEYS).write_bytes(b"half")
    (repository.incoming / "piece").write_bytes(b"half")
    with pytest.raises(BackupError, match="expected a complete backup, found none"):
        repository.manifest()
    repository.clear_incoming()
    assert list(repository.incoming.iterdir()) == []


def test_a_repository_is_used_by_one_backup_at_a_time(repository):
    # A lock belongs to the open file, so a second one in the same process stands for another process.
    with (
        repository.locked(),
        pytest.raises(BackupError, match="another backup or restore uses this repository"),
        Repository(repository.path).locked(),
    ):
        pass
    with Repository(repository.path).locked():
        pass


def test_a_full_disk_is_named_and_leaves_what_is_complete(repository, monkeypatch):
    add(repository, b"complete")

    def refuse(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(RepositoryFullError, match="the disk of the repository is full"):
        add(repository, LOG)
    monkeypatch.undo()
    assert [each[1] for each in repository.objects(PLAIN)] == [sha256_of(b"complete")]
    assert list(repository.incoming.iterdir()) == []


def test_a_disk_that_returns_other_bytes_than_were_written_is_named(repository, monkeypatch):
    monkeypatch.setattr("webapp.backup.repository.digest_of", lambda _: Digest("0" * 64, 1))
    with pytest.raises(BackupError, match="read back after writing"):
        add(repository, LOG)


def test_a_directory_with_other_files_is_no_repository(tmp_path):
    (tmp_path / "holiday.jpg").touch()
    with pytest.raises(BackupError, match="found other files"):
        Repository(tmp_path).create()
    with pytest.raises(BackupError, match="expected a repository"):
        Repository(tmp_path).open()
    (tmp_path / "format").write_text("drivecert.backup.9")
    with pytest.raises(BackupError, match=r"expected drivecert.backup.1, found 'drivecert.backup.9'"):
        Repository(tmp_path).open()


def test_a_line_of_the_list_is_an_object():
    made = StoredObject("a" * 64, 7, Digest("b" * 64, 9))
    assert StoredObject.from_line(made.line) == made
    assert dataclasses.astuple(made) == ("a" * 64, 7, ("b" * 64, 9))
