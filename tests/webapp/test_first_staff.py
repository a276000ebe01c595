import stat

import pytest

from results.models import Organisation
from webapp.management.commands.prepare import ensure_first_staff

pytestmark = pytest.mark.django_db


def test_the_first_staff_user_can_sign_in_with_the_stored_password(tmp_path, client):
    login_file = tmp_path / "first-login.txt"
    ensure_first_staff(login_file)
    login = dict(line.split(": ") for line in login_file.read_text().splitlines())
    assert client.login(username=login["login"], password=login["password"])


def test_only_this_user_can_read_the_login_file(tmp_path):
    login_file = tmp_path / "first-login.txt"
    ensure_first_staff(login_file)
    assert stat.S_IMODE(login_file.stat().st_mode) == 0o600


def test_the_first_staff_user_acts_for_this_lab(tmp_path, django_user_model):
    ensure_first_staff(tmp_path / "first-login.txt")
    membership = django_user_model.objects.get(username="admin").memberships.get()
    assert (membership.organisation.slug, membership.organisation.kind) == ("this-lab", Organisation.Kind.LAB)


def test_no_user_is_added_where_a_staff_user_exists(tmp_path, staff, django_user_model):
    ensure_first_staff(tmp_path / "first-login.txt")
    assert django_user_model.objects.count() == 1
    assert not (tmp_path / "first-login.txt").exists()
