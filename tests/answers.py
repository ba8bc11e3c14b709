"""An answer made by hand: its words stand in the bundled ad, a rule chose them."""

from __future__ import annotations

from admir.types import Action, Answer, Claim, Evidence, Span, Step, Usage, Verdict


def inferred_answer() -> Answer:
    """Quoted, with how sure the rule was and what came next."""
    claim = Claim(
        text="NOW $48",
        status="inferred",
        evidence=("e1",),
        reason="the line is read there; that it is asked for is a guess",
        confidence=0.62,
        alternatives=("WAS $64", "25% off"),
    )
    line = Evidence(
        video_id="ad",
        kind="screen_text",
        span=Span(start_s=16.3, end_s=19.6),
        quote="NOW $48",
        id="e1",
        frame_s=17.0,
    )
    finish = Step(
        index=1,
        thought="This line is the likeliest.",
        actions=(Action(tool="finish", arguments={"answer": "NOW $48"}),),
        verdict=Verdict(accepted=True, claims=(claim,)),
    )
    return Answer(
        video_id="ad",
        question="What is the best thing about it?",
        answer="NOW $48",
        grounded=False,
        basis="inference",
        claims=(claim,),
        evidence=(line,),
        steps=(finish,),
        usage=Usage(),
        preset="offline",
        models={},
        prompt_hashes={},
    )
