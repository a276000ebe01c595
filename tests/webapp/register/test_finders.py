"""Plotly's bundle among the static files."""

import pytest
from django.contrib.staticfiles import finders

from webapp.register.finders import PlotlyFinder


def test_the_bundle_is_found_where_pages_ask_for_it():
    path = finders.find("plotly/plotly.min.js")
    assert isinstance(path, str)
    assert path.endswith("plotly.min.js")


@pytest.mark.parametrize("path", ["plotly/widgetbundle.js", "plotly/../plotly.min.js", "plotly.min.js", "plotly/"])
def test_nothing_else_of_the_package_is_served(path):
    assert finders.find(path) is None


def test_one_file_is_listed_under_its_prefix():
    ((path, storage),) = PlotlyFinder().list(None)
    assert (path, storage.prefix, storage.exists(path)) == ("plotly.min.js", "plotly", True)
