import stat

import pytest

from results.models import Organisation
from webapp.supervisor.first_staff import ensure_first_staff

pytestmark = pytest.mark.django_db


def test_the_first_staff_user_can_sign_in_with_the_noted_password(tmp_path, client):
    note = tmp_path / "first-login.txt"
    ensure_first_staff(note)
    words = dict(line.split(": ") for line in note.read_text().splitlines())
    assert client.login(username=words["login"], password=words["password"])


def test_the_note_is_ours_alone(tmp_path):
    note = tmp_path / "first-login.txt"
    ensure_first_staff(note)
    assert stat.S_IMODE(note.stat().st_mode) == 0o600


def test_the_first_staff_user_acts_for_this_lab(tmp_path, django_user_model):
    ensure_first_staff(tmp_path / "first-login.txt")
    membership = django_user_model.objects.get(username="admin").memberships.get()
    assert (membership.organisation.slug, membership.organisation.kind) == ("this-lab", Organisation.Kind.LAB)


def test_where_there_is_staff_nobody_is_added(tmp_path, staff, django_user_model):
    ensure_first_staff(tmp_path / "first-login.txt")
    assert django_user_model.objects.count() == 1
    assert not (tmp_path / "first-login.txt").exists()
