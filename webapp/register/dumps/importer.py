"""Import of a dump into an empty register, in one transaction, with a check of its verdicts."""

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from django.db import models, transaction

from results.access.mirrored_runs import record_dump_origin
from results.models import Product, Profile, Run, Share, Statistic, Verdict
from results.models.row_operations import copy_rows
from results.rules.act.limits import parse_limits
from webapp.register.dumps.store import Dump, read_dump
from webapp.register.dumps.tables import SCHEMA, TABLES, Table
from webapp.register.tables.evaluation import is_over

TABLES_ADDED_LATER = frozenset({"objections"})  # dumps of earlier releases lack their files
# Columns that were added after the first dump, with the values for rows of earlier dumps.
ADDED_LATER: dict[str, dict[str, Any]] = {
    "products": {"form_factor": "", "part_numbers": []},
    "runs": {"region": "", "zone": ""},
    "annotations": {"reply": "", "replied_at": None},
    "published_claims": {"exact_status": ""},
}


class DumpError(Exception):
    """The dump is not imported, not even in part. The message gives the reason."""


@dataclass
class Imported:
    """The number of imported rows by table, and verdicts that contradict their shares."""

    rows: dict[str, int] = field(default_factory=dict)
    contradictions: list[str] = field(default_factory=list)


def import_dump(directory: Path) -> Imported:
    """Import a dump into an empty register. On DumpError the register is unchanged."""
    dump = read_dump(directory)
    if dump is None:
        raise DumpError(f"{directory}: expected a directory with the manifest of a dump")
    if dump.schema != SCHEMA:
        raise DumpError(f"{directory}: expected schema {SCHEMA}, got {dump.schema}")
    _check_sums(dump)
    with transaction.atomic():
        if Product.objects.exists() or Run.objects.filter(is_demo=False).exists():
            raise DumpError("this register already has products or runs; import a dump into an empty register")
        imported = Imported()
        for table in TABLES:
            if table.is_imported and _is_in(dump, table):
                imported.rows[table.name] = _import_table(dump, table)
        record_dump_origin(dump.source, dump.written_at)
        imported.contradictions = contradictions()
    return imported


def _is_in(dump: Dump, table: Table) -> bool:
    return dump.file(f"{table.name}.json.gz") is not None


def _check_sums(dump: Dump) -> None:
    for table in TABLES:
        if table.is_imported and table.name not in TABLES_ADDED_LATER and not _is_in(dump, table):
            raise DumpError(f"{dump.directory}: the manifest names no {table.name}.json.gz, so it cannot be checked")
    for file in dump.files:
        try:
            with (dump.directory / file.name).open("rb") as opened:
                found = hashlib.file_digest(opened, "sha256").hexdigest()
        except FileNotFoundError:
            raise DumpError(f"{dump.directory / file.name}: the manifest lists this file, but it is missing") from None
        if found != file.sha256:
            raise DumpError(f"{dump.directory / file.name}: expected SHA-256 {file.sha256}, got {found}")


def read_rows(dump: Dump, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table's JSON file, which has one row a line."""
    with gzip.open(dump.directory / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        next(file)
        for line in file:
            if line.startswith("{"):
                yield json.loads(line.rstrip().rstrip(","))


def _import_table(dump: Dump, table: Table) -> int:
    """Write the rows of a table. Profiles that a migration created are unchanged."""
    if table.model is Run:
        return _import_runs(dump, table)
    known = set(Profile.objects.values_list("sha256", flat=True)) if table.model is Profile else set()
    return _write(table, (row for row in read_rows(dump, table.name) if row.get("sha256") not in known))


def _import_runs(dump: Dump, table: Table) -> int:
    """Write the runs, each after the run that superseded it, so that no row needs an update."""
    waiting, written = list(read_rows(dump, table.name)), 0
    while waiting:
        there = set(Run.objects.values_list("public_id", flat=True)) | {None}
        ready = [row for row in waiting if row["superseded_by"] in there]
        if not ready:
            ids = ", ".join(sorted(row["public_id"] for row in waiting))
            raise DumpError(f"{ids}: the runs that superseded them are not in the dump")
        written += _write(table, ready)
        waiting = [row for row in waiting if row["superseded_by"] not in there]
    return written


def _write(table: Table, rows: Iterable[dict[str, Any]]) -> int:
    """Write rows; a column with a public id gets the database id of its target, and a document becomes JSON."""
    keys = {name: _keys(table, path) for name, path in table.columns.items() if "__" in path}
    documents = {name for name, of in table.fields.items() if isinstance(of, models.JSONField)}
    added = ADDED_LATER.get(table.name, {})
    written = 0

    def value(name: str, row: dict[str, Any]) -> Any:
        if name in keys:
            return keys[name][row[name]]
        return json.dumps(row[name]) if name in documents else row[name]

    def values() -> Iterator[list[Any]]:
        nonlocal written
        for each in rows:
            written += 1
            row = added | each
            yield [*(value(name, row) for name in table.columns), *table.constants.values()]

    fields = [path.partition("__")[0] for path in table.columns.values()]
    copy_rows(table.model, [*fields, *table.constants], values())
    return written


def _keys(table: Table, path: str) -> dict[str | None, int | None]:
    """Return the database id for each public id that the path of a column leads to; None for None."""
    field, _, key = path.partition("__")
    related = cast("type[models.Model]", table.model._meta.get_field(field).related_model)
    return {None: None, **dict(related._default_manager.values_list(key, "pk"))}


def contradictions() -> list[str]:
    """Return sentences on newest verdicts that contradict their shares under the limits of their profile."""
    shares: dict[int, list[Share]] = {}
    for share in Share.objects.filter(statistic=Statistic.WORST_SLICE, over_count__isnull=False):
        shares.setdefault(share.run_id, []).append(share)
    newest = Verdict.objects.order_by("run", "-created_at", "-id").distinct("run")
    found = []
    for verdict in newest.select_related("profile", "run").defer("document"):
        own = shares.get(verdict.run_id, [])
        limit_of = {limit.threshold_us: limit.limit_pct for limit in parse_limits(verdict.profile.document)}
        has_excess = any(is_over(each, limit_of[each.threshold_us]) for each in own if each.threshold_us in limit_of)
        if verdict.outcome == Verdict.Outcome.PASS and has_excess:
            found.append(f"{verdict.run.public_id}: its verdict is pass, and a share is over its limit")
        if verdict.outcome == Verdict.Outcome.FAIL and own and not has_excess:
            found.append(f"{verdict.run.public_id}: its verdict is fail, and no share is over its limit")
    return found
