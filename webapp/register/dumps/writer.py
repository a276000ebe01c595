"""Writing of a dump: each table as CSV, JSON and Parquet, read in one transaction so that the tables agree."""

import csv
import gzip
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pyarrow
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models, transaction
from django.utils import timezone
from pyarrow import parquet

from results.locks import file_lock
from webapp.register.dumps import store
from webapp.register.dumps.removal import remove_withheld
from webapp.register.dumps.tables import SCHEMA, TABLES, Table, withheld_runs
from webapp.register.http.files import csv_cell, plain

ROWS_AT_ONCE = 2000
Row = Sequence[Any]


def write_due() -> Path | None:
    """Write today's dump; None if there is one, or if another process is writing it.

    Dumps that include runs withheld since then are removed, and today's dump is written again.
    """
    with _writer_lock(waits=False) as is_ours:
        if not is_ours:
            return None
        remove_withheld()
        if store.newest_day() >= timezone.now().date().isoformat():
            return None
        return _write()


def write_dump() -> Path:
    """Write a dump and return its directory. Wait if another process is writing one."""
    with _writer_lock(waits=True):
        return _write()


def _write() -> Path:
    now = timezone.now()
    # Directories with a leading dot are not dumps; an unfinished one is removed with the next dump.
    directory = Path(tempfile.mkdtemp(prefix=".being-written-", dir=store.dumps_directory()))
    with transaction.atomic():
        _freeze()
        files = [file for table in TABLES for file in write_table(directory, table)]
        withheld = withheld_runs()
    _write_manifest(directory, now, files, withheld)
    directory.chmod(0o750)
    return store.publish_dump(directory, now.date())


def _freeze() -> None:
    """Make all queries of the transaction see the same snapshot; inside another transaction that is already fixed."""
    if len(connection.savepoint_ids) == 0:
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


def write_table(directory: Path, table: Table) -> list[store.DumpFile]:
    """Write the three files of a table; at most a few thousand rows are in memory at a time."""
    rows_count = 0
    with ExitStack() as stack:
        writers = [kind(stack, directory, table) for kind in (_Csv, _Json, _Parquet)]
        for rows in batches(table):
            rows_count += len(rows)
            for writer in writers:
                writer.write(rows)
    return [_file_entry(directory / writer.name, rows_count) for writer in writers]


def batches(table: Table) -> Iterator[list[Row]]:
    """Yield the rows of a table as the values of its columns."""
    found = table.rows().values_list(*table.paths).iterator(chunk_size=ROWS_AT_ONCE)
    redactions = [table.redactions.get(name, lambda value: value) for name in table.columns]
    while rows := list(islice(found, ROWS_AT_ONCE)):
        if table.redactions:
            rows = [[redact(value) for redact, value in zip(redactions, row, strict=True)] for row in rows]
        yield rows


def json_value(value: Any) -> Any:
    """Return a value for the JSON files: decimals and times as text, so that no digit is lost."""
    if isinstance(value, Decimal):
        return plain(value)
    return value.isoformat() if isinstance(value, datetime) else value


class _Csv:
    """The format for spreadsheets, with formulas escaped: lists and documents are JSON in a cell."""

    def __init__(self, stack: ExitStack, directory: Path, table: Table) -> None:
        self.name = f"{table.name}.csv.gz"
        text = stack.enter_context(_gzip_text(directory / self.name))
        self.writer = csv.writer(text)
        self.writer.writerow(table.columns)

    def write(self, rows: list[Row]) -> None:
        self.writer.writerows([self._cell(value) for value in row] for row in rows)

    def _cell(self, value: Any) -> str:
        return csv_cell(json.dumps(value) if isinstance(value, list | dict) else json_value(value))


class _Json:
    """The lossless format that an import reads: one row a line."""

    def __init__(self, stack: ExitStack, directory: Path, table: Table) -> None:
        self.name, self.columns = f"{table.name}.json.gz", list(table.columns)
        self.text = stack.enter_context(_gzip_text(directory / self.name))
        stack.callback(self.text.write, "\n]}\n")
        self.text.write(f'{{"schema": {json.dumps(SCHEMA)}, "table": {json.dumps(table.name)}, "rows": [')
        self.lead = "\n"

    def write(self, rows: list[Row]) -> None:
        for row in rows:
            values = {name: json_value(value) for name, value in zip(self.columns, row, strict=True)}
            self.text.write(self.lead + json.dumps(values, ensure_ascii=False))
            self.lead = ",\n"


class _Parquet:
    """The format for analysis: typed columns; documents are JSON as text."""

    def __init__(self, stack: ExitStack, directory: Path, table: Table) -> None:
        self.name, self.fields = f"{table.name}.parquet", table.fields
        self.schema = pyarrow.schema([(name, arrow_type(each)) for name, each in self.fields.items()])
        self.writer = stack.enter_context(parquet.ParquetWriter(directory / self.name, self.schema, compression="zstd"))

    def write(self, rows: list[Row]) -> None:
        columns = zip(*rows, strict=True)
        arrays = [
            pyarrow.array([self._value(each, value) for value in values], arrow_type(each))
            for each, values in zip(self.fields.values(), columns, strict=True)
        ]
        self.writer.write_batch(pyarrow.record_batch(arrays, schema=self.schema))

    def _value(self, of: "models.Field[Any, Any]", value: Any) -> Any:
        return (
            json.dumps(value, ensure_ascii=False) if isinstance(of, models.JSONField) and value is not None else value
        )


def arrow_type(of: "models.Field[Any, Any]") -> Any:
    """Return the type that a field's column has in Parquet."""
    if isinstance(of, ArrayField):
        return pyarrow.list_(arrow_type(of.base_field))
    if isinstance(of, models.DecimalField):
        return pyarrow.decimal128(of.max_digits, of.decimal_places)
    known = {
        models.BooleanField: pyarrow.bool_(),
        models.DateTimeField: pyarrow.timestamp("us", tz="UTC"),
        models.FloatField: pyarrow.float64(),
        models.IntegerField: pyarrow.int64(),
    }
    return next((kind for field, kind in known.items() if isinstance(of, field)), pyarrow.string())


@contextmanager
def _gzip_text(path: Path) -> Iterator[io.TextIOWrapper]:
    """Open a gzip file for text, without time and name, so that the same rows give the same bytes."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
        io.TextIOWrapper(cast("io.BytesIO", packed), "utf-8", newline="") as text,
    ):
        yield text


def _file_entry(path: Path, rows_count: int | None = None) -> store.DumpFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        os.fsync(file.fileno())
    return store.DumpFile(path.name, path.stat().st_size, digest.hexdigest(), rows_count)


def _write_manifest(directory: Path, now: datetime, files: list[store.DumpFile], withheld: list[str]) -> None:
    """Write the checksums, then the manifest, which makes the directory a complete dump."""
    sums = directory / store.SUMS
    sums.write_text("".join(f"{file.sha256}  {file.name}\n" for file in files))
    manifest = {
        "schema": SCHEMA,
        "written_at": now.isoformat(timespec="seconds"),
        "licence": settings.DATA_LICENCE,
        "source": settings.PUBLIC_URL,
        "withheld": withheld,
        "files": [asdict(file) for file in [*files, _file_entry(sums)]],
    }
    with (directory / store.MANIFEST).open("w") as file:
        json.dump(manifest, file, indent=1)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _writer_lock(*, waits: bool) -> Iterator[bool]:
    """Take the lock of dumps: publishing one removes unfinished ones, also those of a second writer."""
    store.dumps_directory().mkdir(mode=0o750, parents=True, exist_ok=True)
    with file_lock(store.dumps_directory() / "lock", waits=waits) as is_ours:
        yield is_ours
