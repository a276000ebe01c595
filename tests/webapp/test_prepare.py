"""The contents of a prepared register."""

import shutil

import pytest
from django.core.management import call_command

from results.models import Product
from tests.results.builders import make_organisation, send
from tests.results.fixtures import evidence_dir
from webapp.register.drives.store import column_store, saved_store

__all__ = ["evidence_dir"]

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("is_wanted", [True, False])
def test_an_empty_register_is_filled_with_the_published_catalogue_unless_a_dump_will_be_imported(
    settings, tmp_path, is_wanted
):
    settings.PUBLISHED_CATALOGUE = is_wanted
    settings.DATA_DIR = tmp_path
    call_command("prepare")
    assert Product.objects.exists() == is_wanted


def test_a_large_register_has_its_column_file_before_its_first_page(settings, tmp_path, evidence_dir, monkeypatch):
    monkeypatch.setattr(saved_store, "SAVED_FROM_ROWS", 1)
    for known in ("_current", "_reader"):  # a new process knows no row
        monkeypatch.setattr(column_store, known, [])
    settings.PUBLISHED_CATALOGUE = True
    settings.DATA_DIR, settings.COLUMN_STORE_DIR = tmp_path, tmp_path / "column-store"
    call_command("prepare")
    assert saved_store.path().exists()


def test_a_register_whose_evidence_is_not_mounted_starts_and_says_so(settings, tmp_path, evidence_dir, capsys):
    send(make_organisation(), b"the log")
    shutil.rmtree(evidence_dir)
    settings.PUBLISHED_CATALOGUE, settings.DATA_DIR = False, tmp_path
    call_command("prepare")
    assert "mount its file system, or restore a backup" in capsys.readouterr().err
    assert not evidence_dir.exists()
