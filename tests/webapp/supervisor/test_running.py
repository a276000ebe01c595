import stat

import pytest

from webapp.supervisor.running import forget_addresses, take_addresses, write_addresses


@pytest.fixture
def run_dir(tmp_path):
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    write_addresses(run_dir, {"DATABASE_URL": "postgresql:///embedded", "SECRET_KEY": "k"})
    return run_dir


def test_a_command_takes_what_it_lacks(run_dir):
    environment = {"DRIVECERT_DATA": str(run_dir.parent), "SECRET_KEY": "own"}
    assert take_addresses(environment) == {"DATABASE_URL": "postgresql:///embedded"}


def test_a_register_that_stopped_gives_nothing(run_dir):
    forget_addresses(run_dir)
    assert take_addresses({"DRIVECERT_DATA": str(run_dir.parent)}) == {}


def test_the_note_is_ours_alone(run_dir):
    assert stat.S_IMODE((run_dir / "addresses.json").stat().st_mode) == 0o600
