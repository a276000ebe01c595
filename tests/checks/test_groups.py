"""Tests that must not run at the same time are kept apart by pytest-xdist; one that ignores groups says nothing."""

import pytest


@pytest.mark.xdist_group("grouped")
def test_xdist_puts_a_test_into_its_group(request):
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("one process, or another --dist: nothing is grouped")
    assert request.node.nodeid.endswith("@grouped"), "expected pytest and pytest-xdist of requirements-dev.txt"
