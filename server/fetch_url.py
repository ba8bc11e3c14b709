"""Videos from public URLs, and from nowhere else.

A name is resolved once, every address is checked, and the connection goes to a checked address:
a name that resolves to something else a moment later gains nothing. Each redirect passes here too.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

import httpx

from admir.errors import FetchFailed, Forbidden, TooLarge

_MOST_REDIRECTS = 5
_CONNECT_S, _READ_S, _WHOLE_S = 10.0, 30.0, 900.0
_RESOLVE_S = 10.0
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The reply of a URL: what it says it is, how it may be called, and its bytes."""

    content_type: str
    name: str
    chunks: AsyncIterator[bytes]


@asynccontextmanager
async def fetching(url: str, most_bytes: int) -> AsyncIterator[Fetched]:
    """Open a URL for reading. Raises Forbidden, FetchFailed, or TooLarge by its own word."""
    check_url(url)
    try:
        async with (
            asyncio.timeout(_WHOLE_S),
            _client() as client,
            client.stream("GET", url) as reply,
        ):
            yield _checked(reply, most_bytes)
    except TimeoutError:
        raise FetchFailed(f"the URL took more than {_WHOLE_S:.0f} s; send the file") from None
    except httpx.TooManyRedirects:
        raise FetchFailed(f"the URL redirects more than {_MOST_REDIRECTS} times") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        why = str(error) or type(error).__name__
        raise FetchFailed(f"the URL cannot be read: {why}") from None


def check_url(url: str) -> None:
    """Refuse what is no plain http or https URL; raises Forbidden."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises for one that is no number
    except ValueError:
        raise Forbidden("the URL cannot be read; give an http or https URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Forbidden("only http and https URLs are fetched")
    if parts.username is not None or parts.password is not None:
        raise Forbidden("a URL with a user or a password is not fetched")


def is_public(address: Address) -> bool:
    """Whether an address is of the open internet, also by what is wrapped inside of it."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast


async def addresses_of(host: str, port: int) -> list[str]:
    """What a name resolves to, in the order of the system; raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(where[0]) for *_, where in found))


def wire() -> httpx.AsyncBaseTransport:
    """What connects, to an address."""
    return httpx.AsyncHTTPTransport(
        trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
    )


class PublicOnly(httpx.AsyncBaseTransport):
    """Sends each request to a checked address of its host, under the name of the host."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One request; raises Forbidden where the host is not public."""
        check_url(str(request.url))
        host = request.url.host
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        failed: httpx.ConnectError | httpx.ConnectTimeout | None = None
        for address in await _checked_addresses(host, port):
            pinned = httpx.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=request.headers,
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": host},
            )
            try:
                return await self._inner.handle_async_request(pinned)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failed = error
        raise failed or httpx.ConnectError("its host has no address")

    async def aclose(self) -> None:
        """Close what connects."""
        await self._inner.aclose()


async def _checked_addresses(host: str, port: int) -> list[str]:
    try:
        async with asyncio.timeout(_RESOLVE_S):
            found = await addresses_of(host, port)
    except (OSError, UnicodeError):
        raise FetchFailed(f"the host {host[:100]!r} is not known; check the URL") from None
    if not found or not all(is_public(ipaddress.ip_address(address)) for address in found):
        raise Forbidden(f"the host {host[:100]!r} is not on the public internet; send the file")
    return found


def _client() -> httpx.AsyncClient:
    """Without proxies of the environment: they would resolve names themselves."""
    return httpx.AsyncClient(
        transport=PublicOnly(wire()),
        trust_env=False,
        follow_redirects=True,
        max_redirects=_MOST_REDIRECTS,
        timeout=httpx.Timeout(_READ_S, connect=_CONNECT_S),
        headers={"accept": "video/*, application/octet-stream", "accept-encoding": "identity"},
    )


def _checked(reply: httpx.Response, most_bytes: int) -> Fetched:
    if reply.status_code != httpx.codes.OK:
        raise FetchFailed(f"the URL answers with status {reply.status_code}; check it")
    told = reply.headers.get("content-length", "")
    if told.isdecimal() and int(told) > most_bytes:
        raise TooLarge(f"the video has {int(told):,} bytes, at most {most_bytes:,} are taken")
    return Fetched(
        content_type=reply.headers.get("content-type", ""),
        name=unquote(reply.url.path.rpartition("/")[2]),
        chunks=reply.aiter_raw(),
    )
