"""The API's description: OpenAPI as JSON, and the same as a page that needs no script."""

import json
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from webapp.api.schema import CODE_OF_REFUSALS
from webapp.api.views import View

METHODS = ["get", "post", "put", "patch", "delete"]
SAMPLES = Path(__file__).with_name("samples.json")  # written by tests/webapp/api/test_samples.py


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The authentication by token, as the schema describes it."""

    target_class = "webapp.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        """Return an OpenAPI security scheme."""
        return {"type": "http", "scheme": "bearer"}


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Show every operation and the first steps."""
    without_token = [each for each in operations() if not each["needs_token"]]
    with_token = [each for each in operations() if each["needs_token"]]
    groups = {"Addresses without a token": without_token, "Addresses that need a token": with_token}
    context = {"groups": groups.items(), "origin": f"{request.scheme}://{request.get_host()}"}
    return render(request, "api/docs.html", context)


@cache
def operations() -> list[dict[str, Any]]:
    """Return every operation of the schema, in its order, as the page lists it."""
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return [
        {
            "method": method.upper(),
            "path": path,
            "summary": methods[method].get("summary", ""),
            "description": methods[method].get("description", ""),
            "needs_token": {} not in methods[method].get("security", [{}]),
            "fields": _fields(schema, methods[method]),
            "sample": _sample(f"{method.upper()} {path}"),
            "answers": [
                (code, HTTPStatus(int(code)).phrase)
                for code in methods[method]["responses"]
                if code != CODE_OF_REFUSALS
            ],
        }
        for path, methods in schema["paths"].items()
        for method in METHODS
        if method in methods
    ]


@cache
def samples() -> dict[str, Any]:
    """Return a response for each operation, by method and path, with the request that it answers."""
    found: dict[str, Any] = json.loads(SAMPLES.read_text())
    return found


def _sample(operation: str) -> dict[str, str]:
    """Return the request and the response of a sample as text."""
    sample = samples()[operation]
    body = "" if sample["response"] is None else json.dumps(sample["response"], indent=2, ensure_ascii=False)
    return {"request": sample["request"], "status": str(sample["status"]), "body": body}


def _fields(schema: dict[str, Any], operation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parameters of an operation and the fields of its body, if it has any."""
    parameters = [(part["name"], part["in"], part.get("required", False)) for part in operation.get("parameters", [])]
    content = operation.get("requestBody", {}).get("content", {"": {"schema": {}}})
    name = next(iter(content.values()))["schema"].get("$ref", "").rsplit("/", 1)[-1]
    shape = schema["components"]["schemas"].get(name, {})
    body = [(name, "form", name in shape.get("required", [])) for name in shape.get("properties", {})]
    return [
        {"name": name, "place": place, "is_required": is_required} for name, place, is_required in parameters + body
    ]


@extend_schema(exclude=True)
class Unknown(View):
    """All other addresses below /api/: an error in the format of the API."""

    permission_classes = []

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Respond before the method is checked."""
        raise NotFound(f"{request.path} is not an address of the API. /api/v1/docs/ lists all addresses.")
