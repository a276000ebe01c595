"""Each permission check, removed in turn: the table of docs/security.md must notice."""

import ast
import importlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.urls import URLPattern

from tests.webapp.routes.table import PEOPLE, documented, documented_scopes, routes
from tests.webapp.routes.world import FORMER_OPERATOR, FORMER_REVIEWER
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


def is_noticed(world, rows):
    """Return whether an answer differs from the table, or is an error."""
    try:
        return any(differs(world, row) for row in rows)
    except AssertionError:
        return True


def differs(world, row):
    """Return whether an answer of a route differs from the table, also to a token whose user lost the role."""
    # First those whom the check refuses: without it, most of them get in.
    people = sorted(PEOPLE, key=lambda person: ["no", "own", "yes"].index(row.answers[person]))
    former = [(FORMER_REVIEWER, OF_REVIEWERS), (FORMER_OPERATOR, OF_OPERATORS)]
    return any(
        (row.answers[person] == "own" and world.is_allowed(row, person, foreign=True))
        or world.is_allowed(row, person) != (row.answers[person] != "no")
        for person in people
    ) or any(world.is_allowed(row, person) for person, of_role in former if row.route in of_role)


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


OWN = ("webapp", "runners", "results")  # the packages of the register
FAR = 99


def functions_in(value: Any) -> Iterator[FunctionType]:
    """Yield the functions of the register that a value is, wraps, or has as methods or in its lists."""
    if isinstance(value, type):
        own = [each for each in value.__mro__ if each.__module__.split(".")[0] in OWN]
        parts = [part for each in own for part in vars(each).values()]
    else:
        parts = list(value) if isinstance(value, list | tuple) else layers_of(value)
    for part in parts:
        function = getattr(part, "fget", getattr(part, "__func__", part))  # of a property or a class method
        if isinstance(function, FunctionType):
            if function.__module__.split(".")[0] in OWN:
                yield function
        elif part is not value and isinstance(part, type | list | tuple):
            yield from functions_in(part)


def called_by(function: FunctionType) -> Iterator[FunctionType]:
    """Yield the functions that a function names or has received from one around it."""
    names = {name for code in codes_in(function.__code__) for name in code.co_names}
    values = [function.__globals__[name] for name in names if name in function.__globals__]
    values += [
        getattr(each, name) for each in values if inspect.ismodule(each) for name in names if hasattr(each, name)
    ]
    values += [cell.cell_contents for cell in function.__closure__ or ()]
    for value in values:
        yield from functions_in(value)


def view_class_or_function(pattern: URLPattern) -> Any:
    return getattr(pattern.callback, "cls", None) or getattr(pattern.callback, "view_class", pattern.callback)


def distances_from(view: Any) -> dict[FunctionType, int]:
    """Return how many calls each function of the register is away from a view, as far as names show."""
    distance, found = 0, dict.fromkeys(functions_in(view), 0)
    latest = list(found)
    while latest:
        distance += 1
        latest = [each for each in {each for one in latest for each in called_by(one)} if each not in found]
        found |= dict.fromkeys(latest, distance)
    return found


def test_a_function_without_its_check_is_noticed(world):
    """The routes that are nearest to the function come first; all others follow."""
    found, survivors = 0, []
    distances = {
        route: distances_from(
            getattr(pattern.callback, "cls", getattr(pattern.callback, "view_class", pattern.callback))
        )
        for route, pattern in routes().items()
    }
    for module, function, code in mutants():
        found += 1
        rows = sorted(CHECKED, key=lambda row: distances[row.route].get(function, FAR))
        original, function.__code__ = function.__code__, code
        if not is_noticed(world, rows):
            survivors.append((module, function.__qualname__))
        function.__code__ = original
    assert survivors == []
    assert found >= 10
