"""A comparison as CSV and JSON: the rows of its tables, a column for each run (docs/exports.md)."""

from typing import Any

from django.http import HttpResponse, JsonResponse

from webapp.register.compare.page import Comparison
from webapp.register.http.files import Value, csv_response

SCHEMA = "drivecert.comparison/1"


def as_csv(told: Comparison) -> HttpResponse:
    """Return the rows of all tables as CSV."""
    header = ["part", "row", "unit", "differs", *(head.run.public_id for head in told.heads)]
    lines: list[list[Value]] = [["name", "name", "", False, *(head.name for head in told.heads)]]
    on_no_drive = [head.run.is_on_no_drive for head in told.heads]
    lines.append(["run", "is_on_no_drive", "", len(set(on_no_drive) - {None}) > 1, *on_no_drive])
    for part, rows in (("drive", told.drives), ("figure", told.figures)):
        lines += [[part, row.code, row.unit, row.differs, *(value.text for value in row.values)] for row in rows]
    lines += [["condition", row.name, "", row.differs, *row.values] for row in told.conditions]
    return csv_response("comparison", header, lines)


def as_json(told: Comparison) -> JsonResponse:
    """Return the same as JSON, with the reasons."""
    return JsonResponse(
        {
            "schema": SCHEMA,
            "is_comparable": told.is_comparable,
            "is_weak": told.is_weak,
            "conditions_count": told.silence.conditions,
            "runs": [
                {
                    "run": head.run.public_id,
                    "name": head.name,
                    "is_on_no_drive": head.run.is_on_no_drive,
                    "not_stated_count": number,
                }
                for head, number in zip(told.heads, told.silence.by_run, strict=True)
            ],
            "differing": [_condition(row) for row in told.differing],
            "unknown": told.silence.labels,
            "rows": [
                {
                    "part": part,
                    "row": row.code,
                    "unit": row.unit,
                    "differs": row.differs,
                    "values": [value.text for value in row.values],
                }
                for part, rows in (("drive", told.drives), ("figure", told.figures))
                for row in rows
            ],
            "conditions": [_condition(row) for row in told.conditions],
        }
    )


def _condition(row: Any) -> dict[str, Any]:
    return {
        "name": row.name,
        "values": row.values,
        "differs": row.differs,
        "is_unknown": row.is_unknown,
        "why": row.why,
    }
