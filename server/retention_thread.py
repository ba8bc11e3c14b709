"""The running service clears away by itself what `admir gc` would."""

from __future__ import annotations

import logging
import threading
from dataclasses import asdict
from pathlib import Path

from admir.errors import AdmirError
from admir.server.retention import clear_away

_LOG = logging.getLogger("admir.server")
_EVERY_S = 86_400.0


class RetentionThread:
    """Clears away at the start and then once a day, in a thread of its own, until `close`."""

    def __init__(self, memories: Path, keep_days: float | None) -> None:
        self._memories, self._keep_days = memories, keep_days
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="admir-housekeeping", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """Wait for what is being cleared away, and end."""
        self._ended.set()
        self._thread.join()

    def _keep(self) -> None:
        while not self._ended.is_set():
            try:
                cleared = clear_away(self._memories, self._keep_days)
                _LOG.info("cleared away", extra=asdict(cleared))
            except (AdmirError, OSError) as error:  # tomorrow may go better
                _LOG.error("nothing is cleared away", extra={"problem": str(error)})
            self._ended.wait(_EVERY_S)
