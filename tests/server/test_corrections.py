"""Corrections over HTTP and on the page: kept, marked, used by the next answer, taken back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect

from admir.settings import load_settings
from tests.browsing import browser
from tests.server.running import serving
from tests.server.test_page import NARROW, WIDE, assert_sound, opened

__all__ = ["browser"]
LINE = {"kind": "screen_text", "was": "LUMIVO", "text": "VELTRA"}
BRAND = "Which brand is advertised?"


@pytest.fixture
def client(demo_copy):
    with serving(load_settings(memories=demo_copy)) as session:
        yield session


def answer_of(client, question=BRAND):
    return client.post("/ask", json={"video_id": "ad", "question": question}).json()


def test_the_next_answer_has_a_correction_until_it_is_taken_back(client):
    assert "LUMIVO" in answer_of(client)["answer"]
    made = client.post("/videos/ad/corrections", json=LINE)
    assert made.status_code == 201
    [kept] = made.json()["corrections"]
    assert (kept["was"], kept["text"]) == ("LUMIVO", "VELTRA")
    corrected = answer_of(client)
    assert "VELTRA" in corrected["answer"]
    assert any(piece["corrected"] for piece in corrected["evidence"])
    memory = client.get("/videos/ad/memory").json()
    assert memory["corrections"] == client.get("/videos/ad/corrections").json()["corrections"]
    assert client.delete(f"/videos/ad/corrections/{kept['id']}").status_code == 204
    assert "LUMIVO" in answer_of(client)["answer"]
    again = client.delete(f"/videos/ad/corrections/{kept['id']}")
    assert (again.status_code, again.json()["title"]) == (404, "unknown-correction")


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        ({"kind": "brand", "text": " "}, 400, "needs a name"),
        (LINE | {"was": "nobody reads this"}, 400, "no line of 'ad' was read as"),
        (LINE | {"text": "x" * 501}, 422, "body.text"),
        (LINE | {"kind": "speech"}, 422, "body.kind"),
        (LINE | {"note": "x"}, 422, "body.note"),
        ({}, 422, "body.kind"),
    ],
)
def test_what_cannot_be_corrected_is_a_problem(client, body, status, why):
    refused = client.post("/videos/ad/corrections", json=body)
    assert (refused.status_code, why in refused.json()["detail"]) == (status, True)
    assert client.get("/videos/ad/corrections").json() == {"corrections": []}


def test_an_unknown_video_is_not_corrected(client, demo_copy):
    assert client.post("/videos/nobody/corrections", json=LINE).status_code == 404
    assert client.get("/videos/nobody/corrections").status_code == 404
    assert not (demo_copy / "nobody").exists()


def test_corrections_at_one_time_are_all_kept(client):
    lines = sorted({each["text"] for each in client.get("/videos/ad/memory").json()["screen_text"]})
    bodies = [LINE | {"was": line, "text": f"{line}!"} for line in lines]
    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(lambda body: client.post("/videos/ad/corrections", json=body), bodies))
    assert {reply.status_code for reply in sent} == {201}
    kept = client.get("/videos/ad/corrections").json()["corrections"]
    assert sorted(each["was"] for each in kept) == lines


# On the page


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_a_line_is_corrected_on_the_page(browser, client, size, scheme):
    with opened(browser, client, size, scheme) as found:
        page = found.go("#/v/ad")
        found.ask(BRAND)
        page.locator(".transcript > summary").click()
        page.get_by_role("button", name="Correct “LUMIVO”").first.click()
        field = page.get_by_label("What it says")
        expect(field).to_be_focused()
        expect(field).to_have_value("LUMIVO")
        assert_sound(page)
        field.fill("VELTRA")
        page.keyboard.press("Enter")
        expect(page.locator("#spoken")).to_have_text("Corrected. The next answer has it.")
        expect(page.get_by_text("“LUMIVO” says “VELTRA”")).to_be_visible()
        expect(page.locator(".transcript > summary")).to_be_focused()
        expect(page.locator(".text .segment", has_text="VELTRA").first).to_be_visible()
        expect(page.locator(".answer-text")).to_have_text("LUMIVO")  # what was answered stays
        found.ask(BRAND)
        expect(page.locator(".answer-text").last).to_have_text("VELTRA")
        expect(page.locator(".piece").last).to_contain_text("corrected by a person")
        assert_sound(page)
        page.get_by_role("button", name="Take back: “LUMIVO” says").click()
        expect(page.get_by_text("Corrected by people")).to_have_count(0)
        assert found.errors == []


def test_a_brand_is_told_and_a_line_is_no_text(browser, client):
    with opened(browser, client) as found:
        page = found.go("#/v/ad")
        page.get_by_text("What the memory says").click()
        page.get_by_role("button", name="Correct the brand").click()
        page.get_by_label("The brand is").fill("Halden & Sons")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Halden & Sons, told by a person")).to_be_visible()
        found.ask(BRAND)
        expect(page.locator(".answer-text")).to_contain_text("Halden & Sons")
        page.locator(".transcript > summary").click()
        page.get_by_role("button", name="Correct “LUMIVO”").first.click()
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Correct “LUMIVO”").first).to_be_focused()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="It is no text").click()
        expect(page.get_by_text("“LUMIVO” is no text")).to_be_visible()
        expect(page.get_by_role("button", name="Correct “LUMIVO”")).to_have_count(0)
        assert found.errors == []


def test_a_correction_that_fails_says_why_and_keeps_what_was_typed(browser, client):
    with opened(browser, client) as found:
        page = found.go("#/v/ad")
        page.locator(".transcript > summary").click()
        page.get_by_role("button", name="Correct “LUMIVO”").first.click()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("This cannot be corrected")
        expect(page.get_by_label("What it says")).to_have_value("LUMIVO")
