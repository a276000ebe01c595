"""Groups of pytest-xdist for tests that must not run at the same time; xdist does not report an ignored group."""

import pytest

from tests.scheduling import ModuleScheduling

MODULE = "tests/webapp/routes/test_table.py"


@pytest.mark.xdist_group("grouped")
def test_xdist_assigns_a_test_to_its_group(request):
    is_grouping = request.config.getoption("loadgroup", default=False)  # neither in one process nor with another --dist
    name = request.node.nodeid
    assert name.endswith("@grouped") == is_grouping, "expected pytest and pytest-xdist of requirements-dev.txt"


@pytest.mark.parametrize(
    ("test", "group"),
    [
        (f"{MODULE}::test_one", MODULE),
        (f"{MODULE}::test_one[mia@example.org]", MODULE),
        (f"{MODULE}::TestOne::test_two", MODULE),
        (f"{MODULE}::test_one@grouped", "grouped"),
        (f"{MODULE}::test_one[mia@example.org]@grouped", "grouped"),
    ],
)
def test_a_test_goes_to_the_worker_of_its_group_or_of_its_module(test, group):
    assert object.__new__(ModuleScheduling)._split_scope(test) == group
