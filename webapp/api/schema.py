"""Additions to the generated schema: the form of a refusal, and the links between operations."""

import re
from collections.abc import Iterator
from typing import Any

CODE_OF_REFUSALS = "4XX"
PROBLEM = "Problem"
PARAMETER = re.compile(r"{(\w+)}")
TEXT = {"type": "string"}
FIELDS = {
    "type": TEXT,
    "title": TEXT,
    "status": {"type": "integer"},
    "detail": TEXT | {"description": "The sentence for people."},
    "code": TEXT | {"description": "The reason for scripts, if there is one."},
    "errors": {
        "type": "array",
        "items": {"type": "object", "properties": {"field": TEXT, "detail": TEXT}, "required": ["field", "detail"]},
    },
}


def add_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Return the schema with the form of a refusal (RFC 9457) for each operation."""
    required = ["type", "title", "status", "detail"]
    result["components"]["schemas"][PROBLEM] = {"type": "object", "properties": FIELDS, "required": required}
    content = {"application/problem+json": {"schema": {"$ref": f"#/components/schemas/{PROBLEM}"}}}
    for operations in result["paths"].values():
        for operation in operations.values():
            refusal = {"description": "the request is refused", "content": content}
            operation["responses"].setdefault(CODE_OF_REFUSALS, refusal)
    return result


def add_links(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Return the schema with links from the rows of lists, and from new rows, to the operations on a row."""
    for target, source, parameters, field in _operations_on_rows(result["paths"]):
        for method, pointer in (("get", "/results/0/"), ("post", "/")):
            for code, response in result["paths"][source].get(method, {}).get("responses", {}).items():
                if code.startswith("2") and "content" in response:
                    link = {"operationId": target, "parameters": {**parameters, **_read(field, pointer)}}
                    response.setdefault("links", {})[target] = link
    return result


def _operations_on_rows(paths: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, str], str]]:
    """Yield each operation on a row: its id, the path of the list, the parameters of both, and its own parameter."""
    for path, operations in paths.items():
        *shared, own = PARAMETER.findall(path) or [""]
        source = path.partition(f"{{{own}}}")[0]
        if own and source in paths:
            parameters = {name: f"$request.path.{name}" for name in shared}
            yield from ((each["operationId"], source, parameters, own) for each in operations.values())


def _read(parameter: str, pointer: str) -> dict[str, str]:
    """Return the value of a parameter in a response: the name of a row, or its id."""
    return {parameter: f"$response.body#{pointer}{'name' if parameter == 'name' else 'id'}"}
