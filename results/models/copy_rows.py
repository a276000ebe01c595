"""Many rows into one table by COPY: a log in short slices has tens of thousands of them."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, models
from psycopg import sql


def copy_rows(model: type[models.Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows, each with the values of `fields` in their order, in the transaction that is open.

    Raises what an INSERT would: IntegrityError for a row that is there, DataError for a value beyond its column.
    """
    column_by_field = {field.name: str(field.column) for field in model._meta.concrete_fields}
    columns = [sql.Identifier(column_by_field[name]) for name in fields]
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(model._meta.db_table), sql.SQL(", ").join(columns)
    )
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
