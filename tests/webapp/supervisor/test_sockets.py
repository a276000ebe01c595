import os
import tempfile

import pytest

from webapp.supervisor.sockets import is_private, private_socket_dir, remove_socket_dir


@pytest.fixture
def note(tmp_path):
    note = tmp_path / "sockets"
    yield note
    remove_socket_dir(note, None)


def test_the_directory_is_found_again(note):
    first = private_socket_dir(note, None)
    assert private_socket_dir(note, None) == first
    assert is_private(first, os.geteuid())


def test_a_directory_that_others_can_enter_is_not_used_again(note):
    first = private_socket_dir(note, None)
    first.chmod(0o755)
    second = private_socket_dir(note, None)
    first.rmdir()
    assert second != first


def test_a_link_in_its_place_is_not_followed(note, tmp_path):
    first = private_socket_dir(note, None)
    first.rmdir()
    (tmp_path / "target").mkdir(mode=0o700)
    first.symlink_to(tmp_path / "target")
    assert private_socket_dir(note, None) != first
    first.unlink()


def test_a_directory_of_another_user_is_not_private(tmp_path):
    tmp_path.chmod(0o700)
    assert is_private(tmp_path, os.geteuid())
    assert not is_private(tmp_path, os.geteuid() + 1)


def test_a_long_temporary_directory_is_passed_over(note, tmp_path, monkeypatch):
    long = tmp_path / ("x" * 90)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    directory = private_socket_dir(note, None)
    assert len(str(directory / ".s.PGSQL.5432.lock")) <= 107


def test_removing_takes_what_servers_left(note):
    directory = private_socket_dir(note, None)
    (directory / "redis.sock").touch()
    remove_socket_dir(note, None)
    assert not directory.exists()
    assert not note.exists()
