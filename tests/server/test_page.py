"""The page in a real Chromium, over the real service."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect

from admir import Memory
from admir.demo import AD
from admir.server.page import STATIC
from admir.settings import ServerSettings, load_settings
from admir.trace import to_plain
from admir.types import Answer, Claim, ClaimStatus
from tests.answers import inferred_answer
from tests.browsing import browser
from tests.server.running import serving

__all__ = ["browser"]

WIDE, NARROW = (1280, 800), (390, 844)
BACKTRACKS = "What does a lamp like this cost, according to the on-screen text?"
_MARKUP = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write")
HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'


@dataclass
class Opened:
    """A page, the address of its service, and what its console complained of."""

    page: Page
    url: str
    errors: list[str] = field(default_factory=list)

    def go(self, address: str = "") -> Page:
        self.page.goto(f"{self.url}/{address}")
        return self.page

    def ask(self, question: str) -> Page:
        self.page.get_by_label("Your question").fill(question)
        self.page.keyboard.press("Enter")
        expect(self.page.locator(".answer, .turn .notice").last).to_be_visible(timeout=20_000)
        return self.page


@pytest.fixture(scope="module")
def client(demo: Memory, memories: Path) -> Iterator[httpx.Client]:
    with serving(load_settings(memories=memories)) as session:
        yield session


@contextmanager
def opened(
    browser: Browser, client: httpx.Client, size: tuple[int, int] = WIDE, scheme: Any = "light"
) -> Iterator[Opened]:
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    context.set_default_timeout(10_000)
    found = Opened(context.new_page(), str(client.base_url).rstrip("/"))
    found.page.on(
        "console", lambda said: found.errors.append(said.text) if said.type == "error" else None
    )
    found.page.on("pageerror", lambda error: found.errors.append(str(error)))
    yield found
    context.close()


@pytest.fixture
def wide(browser: Browser, client: httpx.Client) -> Iterator[Opened]:
    with opened(browser, client) as found:
        yield found


def assert_sound(page: Page) -> None:
    """Nothing hangs over the side, and axe finds nothing serious."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["target"]) for each in found
            if each["impact"] in ("serious", "critical")] == []  # fmt: skip


def position(page: Page) -> float:
    """Where the player is; a Chromium that cannot play the ad shows its pictures."""
    return float(page.evaluate(
        "(document.querySelector('video')?.currentTime"
        " ?? Number(document.querySelector('input[type=range]').value))"
    ))  # fmt: skip


def memory_of(client: httpx.Client) -> dict[str, Any]:
    return client.get("/videos/ad/memory").json()


def stream_of(*events: tuple[str, Any]) -> dict[str, Any]:
    """What `route.fulfill` takes for these events."""
    body = "".join(f"event: {name}\r\ndata: {json.dumps(data)}\r\n\r\n" for name, data in events)
    return {"content_type": "text/event-stream", "body": ": ping\r\n\r\n" + body}


# The files


def test_the_page_is_served_with_its_types_and_kept_by_etag(client):
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert client.get("/static/app.js").headers["content-type"].startswith("text/javascript")
    assert client.get("/static/icon.svg").headers["content-type"] == "image/svg+xml"
    style = client.head("/static/style.css")
    assert (style.status_code, style.content) == (200, b"")
    again = client.get("/static/style.css", headers={"if-none-match": f"W/{style.headers['etag']}"})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("name", ["nothing.js", "..%2fpage.py", "%2e%2e/page.py", "style.css/x"])
def test_only_the_files_of_the_page_are_served(client, name):
    reply = client.get(f"/static/{name}")
    assert reply.status_code == 404
    assert reply.headers["content-type"] == "application/problem+json"


def test_the_files_are_small_and_load_nothing_from_elsewhere():
    for path in STATIC.iterdir():
        source = path.read_text("utf-8")
        assert len(source.splitlines()) < 300, path
        assert not _MARKUP.search(source), path
        elsewhere = re.findall(r"https?://[^\"'\s]+", source)
        assert set(elsewhere) <= {"http://www.w3.org/2000/svg"}, path


# The way through


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_from_the_library_to_the_proof_of_an_answer(browser, client, size, scheme):
    with opened(browser, client, size, scheme) as found:
        page = found.go()
        expect(page.get_by_role("heading", name="Videos")).to_be_visible()
        expect(page.locator(".card img")).to_have_js_property("complete", True)
        assert_sound(page)
        page.get_by_role("link", name="ad", exact=True).click()
        expect(page.get_by_role("heading", name="ad", exact=True)).to_be_focused()
        found.ask(BACKTRACKS)
        expect(page.locator(".answer-text")).to_have_text("$48")
        expect(page.locator(".status")).to_have_text("Verified")
        expect(page.locator("#spoken")).to_contain_text("every claim is verified")
        page.locator(".piece", has_text="NOW $48").click()
        expect(page).to_have_url(re.compile(r"#/v/ad\?t=17\.0$"))
        assert position(page) == pytest.approx(17, abs=0.1)
        expect(page.locator(".screen .mark")).to_be_visible()
        page.locator(".trace > summary").click()
        expect(page.locator(".rejection")).to_contain_text("ninety dollars")
        assert_sound(page)
        assert found.errors == []


def test_the_timeline_shows_the_memory_and_seeks(wide, demo):
    page = wide.go("#/v/ad?t=12.5")
    expect(page.locator(".now")).to_have_text("0:12.5")
    for name, number in (
        ("Shots", len(demo.shots)),
        ("Speech", len(demo.utterances)),
        ("Text", len(demo.screen_text)),
    ):
        lane = page.get_by_role("toolbar", name=f"{name} on")
        expect(lane.get_by_role("button")).to_have_count(number)
    expect(page.get_by_role("button", name="Story, offer: WAS $64")).to_have_count(1)
    page.get_by_role("button", name="Tom: I took").click()
    assert position(page) == pytest.approx(24.36, abs=0.1)


def test_the_keyboard_alone_is_enough(wide):
    page = wide.go()
    page.locator(".card a").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".segment").first).to_be_visible()
    page.locator(".shots .segment").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".now")).to_have_text("0:04.2")
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Shot 7")).to_be_focused()
    page.keyboard.press("Tab")  # a lane is one stop
    expect(page.locator(".arc .segment").first).to_be_focused()
    page.get_by_label("Your question").focus()
    page.keyboard.type("Which brand is advertised?")
    page.keyboard.press("Enter")
    expect(page.locator(".answer-text")).to_have_text("LUMIVO")
    page.locator(".piece").first.focus()
    page.keyboard.press("Enter")
    assert position(page) > 5


def test_a_conversation_stays_while_the_video_does(wide):
    page = wide.go("#/v/ad")
    page.get_by_role("button", name="What price is shown?").click()
    expect(page.locator(".answer-text")).to_have_text("$48")
    with page.expect_request("**/ask") as sent:
        wide.ask("Which phone number can viewers call?")
    earlier = [{"question": "What price is shown?", "answer": "$48"}]
    assert sent.value.post_data_json["earlier"] == earlier
    expect(page.locator(".question")).to_have_count(2)
    expect(page.locator(".answer-text").last).to_contain_text("Not shown")
    page.get_by_role("link", name="Videos").click()
    page.get_by_role("link", name="ad", exact=True).click()
    expect(page.locator(".answer-text").first).to_have_text("$48")
    expect(page.locator(".question")).to_have_count(2)
    assert wide.errors == []


HELD = """
const real = window.fetch;
window.fetch = (path, options) => path !== "/ask" ? real(path, options) : Promise.resolve(
  new Response(new ReadableStream({ start(body) {
    window.push = (text) => body.enqueue(new TextEncoder().encode(text));
    options.signal.addEventListener("abort", () => body.error(new DOMException("", "AbortError")));
  } }), { headers: { "content-type": "text/event-stream" } }));
"""
"""An answer that comes piece by piece, as the test hands it on."""


def test_the_trace_appears_live_and_can_be_stopped(wide, client):
    answer = client.post("/ask", json={"video_id": "ad", "question": BACKTRACKS}).json()
    wide.page.add_init_script(HELD)
    page = wide.go("#/v/ad")
    page.get_by_role("button", name="What price is shown?").click()
    step = stream_of(("step_taken", {"step": answer["steps"][0]}))["body"]
    for piece in (step[:40], step[40:-3], step[-3:-1]):
        page.evaluate("(text) => window.push(text)", piece)
    expect(page.locator(".doing")).to_have_text("Asking …")
    page.evaluate("(text) => window.push(text)", step[-1:])
    expect(page.get_by_role("log").get_by_role("listitem")).to_contain_text("Clip search")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".turn .notice")).to_have_text("Stopped.")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    assert wide.errors == []


# What goes wrong


def test_hostile_texts_stay_texts(wide, client, demo):
    told = memory_of(client)
    told["narrative"] |= {"summary": HOSTILE, "entities": [HOSTILE], "mismatches": [HOSTILE]}
    for each in (*told["screen_text"], *told["utterances"], *told["narrative"]["inferences"]):
        each |= {"text": HOSTILE, "quote": HOSTILE, "label": HOSTILE, "speaker": HOSTILE}
    answer = client.post("/ask", json={"video_id": "ad", "question": BACKTRACKS}).json()
    for each in (*answer["claims"], *answer["evidence"], *answer["steps"]):
        each |= {"text": HOSTILE, "quote": HOSTILE, "thought": HOSTILE, "reason": HOSTILE}
    answer |= {"answer": HOSTILE, "reason": HOSTILE, "warnings": [HOSTILE]}
    events = [("step_taken", {"step": step}) for step in answer["steps"]]
    narrative = to_plain(demo.narrative) | {"summary": HOSTILE}
    reply = stream_of(("oriented", {"narrative": narrative, "subjects": []}), *events,
                      ("answered", {"answer": answer}))  # fmt: skip
    wide.page.route("**/videos/ad/memory", lambda route: route.fulfill(json=told))
    wide.page.route("**/ask", lambda route: route.fulfill(**reply))
    page = wide.go("#/v/ad")
    wide.ask(HOSTILE)
    expect(page.locator(".answer-text")).to_have_text(HOSTILE)
    assert page.evaluate("window.pwned") is None
    assert page.locator("img[src=x], main script").count() == 0
    assert wide.errors == []
    assert_sound(page)


def told_by(found: Opened, answer: Answer) -> Page:
    """The page with this answer."""
    reply = stream_of(*(("step_taken", {"step": step}) for step in to_plain(answer)["steps"]),
                      ("answered", {"answer": to_plain(answer)}))  # fmt: skip
    found.page.route("**/ask", lambda route: route.fulfill(**reply))
    found.go("#/v/ad")
    return found.ask(answer.question)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_a_quoted_answer_says_that_it_is_inferred(browser, client, size, scheme):
    with opened(browser, client, size, scheme) as found:
        page = told_by(found, inferred_answer())
        expect(page.locator(".standing.inferred")).to_have_text(
            "Quoted, not proved: these words stand in the video; that they answer the question "
            "is inferred"
        )
        expect(page.locator("#spoken")).to_contain_text("Quoted, not proved")
        expect(page.locator(".status")).to_have_text("Inferred")
        expect(page.locator(".claim")).to_contain_text("Quoted; that it answers is inferred (62%)")
        expect(page.locator(".others")).to_have_text("or: WAS $64 / 25% off")
        page.locator(".trace > summary").click()
        expect(page.locator(".verdict.inferred")).to_contain_text("accepted as quoted")
        assert_sound(page)
        assert found.errors == []


def test_the_statuses_have_five_colours(wide):
    one = inferred_answer()
    claims = [replace(one.claims[0], status=status) for status in get_args(ClaimStatus)]
    page = told_by(wide, replace(one, claims=tuple(claims)))
    colours = page.locator(".status").evaluate_all(
        "(found) => found.map((each) => getComputedStyle(each).color)"
    )
    assert len(set(colours)) == len(claims) == 5
    expect(page.locator(".others")).to_have_count(1)


@pytest.mark.parametrize(
    ("basis", "grounded", "told"),
    [
        ("absence", True, "Grounded: it was looked for, and is not there"),
        ("absence", False, "Not found; that it is absent is not proved"),
        (
            "premise",
            False,
            "No answer: the question supposes something that nothing in the ad speaks of",
        ),
        ("none", False, "Not grounded: not every claim could be verified"),
    ],
)
def test_what_an_answer_rests_on_is_said(wide, basis, grounded, told):
    claim = Claim(text="golden", unsupported=("golden",))
    answer = replace(inferred_answer(), basis=basis, grounded=grounded, claims=(claim,))
    page = told_by(wide, answer)
    sign = "verified" if grounded else "unverified"
    expect(page.locator(f".standing.{sign}")).to_have_text(told)
    expect(page.locator("li.claim")).to_contain_text("Nothing shows: golden")
    assert wide.errors == []


def test_an_answer_without_proof_says_so(wide):
    page = wide.go("#/v/ad")
    wide.ask("Who is this ad for?")
    expect(page.locator(".standing.unverified")).to_contain_text("Not ")
    expect(page.locator(".status").first).to_have_text("Unverified")


@pytest.mark.parametrize(
    ("reply", "heading"),
    [
        (stream_of(("problem", {"title": "model-error", "detail": "no reply"})), "Model error"),
        (stream_of(("asked", {})), "The service does not answer"),
        ({"status": 429, "json": {"title": "busy", "detail": "later"}}, "The service is busy"),
        (None, "The service does not answer"),
    ],
)
def test_a_question_that_fails_can_be_asked_again(wide, reply, heading):
    def fail(route: Route) -> None:
        route.abort() if reply is None else route.fulfill(**reply)

    wide.page.route("**/ask", fail)
    page = wide.go("#/v/ad")
    wide.ask("What price is shown?")
    expect(page.get_by_role("alert")).to_contain_text(heading)
    page.unroute("**/ask")
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".answer-text")).to_have_text("$48")


def test_no_video_damaged_ones_and_unknown_ones_are_told(wide):
    empty = {"videos": [], "unreadable": {"old": "its memory.json is damaged"}}
    wide.page.route("**/videos", lambda route: route.fulfill(json=empty))
    page = wide.go()
    expect(page.get_by_role("heading", name="No video yet")).to_be_visible()
    expect(page.locator(".notice")).to_contain_text("its memory.json is damaged")
    assert_sound(page)
    wide.go("#/v/nobody")
    expect(page.get_by_role("alert")).to_contain_text("There is no memory of this video")


def test_pictures_stand_in_for_a_video_that_cannot_be_played(wide):
    wide.page.route("**/media", lambda route: route.fulfill(status=404, json={}))
    page = wide.go("#/v/ad?t=17")
    expect(page.locator(".screen img")).to_have_attribute("src", re.compile(r"/frames/17\.00\.jpg"))
    page.get_by_role("button", name="Shot 2").click()
    expect(page.locator(".screen img")).to_have_attribute("src", re.compile(r"/frames/4\.20\.jpg"))
    expect(page.locator(".player-note")).to_contain_text("pictures are shown")


def test_a_video_whose_file_is_gone_is_shown_in_pictures(wide, client):
    gone = client.get("/videos/ad").json() | {"media": False}
    wide.page.route("**/videos/ad", lambda route: route.fulfill(json=gone))
    page = wide.go("#/v/ad?t=17")
    expect(page.locator(".player-note")).to_contain_text("not there any more")
    expect(page.locator(".screen img")).to_have_js_property("complete", True)
    assert wide.errors == []


def test_the_key_is_asked_for_once_and_kept(browser, demo, memories):
    settings = load_settings(memories=memories, server=ServerSettings(api_key="secret"))
    with serving(settings) as session, opened(browser, session) as found:
        page = found.go()
        page.get_by_role("textbox", name="Key").fill("wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_text("The last key was refused.")).to_be_visible()
        page.get_by_role("textbox", name="Key").fill("secret")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="ad", exact=True).click()
        found.ask("What price is shown?")
        expect(page.locator(".answer-text")).to_have_text("$48")
        expect(page.locator(".piece img").first).to_have_attribute("src", re.compile("^blob:"))
        page.reload()
        expect(page.locator(".segment").first).to_be_visible()


# Uploads


def with_jobs(page: Page, job: dict[str, Any], posted: list[Route], *later: dict[str, Any]) -> None:
    """A service that builds memories, as the page sees it."""

    def openapi(route: Route) -> None:
        post, get, delete = {"post": {}}, {"get": {}}, {"delete": {}}
        paths = {"/videos": post, "/jobs": get, "/videos/{video_id}": delete}
        route.fulfill(json={"paths": paths})

    def videos(route: Route) -> None:
        if route.request.method != "POST":
            route.continue_()
            return
        posted.append(route)
        route.fulfill(status=202, json=job)

    page.route("**/openapi.json", openapi)
    page.route("**/jobs", lambda route: route.fulfill(json={"jobs": []}))
    page.route(re.compile(r"/videos(\?.*)?$"), videos)
    events = stream_of(*(("job", job | each) for each in later))
    page.route("**/jobs/j1", lambda route: route.fulfill(**events))


JOB = {"id": "j1", "name": "new ad.mp4", "state": "queued", "stage": "", "percent": 0,
       "left_s": None, "video_id": None, "reused": False, "error": None}  # fmt: skip


def test_an_upload_is_followed_until_it_can_be_asked_about(wide):
    posted: list[Route] = []
    running = {"state": "running", "stage": "read text", "percent": 40.5, "left_s": 12}
    with_jobs(wide.page, JOB, posted, running, {"state": "done", "video_id": "ad", "percent": 100})
    page = wide.go()
    page.get_by_label("Upload a video").set_input_files(
        {"name": "new ad.mp4", "mimeType": "video/mp4", "buffer": b"frames"}
    )
    expect(page.get_by_role("link", name="Ask about ad")).to_be_visible()
    assert "name=new%20ad.mp4" in posted[0].request.url
    assert posted[0].request.headers["content-type"] == "video/mp4"
    assert_sound(page)
    assert wide.errors == []


def test_a_build_that_fails_says_why(wide):
    failed = {"state": "failed", "error": {"kind": "video-unreadable", "detail": "no pictures"}}
    with_jobs(wide.page, JOB, [], failed)
    page = wide.go()
    page.get_by_label("Upload a video").set_input_files(
        {"name": "new ad.mp4", "mimeType": "video/mp4", "buffer": b"frames"}
    )
    expect(page.locator(".jobs")).to_contain_text("This video cannot be read: no pictures")


def test_a_memory_is_deleted_after_a_second_word(wide):
    asked: list[str] = []
    with_jobs(wide.page, JOB, [])

    def delete(route: Route) -> None:
        asked.append(route.request.method)
        route.fulfill(status=204)

    wide.page.route("**/videos/ad", delete)
    page = wide.go()
    page.get_by_role("button", name="Delete ad").click()
    page.get_by_role("button", name="Keep").click()
    page.get_by_role("button", name="Delete ad").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("#spoken")).to_have_text("ad is deleted")
    assert asked == ["DELETE"]


def test_from_a_file_to_its_proof(browser, tmp_path):
    """Nothing stands in for anything: a real upload, its build, a question, its evidence."""
    with (
        serving(load_settings(memories=tmp_path, embedder="hashing")) as client,
        opened(browser, client) as fresh,
    ):
        page = fresh.go()
        page.get_by_label("Upload a video").set_input_files(AD)
        expect(page.get_by_role("link", name="Ask about ad")).to_be_visible(timeout=100_000)
        page.get_by_role("link", name="Ask about ad").click()
        fresh.ask("What price is shown on screen?")
        expect(page.locator(".answer").last).to_contain_text("$48")
        page.locator(".answer").last.get_by_role("button", name="NOW $48").first.click()
        page.wait_for_function(
            "(document.querySelector('video')?.currentTime"
            " ?? Number(document.querySelector('input[type=range]').value)) > 15"
        )
        assert 15 < position(page) < 20
        assert fresh.errors == []
