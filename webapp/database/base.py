"""Connections that do not wait for ever: PostgreSQL's processes may be there, take a query and stand still.

`connect_timeout` is for new connections alone, and no system call reports that the other end of a unix
socket. What serves pages has a limit (webapp/wsgi.py); what migrates, reads logs or writes dumps waits as long as it
takes.
"""

from typing import Any, ClassVar

import psycopg
from django.db.backends.postgresql import base
from psycopg.abc import RV, PQGen

# Of one statement of a page; the longest, of all columns of 5,000 drives, takes a second. The server ends it first, if
# it can: one whose client has gone waits on, and holds the locks it has.
ANSWER_MOST_S, STATEMENT_MOST_S = 30, 25


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that is broken off where an answer takes longer than the limit of this process."""

    answer_most_s: ClassVar[float | None] = None

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Return what the server answers. Raises OperationalError, the connection closed, where it does not in time."""
        if timeout is not None:  # psycopg's own, for what may go on afterwards
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.answer_most_s)
        except psycopg.errors._WaitTimeout as error:
            self.close()  # an answer that comes later would be taken for that of the next query
            message = f"database: expected an answer in {self.answer_most_s} s, got none"
            raise psycopg.OperationalError(message) from error


class BoundedDriver:
    """psycopg as Django's backend asks for it, but for its connections."""

    connect = BoundedConnection.connect

    def __getattr__(self, name: str) -> Any:
        return getattr(psycopg, name)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own, with such connections."""

    Database = BoundedDriver()  # type: ignore[assignment]  # Django expects the module here and uses its names

    def get_connection_params(self) -> dict[str, Any]:
        """Return the connection parameters; a limit for answers is also set on the server, unless a setting does it."""
        params: dict[str, Any] = super().get_connection_params()
        if BoundedConnection.answer_most_s is not None:
            given = params.get("options", "")
            params["options"] = f"-c statement_timeout={STATEMENT_MOST_S}s {given}".rstrip()
        return params
