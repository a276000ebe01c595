import os
import stat
import tempfile

import pytest

from webapp.supervisor.data_directory import (
    is_private,
    missing_addresses,
    private_socket_dir,
    remove_addresses,
    remove_socket_dir,
    write_addresses,
)


@pytest.fixture
def path_file(tmp_path):
    path_file = tmp_path / "sockets"
    yield path_file
    remove_socket_dir(path_file, None)


def test_a_second_call_returns_the_same_directory(path_file):
    first = private_socket_dir(path_file, None)
    assert private_socket_dir(path_file, None) == first
    assert is_private(first, os.geteuid())


def test_a_directory_that_others_can_enter_is_replaced(path_file):
    first = private_socket_dir(path_file, None)
    first.chmod(0o755)
    second = private_socket_dir(path_file, None)
    first.rmdir()
    assert second != first


def test_a_symbolic_link_is_not_followed(path_file, tmp_path):
    first = private_socket_dir(path_file, None)
    first.rmdir()
    (tmp_path / "target").mkdir(mode=0o700)
    first.symlink_to(tmp_path / "target")
    assert private_socket_dir(path_file, None) != first
    first.unlink()


def test_a_directory_of_another_user_is_not_private(tmp_path):
    tmp_path.chmod(0o700)
    assert is_private(tmp_path, os.geteuid())
    assert not is_private(tmp_path, os.geteuid() + 1)


def test_a_temporary_directory_with_a_long_path_is_not_used(path_file, tmp_path, monkeypatch):
    long = tmp_path / ("x" * 90)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    directory = private_socket_dir(path_file, None)
    assert len(str(directory / ".s.PGSQL.5432.lock")) <= 107


def test_removing_the_directory_removes_the_files_of_the_servers(path_file):
    directory = private_socket_dir(path_file, None)
    (directory / "redis.sock").touch()
    remove_socket_dir(path_file, None)
    assert not directory.exists()
    assert not path_file.exists()


@pytest.fixture
def run_dir(tmp_path):
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    write_addresses(run_dir, {"DATABASE_URL": "postgresql:///embedded", "SECRET_KEY": "k"})
    return run_dir


def test_a_command_gets_the_addresses_that_its_environment_lacks(run_dir):
    environment = {"DRIVECERT_DATA": str(run_dir.parent), "SECRET_KEY": "own"}
    assert missing_addresses(environment) == {"DATABASE_URL": "postgresql:///embedded"}


def test_a_stopped_register_has_no_addresses(run_dir):
    remove_addresses(run_dir)
    assert missing_addresses({"DRIVECERT_DATA": str(run_dir.parent)}) == {}


def test_only_this_user_can_read_the_address_file(run_dir):
    assert stat.S_IMODE((run_dir / "addresses.json").stat().st_mode) == 0o600
