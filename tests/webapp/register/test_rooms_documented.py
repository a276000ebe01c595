"""docs/exports.md against what the rooms beside the tables export and ask."""

import re

import pytest
from django.conf import settings

from webapp.register import nines
from webapp.register.sizing import page as sizing_page
from webapp.register.sizing import question
from webapp.register.views import fleet, sizing, ycsb
from webapp.register.views import nines as nines_view
from webapp.register.ycsb import claims_page, load_question
from webapp.register.ycsb.exported import FIGURE_FIELDS, POINT_FIELDS

ROOMS = (settings.BASE_DIR / "docs/exports.md").read_text().split("## The other rooms")[1]
EXPORTED = {
    ycsb.FIGURES_SCHEMA: FIGURE_FIELDS,
    ycsb.POINTS_SCHEMA: (*POINT_FIELDS, *load_question.NAMES),
    ycsb.CLAIMS_SCHEMA: claims_page.FIELDS,
    nines_view.SCHEMA: (*nines.FIELDS, *nines.NAMES),
    sizing.SCHEMA: (*sizing_page.FIELDS, *question.NAMES),
    fleet.SCHEMA: fleet.FIELDS,
}


@pytest.mark.parametrize("schema", EXPORTED)
def test_every_field_and_parameter_is_documented(schema):
    (part,) = [part for part in re.split(r"\n(?=\| `|\n)", ROOMS) if f"`{schema}`" in part]
    words = set(re.findall(r"`([a-z0-9_]+)`", part)) | {"format"}
    assert [name for name in EXPORTED[schema] if name not in words] == []
