"""The profile in the database against the one compiled into drivetest."""

import hashlib

import pytest
from django.conf import settings
from django.db import DatabaseError, transaction

from results.models import Profile

COMPILED_IN = settings.BASE_DIR / "runners/drivetest/crates/logs/profiles"


@pytest.mark.django_db
def test_the_compiled_in_profile_equals_the_row():
    for profile in Profile.objects.all():
        path = COMPILED_IN / f"{profile.name}.{profile.rule_version}.json"
        assert path.read_text() == profile.document


@pytest.mark.django_db
def test_a_profile_is_hashed_as_stored():
    profile = Profile.objects.get(name="operational-database", rule_version=1)
    assert hashlib.sha256(profile.document.encode()).hexdigest() == profile.sha256


@pytest.mark.django_db
def test_the_database_refuses_to_change_a_profile():
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Profile.objects.update(rule_version=2)


@pytest.mark.django_db
def test_the_database_refuses_to_delete_a_profile():
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Profile.objects.all().delete()
