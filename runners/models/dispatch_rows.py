"""Dispatches with their device and its host, read by SQL that each process composes only once.

When Django composed the statement for each poll, that took more than half of a poll's processor time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any, cast

from django.db import connection, models

from results.locks import keys_of, unlock
from runners.models import Device, Dispatch, Host
from runners.models.postgres import DISPATCH_LOCK

# Documents that polls of a running program do not need. Django loads them on access.
LEFT_OUT = frozenset({"facts", "health", "identity"})
TABLE = f'"{Dispatch._meta.db_table}"'


class Table:
    """One of the joined tables: its columns under an alias, and the conversion of values to rows."""

    def __init__(self, model: type[models.Model], alias: str) -> None:
        fields = [field for field in model._meta.concrete_fields if field.attname not in LEFT_OUT]
        self.model = model
        self.names = [field.attname for field in fields]
        self.columns = [f'{alias}."{field.column}"' for field in fields]
        self.converters = [
            (at, convert) for at, field in enumerate(fields) for convert in field.get_db_converters(connection)
        ]

    def row_from(self, values: Iterable[Any]) -> models.Model:
        """Return the row with these column values."""
        converted = list(values)
        for at, convert in self.converters:
            converted[at] = convert(converted[at], None, connection)
        return self.model.from_db(connection.alias, self.names, converted)


class Joined:
    """The three tables as one row: the statement that reads it, and the one that tries its lock and reads it.

    The second locks the row before it tries the advisory lock, and reads the row as it is then. No process can change
    it between the two, so the new lock owner sees what the previous one wrote. A plain SELECT reads the state at its
    own beginning, and could miss the last change of an owner that released the lock meanwhile.
    """

    def __init__(self) -> None:
        self.tables = (Table(Dispatch, "d"), Table(Device, "v"), Table(Host, "h"))
        columns = ", ".join(column for table in self.tables for column in table.columns)
        locked = f"(SELECT * FROM {TABLE} WHERE id = %s FOR NO KEY UPDATE)"  # noqa: S608 - the model's own name
        joins = (
            f'JOIN "{Device._meta.db_table}" v ON v.id = d.device_id JOIN "{Host._meta.db_table}" h ON h.id = v.host_id'
        )
        self.select = f"SELECT {columns} FROM {TABLE} d {joins} WHERE d.id = %s"  # noqa: S608
        self.lock = f"SELECT pg_try_advisory_lock(%s, %s), {columns} FROM {locked} d {joins}"  # noqa: S608

    def dispatch(self, values: Sequence[Any]) -> Dispatch:
        """Return the dispatch of these values, with its device and that device's host."""
        rest = iter(values)
        rows = [table.row_from(islice(rest, len(table.names))) for table in self.tables]
        dispatch, device, host = cast(tuple[Dispatch, Device, Host], tuple(rows))
        device.host, dispatch.device = host, device
        return dispatch


# The statements and columns of the models, which each process composes once.
joined = cache(Joined)


def read(dispatch_id: int) -> Dispatch:
    """Return a dispatch as it is now. Raise Dispatch.DoesNotExist if there is none."""
    return joined().dispatch(_one(joined().select, [dispatch_id]))


def refresh(dispatch: Dispatch) -> None:
    """Update a dispatch, with its device and host, from its row."""
    vars(dispatch).update(vars(read(dispatch.pk)))


def update_columns(dispatch: Dispatch, columns: Mapping[str, Any]) -> None:
    """Write columns of a dispatch, by their field names, unless its state has changed."""
    fields = cast(list["models.Field[Any, Any]"], [Dispatch._meta.get_field(name) for name in columns])
    prepared = [field.get_db_prep_save(columns[field.name], connection) for field in fields]
    sets = ", ".join(f'"{field.column}" = %s' for field in fields)
    statement = f"UPDATE {TABLE} SET {sets} WHERE id = %s AND state = %s"  # noqa: S608 - the model's own names
    with connection.cursor() as cursor:
        cursor.execute(statement, [*prepared, dispatch.pk, dispatch.state])


@contextmanager
def lock_dispatch(dispatch_id: int) -> Iterator[Dispatch | None]:
    """Lock a dispatch for a poll and yield it as it is now. Yield None if another worker has the lock.

    Raise Dispatch.DoesNotExist without a lock if there is no such dispatch.
    """
    is_locked, *values = _one(joined().lock, [*keys_of(DISPATCH_LOCK, dispatch_id), dispatch_id])
    if not is_locked:
        yield None
        return
    try:
        yield joined().dispatch(values)
    finally:
        unlock(DISPATCH_LOCK, dispatch_id)


def _one(statement: str, params: Sequence[Any]) -> Sequence[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        values: Sequence[Any] | None = cursor.fetchone()
    if values is None:
        raise Dispatch.DoesNotExist(f"dispatch {params[-1]}: expected a row, found none")
    return values
