"""docs/architecture.md against the structure of the source tree."""

import pytest
from django.conf import settings

from scripts import structure

FLAT_MODULES = {
    "runners": {"apps", "errors", "tasks"},
    "results": {"apps", "errors", "history", "locks", "tasks"},
    "webapp.register": {"apps", "tasks", "urls"},
}


def test_the_page_shows_the_structure_of_this_tree():
    page = structure.PAGE.read_text()
    assert page == structure.render(page), "update the page: python scripts/structure.py --write"


@pytest.mark.parametrize("app", FLAT_MODULES)
def test_new_modules_are_in_packages(app):
    assert set(structure.flat_modules(settings.BASE_DIR, app)) <= FLAT_MODULES[app]


@pytest.mark.parametrize("app", structure.APPS)
def test_no_modules_import_each_other(app):
    assert structure.ImportGraph.of_tree(settings.BASE_DIR).inside(app).cycles() == []


def test_a_cycle_is_found_and_counts_once_in_the_longest_path():
    graph = structure.ImportGraph({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"d"}})
    assert graph.cycles() == [["b", "c"]]
    assert graph.longest_path()[0] == "a"
    assert len(graph.longest_path()) == 3


def test_only_imports_at_run_time_count(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(
        "from typing import TYPE_CHECKING\nfrom pkg import low\nif TYPE_CHECKING:\n    from pkg import high\n"
    )
    assert structure.imports_of(module, {"pkg", "pkg.low", "pkg.high"}) == {"pkg.low"}


def test_a_page_without_a_marker_is_refused():
    with pytest.raises(ValueError, match="generated: measures"):
        structure.render("# Architecture\n")
