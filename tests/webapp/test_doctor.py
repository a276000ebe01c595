from io import StringIO

import pytest
from django.core.management import call_command
from django.test import override_settings

from webapp import doctor


def told():
    output = StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("doctor", stdout=output)
    return end.value.code, output.getvalue()


@pytest.mark.django_db
def test_every_part_is_told_with_a_remedy_where_it_is_ill():
    status, text = told()
    assert status == 1  # no worker runs beside the tests
    assert "well PostgreSQL: 18." in text
    assert "well migrations: 0 pending" in text
    assert "ill  worker: not heard lately\n     -> start it" in text


@pytest.mark.django_db
def test_no_secret_is_shown(settings):
    settings.SECRET_KEY = "hush"
    settings.DATABASE_URL = "postgresql://drivecert:hush@/drivecert?host=/run/sockets"
    settings.REDIS_URL = "redis+socket://:hush@/run/redis.sock?virtual_host=0"
    _, text = told()
    assert "hush" not in text
    assert "postgresql://drivecert:***@/drivecert?host=/run/sockets" in text


def test_a_missing_program_is_ill(tmp_path):
    with override_settings(DRIVETEST=tmp_path / "drivetest"):
        check = doctor.examine_drivetest()
    assert "does not run" in check.found
    assert "make drivetest" in check.remedy


def test_a_missing_data_directory_is_ill(tmp_path):
    with override_settings(DATA_DIR=tmp_path / "var"):
        assert doctor.examine_data_dir().remedy
    with override_settings(DATA_DIR=tmp_path):
        assert not doctor.examine_data_dir().remedy
