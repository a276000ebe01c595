"""Each permission check, removed in turn: the table of docs/security.md must notice."""

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.decorators import login_required

from tests.webapp.routes.table import PEOPLE, documented, documented_scopes, routes
from tests.webapp.routes.world import FORMER_OPERATOR, FORMER_REVIEWER, make_world
from webapp.accounts.models import Scope
from webapp.api.permissions import NeedsScope

pytestmark = [pytest.mark.django_db, pytest.mark.long]

CHECKED = [row for row in documented() if set(row.answers.values()) != {"yes"}]
CHECKS = {  # a call becomes True
    "may", "may_see", "is_opened_by", "holds_link", "is_public", "_is_of_sender", "_is_sender", "_refuse_others",
    "require_owner",
}  # fmt: skip
SELECTIONS = {  # of a filter by the client: it is left out
    "user=request.user", "organisation=token_of(request).organisation_id", "organisation__in=organisations",
    "organisation__in=sender.organisations", "memberships__user=request.user", "memberships__organisation=organisation",
    "email__in=emails", "filed_by=request.user",
}  # fmt: skip
OF_REVIEWERS = {row.route for row in documented_scopes() if row.answers[Scope.REVIEW] == "yes"}
OF_OPERATORS = {row.route for row in documented_scopes() if row.answers[Scope.ORDER] == "yes"}
SELECTED = "organisations_of"  # a call becomes all organisations
# These decide what a page shows or offers to those who may open it. The tests of each page compare its content.
SHOWN = {
    "submission_page", "account", "link_query", "guarded", "_head_context", "life_of", "RunIntervals.get", "lab_of",
    "SnapshotMiddleware._send_stored_or_render", "_only_for.answer", "may_see", "citation_of_run", "TokenForm.__init__",
    "head_of_run", "withdrawal_parts", "file_parts", "member_list.may", "TransferForm.__init__", "may_read",
    "_invitations", "_empty", "object_to_run", "_show_form",
    "_may_read_unadmitted",  # of an objection: tests of its states
    "_find_run",  # to object to: tests of runs that are not public
    "offered_scopes",  # of new tokens: tests of the form
    "_require_operator",  # of a sequestered run: tests of states
    "_lock_as_owner",  # views check the same first
    "AccountAdapter.get_login_redirect_url",
    "_notify_owners",  # whom mail reaches
    "move_embargo",  # reviewers may move one, but not shorten it: tests of embargoes
}  # fmt: skip


@pytest.fixture
def world(evidence_dir, stand_in):
    return make_world()


def is_noticed(world, rows):
    """Return whether an answer differs from the table, or is an error."""
    try:
        return any(
            world.is_allowed(row, person) != (row.answers[person] != "no")
            or (row.answers[person] == "own" and world.is_allowed(row, person, foreign=True))
            for row in rows
            for person in PEOPLE
        ) or any(
            world.is_allowed(row, former)
            for former, routes_of_role in ((FORMER_REVIEWER, OF_REVIEWERS), (FORMER_OPERATOR, OF_OPERATORS))
            for row in rows
            if row.route in routes_of_role
        )
    except AssertionError:
        return True


def layers_of(view):
    """Return the view and what its decorators wrapped, from the outside."""
    layers = [view]
    while hasattr(layers[-1], "__wrapped__"):
        layers.append(layers[-1].__wrapped__)
    return layers


def decorated_with(view, decorator):
    codes = [getattr(layer, "__code__", None) for layer in layers_of(view)]
    return any(code is not None and code.co_qualname == f"{decorator}.<locals>.answer" for code in codes)


@contextmanager
def view_of(pattern, view):
    original, pattern.callback = pattern.callback, view
    yield
    pattern.callback = original


@pytest.mark.parametrize(("decorator", "instead"), [("members_only", None), ("_only_for", login_required)])
def test_a_view_without_its_decorator_is_noticed(world, decorator, instead):
    found, survivors = 0, []
    for route, pattern in routes().items():
        if decorated_with(pattern.callback, decorator):
            found += 1
            bare = layers_of(pattern.callback)[-1]
            with view_of(pattern, instead(bare) if instead else bare):
                if not is_noticed(world, [row for row in CHECKED if row.route == route]):
                    survivors.append(route)
    assert survivors == []
    assert found > 40


def test_a_view_of_the_api_without_its_permission_is_noticed(world, monkeypatch):
    found, survivors = 0, []
    for route, pattern in routes().items():
        view = getattr(pattern.callback, "cls", None)
        if view is not None and NeedsScope in view.permission_classes:
            found += 1
            for fewer in {(), tuple(view.permission_classes[:-1])}:
                with monkeypatch.context() as patch:
                    patch.setattr(view, "permission_classes", fewer)
                    if not is_noticed(world, [row for row in CHECKED if row.route == route]):
                        survivors.append((route, fewer))
    assert survivors == []
    assert found >= 4


class Mutation(ast.NodeTransformer):
    """Removes one check of a module: the one with this number."""

    def __init__(self, number: int) -> None:
        self.number, self.found, self.place = number, 0, ""
        self.scope: list[str] = []

    def visit_scope(self, node):
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()
        return node

    visit_FunctionDef = visit_ClassDef = visit_scope  # noqa: N815

    def _is_next(self, name):
        if {".".join(self.scope), ".".join([*self.scope, name])} & SHOWN:
            return False
        self.found += 1
        if self.found != self.number:
            return False
        self.place = ".".join(self.scope)
        return True

    def visit_Call(self, node):
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in CHECKS and self._is_next(name):
            return ast.copy_location(ast.Constant(True), node)
        if name == SELECTED and self._is_next(name):
            everything = ast.parse("__import__('results.models').models.Organisation.objects.all()", mode="eval").body
            return ast.copy_location(everything, node)
        for keyword in node.keywords:
            selection = f"{keyword.arg}={ast.unparse(keyword.value)}"
            if selection in SELECTIONS and self._is_next(selection):
                node.keywords.remove(keyword)
                break
        return node


def codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def mutants() -> Iterator[tuple[str, FunctionType, CodeType]]:
    """Yield the module and the function of each check in the source, and its code without the check."""
    for path in sorted(Path(settings.BASE_DIR / "webapp").rglob("*.py")):
        source = path.read_text()
        if not any(word in source for word in {f"{name}(" for name in CHECKS | {SELECTED}} | SELECTIONS):
            continue
        name = ".".join(path.relative_to(settings.BASE_DIR).with_suffix("").parts)
        number = 1
        while (mutation := Mutation(number)).visit(tree := ast.parse(source)) and mutation.place:
            code = compile(ast.fix_missing_locations(tree), str(path), "exec")
            (changed,) = [each for each in codes_in(code) if each.co_qualname == mutation.place]
            target: Any = importlib.import_module(name)
            for part in mutation.place.split("."):
                target = getattr(target, part)
            yield name, inspect.unwrap(target), changed
            number += 1


def test_a_function_without_its_check_is_noticed(world):
    found, survivors = 0, []
    modules = {route: layers_of(pattern.callback)[-1].__module__ for route, pattern in routes().items()}
    for module, function, code in mutants():
        found += 1
        names = {function.__name__, module.rpartition(".")[2]}
        users = {each for each in modules.values() if each == module or names & vars(sys.modules[each]).keys()}
        rows = sorted(CHECKED, key=lambda row: modules[row.route] not in users)
        original, function.__code__ = function.__code__, code
        if not is_noticed(world, rows):
            survivors.append((module, function.__qualname__))
        function.__code__ = original
    assert survivors == []
    assert found >= 10
