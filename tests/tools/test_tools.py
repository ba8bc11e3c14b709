"""The five tools over the memory of the bundled ad."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from admir import Memory
from admir.api import _agent
from admir.concurrency import run_sync
from admir.memory.frame_access import frames_at
from admir.perception.decode import load_image
from admir.settings import Settings, load_settings
from admir.text import contains
from admir.tools.registry import TOOLS, ToolError, run_tool, tool_specs
from admir.types import Action
from tests.agent.drafts import tea_memory
from tests.model_server import ModelServer


@pytest.fixture(scope="module", params=["offline", "models"])
def backend(request):
    """The backend behind the tools: a test that takes a context runs with both."""
    return request.param


@pytest.fixture(scope="module")
def chosen(backend: str, memories: Path) -> Iterator[Settings]:
    """Settings of the offline backend, or of models that a scripted server plays."""
    if backend == "offline":
        yield load_settings(memories=memories)
        return
    with ModelServer() as server:
        yield load_settings(
            memories=memories, preset="paper", base_url=server.url, api_key="k", cache=False
        )
        assert server.protocol == []


@pytest.fixture(scope="module")
def context(demo: Memory, chosen: Settings):
    return _agent(demo, "-", chosen)[0].tools


@pytest.fixture(scope="module")
def text_context(chosen: Settings):
    return _agent(tea_memory(), "-", chosen)[0].tools


offline = pytest.mark.parametrize("backend", ["offline"], indirect=True)
"""What a rule reads out of the pictures: of models a script would say it."""


def call(context, tool: str, **arguments):
    return run_sync(run_tool(context, Action(tool=tool, arguments=arguments)))


def quotes(result, kind: str) -> list[str]:
    return [e.quote for e in result.evidence if e.kind == kind]


def test_five_tools_are_registered_with_descriptions_and_schemas():
    names = ["global_browse", "clip_search", "frame_inspect", "communication_expert", "finish"]
    assert list(TOOLS) == names
    told = tool_specs(load_settings())
    assert [tool.name for tool in told] == names
    for tool in told:
        assert len(tool.description) > 60
        assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])
        assert set(tool.parameters["properties"]) == set(TOOLS[tool.name].arguments.model_fields)


def test_global_browse_brings_every_line_in_time_order(context, facts):
    result = call(context, "global_browse", question="What is this ad about?")
    starts = [e.span.start_s for e in result.evidence]
    assert starts == sorted(starts)
    shown = " ".join(quotes(result, "screen_text"))
    assert all(contains(shown, row["text"]) for row in facts["screen_text"])
    assert quotes(result, "speech") == [row["text"] for row in facts["speech"]]
    assert facts["brand"] in result.summary
    assert "direct promotion" in result.summary
    assert "ninety dollars" in result.summary, "said and not shown: a mismatch"


def test_global_browse_keeps_to_its_number_of_clips(demo, memories):
    settings = load_settings(memories=memories, browse_top_k=2)
    few = call(_agent(demo, "-", settings)[0].tools, "global_browse", question="price $48")
    assert len(quotes(few, "caption")) == 2


def test_clip_search_finds_the_scene_and_its_lines(context, facts):
    result = call(context, "clip_search", query="website www", top_k=3)
    assert any(contains(quote, facts["url"]) for quote in quotes(result, "screen_text"))
    frames = [Path(e.frame) for e in result.evidence if e.kind == "screen_text"]
    assert all(frame.is_file() for frame in frames)


def test_clip_search_for_nothing_known_still_answers(context):
    summary = call(context, "clip_search", query="ztqv").summary
    assert summary.startswith("Moments found")
    assert "No clip holds any of these words: ztqv." in summary


def test_a_search_says_which_words_stand_where_and_which_nowhere(context, facts):
    result = call(context, "clip_search", query="website shoes")
    assert "No clip holds" in result.summary
    assert "shoes" in result.summary.splitlines()[-1]


def test_the_best_clip_comes_first_with_its_caption_then_the_lines_with_the_words(context):
    result = call(context, "clip_search", query="25% off until 30 June")
    first, second = result.evidence[:2]
    assert first.kind == "caption"
    assert first.span.contains(20.5)
    assert second.kind == "screen_text"
    assert contains(second.quote, "30 June") or contains(second.quote, "25%")


def test_literal_inspection_looks_at_four_frames_a_second(context, facts):
    result = call(context, "frame_inspect", question="?", start_s=20.5, end_s=21.5, mode="literal")
    times = [time_s for grid in result.grids_s for time_s in grid]
    assert len(times) >= 4
    assert all(20.5 <= t < 21.5 for t in times)
    assert result.looked_at.start_s == 20.5
    with Image.open(result.evidence[0].frame) as picture:
        assert picture.size == (facts["width"], facts["height"])


def looked_at(result):
    return [time_s for grid in result.grids_s for time_s in grid]


def test_a_semantic_look_takes_a_frame_a_second_up_to_eight_with_each_shot_among_them(
    context, facts
):
    result = call(context, "frame_inspect", question="?", start_s=0, end_s=999, mode="semantic")
    assert 1 <= len(result.evidence) <= 8
    assert len(looked_at(result)) == 8
    for scene in facts["scenes"]:
        assert any(scene["start_s"] <= t < scene["end_s"] for t in looked_at(result))
    result = call(context, "frame_inspect", question="?", start_s=5, end_s=10, mode="semantic")
    assert len(looked_at(result)) == 5, "not one frame of a shot of five seconds"


@pytest.mark.parametrize(
    ("start_s", "end_s", "frames"), [(5.0, 6.4, 8), (5.0, 5.3, 8), (5.0, 5.04, 8), (0.0, 5.0, 20)]
)
def test_the_narrower_the_range_the_denser_the_look(context, start_s, end_s, frames):
    result = call(context, "frame_inspect", question="?", start_s=start_s, end_s=end_s)
    times = looked_at(result)
    assert len(times) == len(set(times)) == frames
    assert all(start_s - 0.2 <= t < end_s + 0.2 for t in times)


def test_a_look_that_is_too_long_takes_its_start_and_says_so(context):
    result = call(context, "frame_inspect", question="?", start_s=2, end_s=23)
    assert result.looked_at.end_s == 22.0
    assert "22.0-23.0 s was not looked at" in result.summary


def test_the_picture_of_a_finding_is_the_one_that_was_looked_at(context):
    """One time stamp, one picture: what the model saw and what is kept as its proof."""
    result = call(context, "frame_inspect", question="?", start_s=20.5, end_s=21.5)
    for evidence in result.evidence:
        assert evidence.frame_s in looked_at(result)
        (true,) = frames_at(context.memory, [evidence.frame_s])
        kept = load_image(Path(evidence.frame)).astype(int)
        assert true.time_s == evidence.frame_s
        assert np.abs(kept - true.pixels).mean() < 3, "but for JPEG"


@offline
def test_a_literal_look_reads_the_text(context):
    result = call(context, "frame_inspect", question="?", start_s=20.5, end_s=21.5, mode="literal")
    read = " ".join(quotes(result, "frame"))
    assert contains(read, "25% OFF")
    assert contains(read, "until 30 June")


@offline
def test_a_semantic_look_says_what_rules_do_not_see(context, facts):
    result = call(context, "frame_inspect", question="?", start_s=0, end_s=999, mode="semantic")
    assert len(result.evidence) == 8
    assert "does not recognise things" in result.summary


def test_the_expert_honours_its_range(context):
    result = call(context, "communication_expert", focus="persuasion", start_s=15.5, end_s=19)
    assert len(looked_at(result)) <= 3 * 3.5, "at most three a second"
    assert all(15.5 <= t < 19 for t in looked_at(result))
    assert {e.kind for e in result.evidence} == {"expert"}
    assert all(15.5 <= e.span.start_s < e.span.end_s <= 19 for e in result.evidence)


def test_a_memory_of_text_alone_has_no_pictures_to_inspect(text_context):
    with pytest.raises(ToolError, match="no pictures"):
        call(text_context, "frame_inspect", question="?", start_s=0, end_s=2)


def test_a_memory_of_text_alone_can_be_searched_and_browsed(text_context):
    found = call(text_context, "clip_search", query="blackberry tea")
    assert "Black tea with blackberry" in quotes(found, "screen_text")
    assert call(text_context, "communication_expert", focus="?").evidence


@offline
def test_frames_come_from_the_kept_ones_when_the_source_is_gone(context, demo):
    from dataclasses import replace

    gone = replace(demo, video=replace(demo.video, path="/nowhere/ad.mp4"))
    result = call(
        replace(context, memory=gone), "frame_inspect", question="?", start_s=20.6, end_s=21.4
    )
    assert contains(" ".join(quotes(result, "frame")), "25% OFF")
