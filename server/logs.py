"""Logs as JSON, an object a line."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from admir.trace import to_json

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonLines(logging.Formatter):
    """Time, level, logger, message, and the fields that were given with it."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{key: value for key, value in vars(record).items() if key not in _PLAIN},
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return to_json(fields, default=str)
