"""The table of roles and routes of docs/security.md, and the routes that the site has."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.admindocs.views import simplify_regex
from django.urls import URLPattern, URLResolver, get_resolver

from webapp.accounts.models import Scope

PEOPLE = (
    "visitor", "link", "other", "viewer", "submitter", "owner", "reviewer", "operator", "token", "other token",
)  # fmt: skip
HEADER = ["route", "method", *PEOPLE]
PUBLIC_HEADER = ["public route", "method"]
STATES_HEADER = ["state of a run", *PEOPLE]
DRAFT_STATES_HEADER = ["state of a draft", "route", *PEOPLE]
HIDDEN_HEADER = ["state of a run with a hidden log", "route", *PEOPLE]
OBJECTION_STATES_HEADER = ["state of an objection", *PEOPLE]
SCOPES_HEADER = ["route of the API", "method", *Scope.values]
METHODS = ("GET", "POST")


@dataclass(frozen=True)
class Row:
    """One route and method, with the documented answer for each kind of client: yes, no, or own."""

    route: str
    method: str
    answers: dict[str, str]


def tables() -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield the header and the rows of each table of the page."""
    text = Path(settings.BASE_DIR / "docs/security.md").read_text()
    for table in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        lines = ([cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in table.splitlines())
        header, _, *rows = lines
        yield header, rows


def documented() -> list[Row]:
    """Return the rows of all tables of routes. Public routes are open to everyone."""
    found = []
    for header, rows in tables():
        for route, *cells in rows:
            if header == HEADER:
                methods, *answers = cells
                found += [Row(route, method, dict(zip(PEOPLE, answers, strict=True))) for method in methods.split(", ")]
            elif header == PUBLIC_HEADER:
                found += [Row(route, method, dict.fromkeys(PEOPLE, "yes")) for method in cells[0].split(", ")]
    return found


def documented_scopes() -> list[Row]:
    """Return the rows of the table of scopes, each with the answer for a token with one scope."""
    (rows,) = [rows for header, rows in tables() if header == SCOPES_HEADER]
    return [
        Row(route, method, dict(zip(Scope.values, answers, strict=True)))
        for route, methods, *answers in rows
        for method in methods.split(", ")
    ]


def documented_states() -> dict[str, dict[str, str]]:
    """Return the answers for a run in each state."""
    (rows,) = [rows for header, rows in tables() if header == STATES_HEADER]
    return {state: dict(zip(PEOPLE, answers, strict=True)) for state, *answers in rows}


def documented_hidden_logs() -> dict[tuple[str, str], dict[str, str]]:
    """Return the answers about a run whose log is hidden, by the state of the run and the route."""
    (rows,) = [rows for header, rows in tables() if header == HIDDEN_HEADER]
    return {(state, route): dict(zip(PEOPLE, answers, strict=True)) for state, route, *answers in rows}


def documented_draft_states() -> dict[tuple[str, str], dict[str, str]]:
    """Return the answers for a draft in each state, by state and route."""
    (rows,) = [rows for header, rows in tables() if header == DRAFT_STATES_HEADER]
    return {(state, route.strip("`")): dict(zip(PEOPLE, answers, strict=True)) for state, route, *answers in rows}


def documented_objection_states() -> dict[str, dict[str, str]]:
    """Return the answers for an objection in each state."""
    (rows,) = [rows for header, rows in tables() if header == OBJECTION_STATES_HEADER]
    return {state: dict(zip(PEOPLE, answers, strict=True)) for state, *answers in rows}


def routes() -> dict[str, URLPattern]:
    """Return every route of the site by its pattern, such as /runs/<public_id>/."""
    return dict(_walk(get_resolver(), ""))


def _walk(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, URLPattern]]:
    for pattern in resolver.url_patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern, path)
        else:
            yield simplify_regex(re.sub(r"<\w+:(\w+)>", r"<\1>", path)), pattern
