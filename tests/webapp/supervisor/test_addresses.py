import stat

import pytest

from webapp.supervisor.address import missing_addresses, remove_addresses, write_addresses


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
