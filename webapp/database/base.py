"""Connections with a time limit: a PostgreSQL process may accept a query and then never answer.

`connect_timeout` applies to new connections only, and no system call reports that the other end of a unix socket has
stopped. Processes that serve pages set a limit (webapp/wsgi.py). Migrations, readings of logs and dumps have none.
"""

from typing import Any, ClassVar

import psycopg
from django.db.backends.postgresql import base
from psycopg.abc import RV, PQGen

# For one statement of a page; the longest one, all columns of 5,000 drives, takes a second. The server's limit comes
# first: a statement without a client would go on and keep its locks.
ANSWER_MOST_S, STATEMENT_MOST_S = 30, 25


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that closes if an answer takes longer than the limit of this process."""

    answer_most_s: ClassVar[float | None] = None

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Return the server's answer. After the time limit, close the connection and raise OperationalError."""
        if timeout is not None:  # set by psycopg for waits after which the connection stays usable
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.answer_most_s)
        except psycopg.errors._WaitTimeout as error:
            self.close()  # a late answer would be read as the answer to the next query
            message = f"database: expected an answer in {self.answer_most_s} s, got none"
            raise psycopg.OperationalError(message) from error


class BoundedDriver:
    """The psycopg module for Django's backend, with bounded connections."""

    connect = BoundedConnection.connect

    def __getattr__(self, name: str) -> Any:
        return getattr(psycopg, name)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's PostgreSQL wrapper with bounded connections."""

    Database = BoundedDriver()  # type: ignore[assignment]  # Django expects the module here and uses its names

    def get_connection_params(self) -> dict[str, Any]:
        """Return the connection parameters; a limit for answers is also set on the server, unless a setting does it."""
        params: dict[str, Any] = super().get_connection_params()
        if BoundedConnection.answer_most_s is not None:
            given = params.get("options", "")
            params["options"] = f"-c statement_timeout={STATEMENT_MOST_S}s {given}".rstrip()
        return params
