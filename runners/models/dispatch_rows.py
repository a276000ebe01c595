"""A dispatch with its device and their host, read by a statement that is composed once for the process.

Composed anew by Django at each look, such a statement took more than half of a look's processor time.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, cast

from django.db import connection, models

from results.locks import keys_of, unlock
from runners.locks import DISPATCH
from runners.models import Device, Dispatch, Host

# What a host told at its last check may be long, and a look asks nothing of it; who does gets it by a statement more.
LEFT_OUT = frozenset({"health"})
TABLE = f'"{Dispatch._meta.db_table}"'


class Table:
    """One of the joined tables: its columns under its name in the statement, and rows made of their values."""

    def __init__(self, model: type[models.Model], alias: str) -> None:
        fields = [field for field in model._meta.concrete_fields if field.attname not in LEFT_OUT]
        self.model = model
        self.names = [field.attname for field in fields]
        self.columns = [f'{alias}."{field.column}"' for field in fields]
        self.converters = [
            (at, convert) for at, field in enumerate(fields) for convert in field.get_db_converters(connection)
        ]

    def made_of(self, values: Sequence[Any]) -> models.Model:
        """Return the row whose columns have these values."""
        told = list(values)
        for at, convert in self.converters:
            told[at] = convert(told[at], None, connection)
        return self.model.from_db(connection.alias, self.names, told)


class Joined:
    """The three tables as one row."""

    def __init__(self) -> None:
        self.tables = (Table(Dispatch, "d"), Table(Device, "v"), Table(Host, "h"))
        self.columns = ", ".join(column for table in self.tables for column in table.columns)

    def from_what(self, dispatches: str) -> str:
        """Return the FROM of a statement, of a table or a query of dispatches."""
        return (
            f'FROM {dispatches} d JOIN "{Device._meta.db_table}" v ON v.id = d.device_id '
            f'JOIN "{Host._meta.db_table}" h ON h.id = v.host_id'
        )

    def dispatch(self, values: Sequence[Any]) -> Dispatch:
        """Return the dispatch of these values, with its device and the host of that."""
        rows, at = [], 0
        for table in self.tables:
            rows.append(table.made_of(values[at : at + len(table.names)]))
            at += len(table.names)
        dispatch, device, host = cast(tuple[Dispatch, Device, Host], tuple(rows))
        device.host, dispatch.device = host, device
        return dispatch


@cache
def joined() -> Joined:
    """Return the columns of this process's models."""
    return Joined()


@cache
def _reading() -> str:
    """Return the statement that reads a dispatch."""
    return f"SELECT {joined().columns} {joined().from_what(TABLE)} WHERE d.id = %s"


@cache
def _holding() -> str:
    """Return the statement that tries the lock of a dispatch and reads it.

    The row is locked before the lock of the dispatch is tried, and read as it stands then: between the two nobody can
    change it, so whoever gets the lock has what the holder before left. A plain SELECT reads what was there when it
    began, and might miss the last change of a holder who let go meanwhile.
    """
    locked = f"(SELECT * FROM {TABLE} WHERE id = %s FOR NO KEY UPDATE)"  # noqa: S608 - the model's own name
    return f"SELECT pg_try_advisory_lock(%s, %s), {joined().columns} {joined().from_what(locked)}"


def read(dispatch_id: int) -> Dispatch:
    """Return a dispatch as it stands. Raises Dispatch.DoesNotExist."""
    return joined().dispatch(_one(_reading(), [dispatch_id]))


def read_again(dispatch: Dispatch) -> None:
    """Make a dispatch what its row says now, with its device and host."""
    vars(dispatch).update(vars(read(dispatch.pk)))


def keep(dispatch: Dispatch, columns: Mapping[str, Any]) -> None:
    """Write columns of a dispatch, by their fields' names, unless it is in another state by now."""
    fields = cast(list["models.Field[Any, Any]"], [Dispatch._meta.get_field(name) for name in columns])
    told = [field.get_db_prep_save(columns[field.name], connection) for field in fields]
    sets = ", ".join(f'"{field.column}" = %s' for field in fields)
    statement = f"UPDATE {TABLE} SET {sets} WHERE id = %s AND state = %s"  # noqa: S608 - the model's own names
    with connection.cursor() as cursor:
        cursor.execute(statement, [*told, dispatch.pk, dispatch.state])


@contextmanager
def stepping(dispatch_id: int) -> Iterator[Dispatch | None]:
    """Hold a dispatch, as it stands, while it is stepped; None where another worker is at it: leave it alone then.

    Raises Dispatch.DoesNotExist, and takes no lock then.
    """
    is_held, *values = _one(_holding(), [*keys_of(DISPATCH, dispatch_id), dispatch_id])
    if not is_held:
        yield None
        return
    try:
        yield joined().dispatch(values)
    finally:
        unlock(DISPATCH, dispatch_id)


def _one(statement: str, params: Sequence[Any]) -> Sequence[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        values: Sequence[Any] | None = cursor.fetchone()
    if values is None:
        raise Dispatch.DoesNotExist(f"dispatch {params[-1]}: expected a row, found none")
    return values
