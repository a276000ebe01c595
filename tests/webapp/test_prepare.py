"""The contents of a prepared register."""

import pytest
from django.core.management import call_command

from results.models import Product

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("is_wanted", [True, False])
def test_an_empty_register_is_filled_with_the_published_catalogue_unless_a_dump_will_be_imported(
    settings, tmp_path, is_wanted
):
    settings.PUBLISHED_CATALOGUE = is_wanted
    settings.DATA_DIR = tmp_path
    call_command("prepare")
    assert Product.objects.exists() == is_wanted
