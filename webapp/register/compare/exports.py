"""A comparison as CSV and JSON: the rows of its tables, a column for each run (docs/reference/exports.md)."""

from typing import Any

from django.http import HttpResponse, JsonResponse

from webapp.register.comparability.comparable import Condition
from webapp.register.compare.figures import Line
from webapp.register.compare.page import Comparison
from webapp.register.http.files import Value, csv_response

SCHEMA = "drivecert.comparison/1"


def as_csv(comparison: Comparison) -> HttpResponse:
    """Return the rows of all tables as CSV."""
    header = ["part", "row", "unit", "differs", *(head.run.public_id for head in comparison.heads)]
    lines: list[list[Value]] = [["name", "name", "", False, *(head.name for head in comparison.heads)]]
    on_no_drive = [head.run.is_on_no_drive for head in comparison.heads]
    lines.append(["run", "is_on_no_drive", "", len(set(on_no_drive) - {None}) > 1, *on_no_drive])
    grey = [head.is_grey for head in comparison.heads]
    lines.append(["run", "is_grey", "", any(grey), *grey])
    lines += [[part, row.code, row.unit, row.differs, *row.exported] for part, row in _rows(comparison)]
    lines += [["condition", row.name, "", row.differs, *row.exported] for row in comparison.conditions]
    return csv_response("comparison", header, lines)


def as_json(comparison: Comparison) -> JsonResponse:
    """Return the same as JSON, with the reasons."""
    return JsonResponse(
        {
            "schema": SCHEMA,
            "is_comparable": comparison.is_comparable,
            "is_weak": comparison.is_weak,
            "conditions_count": comparison.unreported.conditions,
            "runs": [
                {
                    "run": head.run.public_id,
                    "name": head.name,
                    "is_on_no_drive": head.run.is_on_no_drive,
                    "is_grey": head.is_grey,
                    "measures": [trait.text for trait in head.traits],
                    "not_stated_count": number,
                }
                for head, number in zip(comparison.heads, comparison.unreported.by_run, strict=True)
            ],
            "differing": [_condition(row) for row in comparison.differing],
            "unknown": comparison.unreported.labels,
            "rows": [
                {"part": part, "row": row.code, "unit": row.unit, "differs": row.differs, "values": row.exported}
                | {"misleads": part == "figure" and row.is_of_the_test and not comparison.is_comparable}
                for part, row in _rows(comparison)
            ],
            "nearest": [{"runs": text, "page": address} for text, address in comparison.offers],
            "conditions": [_condition(row) for row in comparison.conditions],
        }
    )


def _rows(comparison: Comparison) -> list[tuple[str, Line]]:
    """Return the rows of the tables of drives and of figures, with the part that each belongs to."""
    return [("drive", row) for row in comparison.drives] + [("figure", row) for row in comparison.figures]


def _condition(row: Condition) -> dict[str, Any]:
    return {
        "name": row.name,
        "values": row.exported,
        "differs": row.differs,
        "is_unknown": row.is_unknown,
        "why": row.why,
    }
