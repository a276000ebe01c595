"""Lines of the log with the ids of what was at work, as text or as JSON (LOG_FORMAT)."""

import json
import logging
from datetime import UTC, datetime

from results.logs.context import log_ids
from results.logs.tracing import trace_ids


class LineFormatter(logging.Formatter):
    """A line of text. The ids follow the message in brackets."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name of the library
        line = super().formatMessage(record)
        ids = " ".join(f"{name}={value}" for name, value in {**log_ids(), **trace_ids()}.items())
        return f"{line} [{ids}]" if ids else line


class JSONFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, each id under its own name, and the trace of an error."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": moment,
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            **log_ids(),
            **trace_ids(),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)
