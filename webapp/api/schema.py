"""Additions to the generated schema: the form of a refusal, which every operation may return."""

from typing import Any

CODE_OF_REFUSALS = "4XX"
PROBLEM = "Problem"
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
