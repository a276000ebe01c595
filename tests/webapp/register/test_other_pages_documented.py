"""docs/reference/exports.md against the exports and parameters of the other pages."""

import re

import pytest
from django.conf import settings

from webapp.register.fleet import views as fleet_views
from webapp.register.http.query_params import labels_of
from webapp.register.news import views as news_views
from webapp.register.nines import views as nines_view
from webapp.register.sizing import page as sizing_page
from webapp.register.sizing import query as sizing_query
from webapp.register.sizing import views as sizing_views
from webapp.register.ycsb import views as ycsb_views
from webapp.register.ycsb.claims import listing
from webapp.register.ycsb.claims import page as claim_page
from webapp.register.ycsb.claims import views as claims_views
from webapp.register.ycsb.exports import FIGURE_FIELDS, POINT_FIELDS

OTHER_PAGES = (settings.BASE_DIR / "docs/reference/exports.md").read_text().split("## Other pages")[1]
EXPORTED = {
    ycsb_views.FIGURES_SCHEMA: FIGURE_FIELDS,
    ycsb_views.POINTS_SCHEMA: (*POINT_FIELDS, "of", "against", "hold", "at", "statistic"),
    claims_views.CLAIMS_SCHEMA: (*listing.FIELDS, *listing.FILTERS),
    claims_views.CLAIM_SCHEMA: claim_page.FIGURE_FIELDS,
    news_views.SCHEMA: (*news_views.FIELDS, news_views.BEFORE.key),
    nines_view.SCHEMA: (*nines_view.FIELDS, *labels_of(nines_view.PARAMETERS)),
    sizing_views.SCHEMA: (*sizing_page.FIELDS, *(field.name for field in sizing_query.FIELDS), "drive", "sort"),
    fleet_views.SCHEMA: fleet_views.FIELDS,
}


@pytest.mark.parametrize("schema", EXPORTED)
def test_every_field_and_parameter_is_documented(schema):
    (part,) = [part for part in re.split(r"\n(?=\| `|\n)", OTHER_PAGES) if f"`{schema}`" in part]
    words = set(re.findall(r"`([a-z0-9_]+)`", part)) | {"format"}
    assert [name for name in EXPORTED[schema] if name not in words] == []
