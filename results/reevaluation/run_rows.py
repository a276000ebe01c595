"""Rows of a run during re-evaluation: matched by log lines, exported as a document, moved to the old run."""

import base64
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from results.models import Run, Verdict


@dataclass(frozen=True)
class Place:
    """The position of a run in its log: member of an archive, first and last line (0 if unknown), ordinal."""

    member: str
    first_line: int
    last_line: int
    ordinal: int


def match_places(earlier: Sequence[Place], found: Sequence[Place]) -> dict[int, int]:
    """Return index of an earlier place -> index of its place in the new reading, each at most once.

    The lines decide, the largest overlap first: a new reader may find more or fewer runs in a file, and count them
    otherwise. Where lines are not known, the same ordinal does.
    """
    pairs = sorted(
        (-overlap, index, other)
        for index, place in enumerate(earlier)
        for other, candidate in enumerate(found)
        if (overlap := _overlap(place, candidate)) > 0
    )
    matched: dict[int, int] = {}
    for _, index, other in pairs:
        if index not in matched and other not in matched.values():
            matched[index] = other
    return matched


def _overlap(one: Place, other: Place) -> float:
    """Return how many lines two places share; half a line where lines are unknown and the ordinal is the same."""
    if one.member != other.member:
        return 0
    if not (one.last_line and other.last_line):
        return 0.5 if one.ordinal == other.ordinal else 0
    return max(0, min(one.last_line, other.last_line) - max(one.first_line, other.first_line) + 1)


Document = dict[str, Any]
# Columns from a sender, a reviewer or the register. All other columns come from a reading.
STATED_COLUMNS = frozenset({
    "id", "public_id", "product", "submission", "reading", "ordinal", "catalogue_key", "source", "source_row", "tier",
    "visibility", "firmware", "over_provisioned_to_gb", "over_provisioning_pct", "device_gb", "backing_device",
    "protocol", "sole_tenant", "region", "zone", "notes", "is_virtual", "is_demo", "started_at", "created_at",
    "published_at", "superseded_by", "predates_approvals",
})  # fmt: skip


def read_columns() -> list[str]:
    """Return the names of the run's columns that a reading fills."""
    written = (field.name for field in Run._meta.concrete_fields if not field.generated)
    return [name for name in written if name not in STATED_COLUMNS]


def document_of(run: Run) -> Document:
    """Return what a reading found of a run: its columns, and all rows below it by the name of their table."""
    found = {"columns": {name: getattr(run, name) for name in read_columns()}, "below": _below(Run, [run.pk])[run.pk]}
    document: Document = json.loads(json.dumps(found, cls=_Encoder))
    return document


def hand_over(source: Run, run: Run) -> None:
    """Replace the rows that a reading wrote below `run` by those below `source`; earlier verdicts stay."""
    for model, field in _filled_by_readings(Run):
        if model is not Verdict:
            model._default_manager.filter(**{field: run}).delete()
        model._default_manager.filter(**{field: source}).update(**{field: run})


def _filled_by_readings(model: type[models.Model]) -> Iterator[tuple[type[models.Model], str]]:
    for relation in model._meta.related_objects:
        if relation.on_delete is models.CASCADE:
            yield relation.related_model, relation.field.name


def _below(model: type[models.Model], keys: Iterable[Any]) -> dict[Any, Document]:
    """Return the rows below several rows of one table, level by level: a query for each table, not for each row."""
    below: dict[Any, Document] = defaultdict(dict)
    for child, field in _filled_by_readings(model):
        if child is Verdict:
            continue
        rows = list(child._default_manager.filter(**{f"{field}__in": list(keys)}).order_by("pk"))
        deeper = _below(child, [row.pk for row in rows]) if rows else {}
        for row in rows:
            parent = getattr(row, f"{field}_id")
            document = _columns(row, field) | ({"below": deeper[row.pk]} if deeper.get(row.pk) else {})
            below[parent].setdefault(str(child._meta.model_name), []).append(document)
    return below


def _columns(row: models.Model, parent_field: str) -> Document:
    names = (field.name for field in row._meta.concrete_fields if not field.primary_key and field.name != parent_field)
    return {name: getattr(row, name) for name in names}


class _Encoder(DjangoJSONEncoder):
    """Decimals and times as text, bytes in base 64."""

    def default(self, o: Any) -> Any:
        if isinstance(o, bytes | memoryview):
            return base64.b64encode(o).decode()
        return super().default(o)
