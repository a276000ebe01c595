"""Operations on many rows: bulk insert with COPY, and the lock order for the rows of a log."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, models
from psycopg import sql

from results.models.evidence import Reading, Submission
from results.models.run import Run


def copy_rows(model: type[models.Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows with COPY in the open transaction; each row has the values of `fields` in their order.

    A log in short slices has tens of thousands of rows. Raises what an INSERT would: IntegrityError for a duplicate
    row, DataError for a value that its column cannot hold.
    """
    column_by_field = {field.name: str(field.column) for field in model._meta.concrete_fields}
    columns = [sql.Identifier(column_by_field[name]) for name in fields]
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(model._meta.db_table), sql.SQL(", ").join(columns)
    )
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def lock_log(submission: Submission) -> None:
    """Lock the readings, the submission and the runs of a log until the caller's transaction ends.

    Every caller locks in this order, then the products. Another order can deadlock, and the database then ends one
    of the two transactions.
    """
    list(Reading.objects.select_for_update().filter(evidence=submission.log_id).order_by("pk"))
    Submission.objects.select_for_update().get(pk=submission.pk)
    list(Run.objects.select_for_update().filter(submission=submission).order_by("pk"))
