"""The rows below a run, whatever tables they stand in: told as a document, and handed from one run to another.

A row that goes with its run (CASCADE) is what a reading wrote; one that keeps its run (PROTECT) is what people did with
it. So a table that readings fill needs no word here. Verdicts alone are of readings and stay for ever.
"""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from results.models import Run, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Document = dict[str, Any]
# What a sender stated, a reviewer decided or the register gave; every other column is what a reading found.
KEPT_COLUMNS = frozenset({
    "id", "public_id", "product", "submission", "reading", "ordinal", "catalogue_key", "source", "source_row", "tier",
    "visibility", "firmware", "over_provisioned_to_gb", "over_provisioning_pct", "device_gb", "backing_device",
    "protocol", "sole_tenant", "region", "zone", "notes", "is_virtual", "started_at", "created_at", "published_at",
    "superseded_by",
})  # fmt: skip


def read_columns() -> list[str]:
    """Return the names of the run's columns that a reading fills."""
    written = (field.name for field in Run._meta.concrete_fields if not field.generated)
    return [name for name in written if name not in KEPT_COLUMNS]


def document_of(run: Run) -> Document:
    """Return what a reading found of a run: its columns, and all rows below it by the name of their table."""
    found = {"columns": {name: getattr(run, name) for name in read_columns()}, "below": _below(Run, [run.pk])[run.pk]}
    told: Document = json.loads(json.dumps(found, cls=_Encoder))
    return told


def hand_over(source: Run, run: Run) -> None:
    """Put what a reading wrote below `source` in the place of what stands below `run`; earlier verdicts stay."""
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
            told = _columns(row, field) | ({"below": deeper[row.pk]} if deeper.get(row.pk) else {})
            below[parent].setdefault(str(child._meta.model_name), []).append(told)
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
