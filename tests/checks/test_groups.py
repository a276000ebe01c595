"""Groups of pytest-xdist for tests that must not run at the same time; xdist does not report an ignored group."""

import pytest


@pytest.mark.xdist_group("grouped")
def test_xdist_assigns_a_test_to_its_group(request):
    is_grouping = request.config.getoption("loadgroup", default=False)  # neither in one process nor with another --dist
    name = request.node.nodeid
    assert name.endswith("@grouped") == is_grouping, "expected pytest and pytest-xdist of requirements-dev.txt"
