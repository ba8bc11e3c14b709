"""URLs: nothing but the open internet is reached, whatever names and redirects say.

What is public here is a made-up address that the tests lead to a server on this machine.
"""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from admir.server import fetch_url
from tests.server.running import serving
from tests.server.sending import ended, settings_for, small_video
from tests.server.test_app import problem_of

PUBLIC = "93.184.216.34"
NAMES = {
    "ads.example": [PUBLIC],
    "inner.example": ["10.1.2.3"],
    "half.example": [PUBLIC, "127.0.0.1"],
    "meta.example": ["169.254.169.254"],
    "none.example": [],
}


class Site(ThreadingHTTPServer):
    """Serves `files` by path; a text is a redirect to it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes | str] = {}
        self.types: dict[str, str] = {}
        self.asked: list[tuple[str, str | None]] = []


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        site = self.server
        assert isinstance(site, Site)
        site.asked.append((self.path, self.headers["host"]))
        found = site.files.get(self.path)
        if isinstance(found, str):
            self.send_response(302)
            self.send_header("location", found)
            self.send_header("content-length", "0")
            self.end_headers()
            return
        self.send_response(200 if found is not None else 404)
        self.send_header("content-type", site.types.get(self.path, "video/mp4"))
        if not self.path.startswith("/untold"):
            self.send_header("content-length", str(len(found or b"")))
        self.end_headers()
        self.wfile.write(found or b"")

    def log_message(self, *_: object) -> None:
        pass


class _ToSite(httpx.AsyncHTTPTransport):
    """Leads the public address to the site; anything else is a leak."""

    def __init__(self, port: int) -> None:
        super().__init__(trust_env=False)
        self._port = port

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        assert request.url.host == PUBLIC, request.url
        request.url = request.url.copy_with(host="127.0.0.1", port=self._port)
        return await super().handle_async_request(request)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with Site() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()

        real = fetch_url.addresses_of

        async def addresses_of(host: str, port: int) -> list[str]:
            return NAMES[host] if host in NAMES else await real(host, port)

        monkeypatch.setattr(fetch_url, "addresses_of", addresses_of)
        monkeypatch.setattr(fetch_url, "wire", lambda: _ToSite(running.server_port))
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("fetched")
    with serving(settings_for(folder / "memories", urls=True, upload_mb=1)) as session:
        yield session


def fetch(client: httpx.Client, url: str) -> httpx.Response:
    return client.post("/videos", json={"url": url})


def test_a_public_url_becomes_a_memory(client, site, tmp_path):
    site.files["/ads/lamp%20one.mp4"] = small_video(tmp_path / "a.mp4", 50).read_bytes()
    site.files["/old"] = "http://ads.example/ads/lamp%20one.mp4"
    done = ended(client, fetch(client, "http://ads.example/old"))
    assert (done["state"], done["video_id"], done["name"]) == ("done", "lamp-one", "lamp-one.mp4")
    assert [host for _, host in site.asked] == ["ads.example", "ads.example"]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/a.mp4",
        "http://127.1/a.mp4",
        "http://2130706433/a.mp4",
        "http://0x7f.0.0.1/a.mp4",
        "http://localhost:1/a.mp4",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/a.mp4",
        "http://[::ffff:127.0.0.1]/a.mp4",
        "http://[64:ff9b::7f00:1]/a.mp4",
        "http://0.0.0.0/a.mp4",
        "http://inner.example/a.mp4",
        "http://half.example/a.mp4",
        "http://meta.example/a.mp4",
        "http://none.example/a.mp4",
        "http://user:pass@ads.example/a.mp4",
        "file:///etc/passwd",
        "ftp://ads.example/a.mp4",
        "gopher://ads.example/",
        "http://",
        "http://ads.example:99999/",
    ],
)
def test_what_is_not_public_is_refused(client, site, url):
    status, kind, detail = problem_of(fetch(client, url))
    assert (status, kind) == (403, "forbidden")
    assert "pass" not in detail or "password" in detail
    assert site.asked == []


@pytest.mark.parametrize(
    "target",
    ["http://127.0.0.1/s", "http://inner.example/s", "http://[::1]/s", "file:///etc/passwd"],
)
def test_a_redirect_to_what_is_not_public_is_refused(client, site, target):
    site.files["/go"] = target
    reply = fetch(client, "http://ads.example/go")
    assert reply.status_code in (400, 403), reply.text
    assert [path for path, _ in site.asked] == ["/go"]


def test_a_name_that_changes_between_check_and_connection_gains_nothing(
    client, site, tmp_path, monkeypatch
):
    """It is resolved once; the connection goes to the address that was checked."""
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return [PUBLIC] if len(asked) == 1 else ["127.0.0.1"]

    monkeypatch.setattr(fetch_url, "addresses_of", rebinding)
    site.files["/r.mp4"] = small_video(tmp_path / "a.mp4", 51).read_bytes()
    assert ended(client, fetch(client, "http://rebind.example/r.mp4"))["state"] == "done"
    assert asked == ["rebind.example"]


@pytest.mark.parametrize(
    ("path", "content", "content_type", "status", "kind"),
    [
        ("/page", b"<html>", "text/html", 415, "unsupported-media-type"),
        ("/text.mp4", b"only text", "video/mp4", 415, "unsupported-media-type"),
        ("/large.mp4", b"OggS" + bytes(1_200_000), "video/mp4", 413, "too-large"),
        ("/untold.mp4", b"OggS" + bytes(1_200_000), "video/mp4", 413, "too-large"),
        ("/loop", "http://ads.example/loop", "", 400, "fetch-failed"),
        ("/empty.mp4", b"", "video/mp4", 400, "video-unreadable"),
    ],
)
def test_a_reply_that_is_no_video_is_a_problem(
    client, site, path, content, content_type, status, kind
):
    site.files[path], site.types[path] = content, content_type
    assert problem_of(fetch(client, f"http://ads.example{path}"))[:2] == (status, kind)


def test_a_url_that_is_not_there_is_a_problem(client, site):
    status, kind, detail = problem_of(fetch(client, "http://ads.example/none"))
    assert (status, kind) == (400, "fetch-failed")
    assert "404" in detail


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("10.0.0.1", False),
        ("100.64.0.1", False),
        ("192.168.1.1", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("ff0e::1", False),
        ("::ffff:10.0.0.1", False),
        ("::ffff:8.8.8.8", True),
        ("2002:7f00:1::", False),
        ("64:ff9b::a00:1", False),
        ("::", False),
    ],
)
def test_an_address_is_public_by_what_is_inside_of_it(address, public):
    assert fetch_url.is_public(ipaddress.ip_address(address)) is public


def test_the_name_stays_for_tls_while_the_address_is_dialled(monkeypatch):
    seen: list[httpx.Request] = []

    class Inner(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            seen.append(request)
            return httpx.Response(200, content=b"")

    async def addresses_of(*_: object) -> list[str]:
        return ["2606:4700::1111"]

    async def ask() -> None:
        async with httpx.AsyncClient(transport=fetch_url.PublicOnly(Inner())) as client:
            await client.get("https://ads.example/a.mp4")

    import asyncio

    monkeypatch.setattr(fetch_url, "addresses_of", addresses_of)
    asyncio.run(ask())
    (request,) = seen
    assert str(request.url) == "https://[2606:4700::1111]/a.mp4"
    assert request.headers["host"] == "ads.example"
    assert request.extensions["sni_hostname"] == "ads.example"


def test_settings_decide_whether_urls_are_fetched(tmp_path: Path, site):
    with serving(settings_for(tmp_path / "memories")) as client:
        assert problem_of(fetch(client, "http://ads.example/a.mp4"))[1] == "forbidden"
    assert site.asked == []
