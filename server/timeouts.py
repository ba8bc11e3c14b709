"""Connections end where a client dawdles; uvicorn alone leaves them open for ever."""

from __future__ import annotations

import asyncio
import socket

from uvicorn.protocols.http.h11_impl import H11Protocol

LEAST_BYTES_S = 1_000
"""Bytes a second that a client must send or read, on average."""

_HEAD_S = 20.0
_STALL_S = 60.0
_MOST_UNSENT = 65_536


class TimeoutProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, with clients that get on.

    A request has 20 s for its head. What is sent must be read at `LEAST_BYTES_S`, looked at once a
    minute. (How long a body may take, `AuthMiddleware` says; idle connections are uvicorn's.)
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        transport.set_write_buffer_limits(high=0)  # `pause_writing` tells of all that is unsent
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            # Else the kernel takes megabytes at a time, and a slow reader seems to stand still.
            connection = transport.get_extra_info("socket")
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _MOST_UNSENT)
        self._mind_head()

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request."""
        super().data_received(data)
        self._mind_head()

    def pause_writing(self) -> None:
        """Begin to watch what was written and is not sent."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """All is sent."""
        super().resume_writing()
        self._stop("stall")

    def connection_lost(self, exc: Exception | None) -> None:
        """The end."""
        self._stop("head")
        self._stop("stall")
        super().connection_lost(exc)

    def _mind_head(self) -> None:
        """Wait for a whole head as long as no request is being answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop("head")
        elif "head" not in self._timers:
            self._timers["head"] = self.loop.call_later(_HEAD_S, self.transport.abort)

    def _watch(self, before: int | None = None) -> None:
        unsent = self.transport.get_write_buffer_size()
        if before is not None and before - unsent < LEAST_BYTES_S * _STALL_S:
            self.transport.abort()
        else:
            self._timers["stall"] = self.loop.call_later(_STALL_S, self._watch, unsent)

    def _stop(self, name: str) -> None:
        if (timer := self._timers.pop(name, None)) is not None:
            timer.cancel()
