"""What the scripted server of models says where a test scripts nothing, role by role."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np

ROLES_BY_TITLE = {
    "Caption of a clip": "caption",
    "Text in a picture": "read_text",
    "Who is who": "merge",
    "The story of an ad": "narrate",
    "A close look: literal": "inspect",
    "A close look: style and meaning": "inspect",
    "Communication expert": "expert",
    "Check of claims": "verify",
    "The final wording": "refine",
    "Analyst of advertising videos": "controller",
    "Judge of an answer": "judge",
    "Question about a video": "baseline",
}
"""First line of the system message -> role, for servers that get no `response_format`."""

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True)
class Asked:
    """A request as it came in. `in_flight` counts it and those that were under way."""

    role: str
    body: dict[str, Any]
    key: str
    at_s: float
    in_flight: int
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body["messages"]

    @property
    def system(self) -> str:
        """All that stands in system messages."""
        return "\n".join(str(m["content"]) for m in self.messages if m["role"] == "system")

    @property
    def text(self) -> str:
        """All that stands elsewhere, pictures left out."""
        return "\n".join(
            part if isinstance(part, str) else part["text"]
            for part in self._parts()
            if isinstance(part, str) or part["type"] == "text"
        )

    @property
    def images(self) -> list[np.ndarray]:
        """The pictures, decoded: BGR."""
        return [picture for picture in self.sequence if not isinstance(picture, str)]

    @property
    def sequence(self) -> list[str | np.ndarray]:
        """Texts and decoded pictures in their order."""
        return [
            part
            if isinstance(part, str)
            else part["text"]
            if part["type"] == "text"
            else _decoded(part["image_url"]["url"])
            for part in self._parts()
        ]

    @property
    def step(self) -> int:
        """How many turns the controller has had before."""
        return sum(m["role"] == "assistant" for m in self.messages)

    def _parts(self) -> list[Any]:
        others = [m.get("content") or "" for m in self.messages if m["role"] != "system"]
        return [p for c in others for p in (c if isinstance(c, list) else [c])]


def _decoded(url: str) -> np.ndarray:
    data = np.frombuffer(base64.b64decode(url.partition(",")[2]), dtype=np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_COLOR)


@dataclass(frozen=True)
class Say:
    """A chat reply in full; `calls` are (tool, arguments), which may be text that is no JSON."""

    content: str | None = None
    calls: tuple[tuple[str, Any], ...] = ()
    refusal: str | None = None
    finish: str = "stop"
    usage: tuple[int, int, int] | None = (100, 10, 0)
    """Input and output tokens, and how many of the input were known."""

    def body(self, model: str) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.refusal is not None:
            message["refusal"] = self.refusal
        if self.calls:
            message["tool_calls"] = [_call(n, *call) for n, call in enumerate(self.calls)]
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        whole = {"id": "c1", "object": "chat.completion", "created": 1, "model": model}
        if self.usage is None:
            return {**whole, "choices": [choice]}
        inputs, outputs, known = self.usage
        used = {
            "prompt_tokens": inputs,
            "completion_tokens": outputs,
            "total_tokens": inputs + outputs,
            "prompt_tokens_details": {"cached_tokens": known},
        }
        return {**whole, "choices": [choice], "usage": used}


def _call(number: int, tool: str, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": tool, "arguments": text}
    return {"id": f"call{number}", "type": "function", "function": function}


def default_reply(asked: Asked) -> Any:
    """A sensible reply of any role."""
    return _DEFAULTS[asked.role](asked)


def _caption(asked: Asked) -> dict[str, Any]:
    start_s = clip_start_s(asked)
    bottle = {
        "name": "grey bottle",
        "kind": "object",
        "appearance": [f"grey as at {start_s:g} s"],
        "identity": ["the product"],
        "first_seen_s": start_s,
    }
    return {
        "description": f"A grey wall, clip from {start_s:g} s.",
        "subjects": [bottle],
        "corrections": [],
    }


def clip_start_s(asked: Asked) -> float:
    """When the clip of a caption request starts."""
    found = re.search(r"A clip from (\d+\.\d) s", asked.text)
    assert found, asked.text
    return float(found[1])


def _story(asked: Asked) -> dict[str, Any]:
    return {
        "summary": "A grey wall grows bright.",
        "genre": "demonstration",
        "entities": ["grey bottle"],
        "explicit_text": [],
        "mismatches": [],
        "arc": [{"stage": "hook", "start_s": 0.0, "end_s": 2.0, "quote": "a dark wall"}],
    }


def _inspected(asked: Asked) -> dict[str, Any]:
    time_s = float(re.findall(r"\bat (\d+\.\d{3})", asked.text)[0])
    return {"summary": "It is grey.", "findings": [{"time_s": time_s, "text": "a grey wall"}]}


def _read(asked: Asked) -> dict[str, Any]:
    finding = {
        "kind": "strategy",
        "text": "The ad persuades by growing brightness",
        "start_s": 1.0,
        "end_s": 3.0,
        "tied_to": "",
    }
    return {"reading": "It grows bright.", "findings": [finding]}


def _verified(asked: Asked) -> dict[str, Any]:
    numbers = re.findall(r"^(\d+)\. .*\[.*\]$", asked.text, re.MULTILINE)
    word = {"status": "verified", "reason": "the frame shows it"}
    return {"claims": [{"claim": int(number), **word} for number in numbers]}


def _worded(asked: Asked) -> dict[str, Any]:
    accepted = re.findall(r"^Accepted answer: (.*)$", asked.text, re.MULTILINE)[0]
    return {"answer": "A grey wall." if accepted == LONG_DRAFT else accepted}


def _steps(asked: Asked) -> Say:
    """A look first, then an answer that cites it."""
    if asked.step == 0:
        look = {"question": "What is seen?", "start_s": 0, "end_s": 2, "mode": "literal"}
        return calls(("frame_inspect", look))
    return finish("A grey wall.", *evidence_ids(asked, "frame")[:1])


_DEFAULTS = {
    "caption": _caption,
    "read_text": lambda asked: {"lines": []},
    "merge": lambda asked: {"groups": []},
    "narrate": _story,
    "inspect": _inspected,
    "expert": _read,
    "verify": _verified,
    "refine": _worded,
    "controller": _steps,
    "judge": lambda asked: {"reason": "it is the same", "contradicts": False, "score": "1"},
    "baseline": lambda asked: {"answer": "A grey wall."},
}


def calls(*wanted: tuple[str, Any], thought: str = "I look.") -> Say:
    """A step of the controller."""
    return Say(content=thought, calls=wanted, finish="tool_calls")


def finish(answer: str, *ids: str) -> Say:
    """The step that hands in an answer."""
    return calls(("finish", {"answer": answer, "evidence_ids": list(ids)}), thought="Done.")


LONG_DRAFT = " ".join(["A grey wall that goes on and on"] * 5) + "."
"""One claim in more words than an answer may have: it is worded anew."""


def finish_long(asked: Asked) -> Say:
    """Hand in the long draft, with a frame."""
    return finish(LONG_DRAFT, *evidence_ids(asked, "frame")[:1])


def evidence_ids(asked: Asked, kind: str) -> list[str]:
    """Ids of the evidence of one kind that the conversation shows."""
    told = "\n".join(str(m["content"]) for m in asked.messages if m["role"] == "tool")
    return re.findall(rf"^\[(e\d+)\] \S+ s {kind}", told, re.MULTILINE)


def protocol_faults(body: dict[str, Any]) -> list[str]:
    """What the service of OpenAI would refuse in a conversation."""
    found = [fault for message in body["messages"] for fault in _own_faults(message)]
    if any(message["role"] == "system" for message in body["messages"][1:]):
        found.append("a second system message")
    ids = [call["id"] for m in body["messages"] for call in m.get("tool_calls", ())]
    if len(set(ids)) != len(ids):
        found.append("two calls have one id")
    return [*found, *_unanswered(body["messages"])]


def _own_faults(message: dict[str, Any]) -> list[str]:
    made = [call["function"] for call in message.get("tool_calls", ())]
    found = [] if made or message.get("content") else ["a message is empty"]
    found += [f"no name of a tool: {m['name']!r}" for m in made if not _NAME.fullmatch(m["name"])]
    objects = [isinstance(json.loads(m["arguments"]), dict) for m in made]
    return found if all(objects) else [*found, "arguments are no object"]


def _unanswered(messages: list[dict[str, Any]]) -> list[str]:
    """Calls without a result right behind them, and results of no call."""
    found: list[str] = []
    waiting: list[str] = []
    for message in [*messages, {"role": "end"}]:
        if message["role"] != "tool":
            found += [f"the call {id_} has no result" for id_ in waiting]
            waiting = [call["id"] for call in message.get("tool_calls", ())]
        elif message["tool_call_id"] in waiting:
            waiting.remove(message["tool_call_id"])
        else:
            found.append(f"a result of no call: {message['tool_call_id']}")
    return found
