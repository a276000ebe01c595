"""docs/privacy.md lists every column with personal data, and only those."""

import re
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model

PAGE = Path(settings.BASE_DIR / "docs/privacy.md")
# All columns of these apps are about people.
ABOUT_PEOPLE = ("accounts", "account", "mfa", "usersessions", "sessions")
# User names that are stored as text and not as a reference.
NAMES_AS_TEXT = {("runners.Step", "actor"), ("runners.CampaignEntry", "actor")}


def documented_fields():
    """Return (table, field) for each row, which must also state purpose and period."""
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        tables = re.findall(r"`([a-z]+\.[A-Z]\w+)`", cells[0])
        if tables:
            _, fields, purpose, period = cells
            assert purpose, line
            assert period, line
            yield from ((table, field) for table in tables for field in re.findall(r"`(\w+)`", fields))


def stored_fields():
    for model in apps.get_models():
        is_about_people = model._meta.app_label in ABOUT_PEOPLE
        for field in [*model._meta.fields, *model._meta.many_to_many]:
            is_person = field.is_relation and field.related_model is get_user_model()
            if is_person or (is_about_people and not (field.primary_key and field.name == "id")):
                yield model._meta.label, field.name


def test_each_field_with_personal_data_is_documented_once():
    documented = list(documented_fields())
    assert sorted(documented) == sorted({*stored_fields(), *NAMES_AS_TEXT})
    assert len(documented) == len(set(documented))
