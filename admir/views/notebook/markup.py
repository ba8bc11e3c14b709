"""HTML in which every text is escaped by construction: what is not `Html` is text."""

from __future__ import annotations

import html
from collections.abc import Iterable
from functools import cache
from importlib import resources

from admir.text import to_printable


class Html(str):
    """Markup that `tag` made."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str | None) -> Html:
    """An element. `class_` is written `class`, other `_` as `-`; an attribute None is left out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{given}>{joined(children)}</{name}>")


def picture(uri: str, alt: str) -> Html:
    """An image; the one element without an end."""
    return Html(f'<img src="{_escaped(uri)}" alt="{_escaped(alt)}">')


def joined(children: Iterable[str]) -> Html:
    """Elements and texts one after another."""
    return Html("".join(c if isinstance(c, Html) else _escaped(c) for c in children))


def _escaped(text: str) -> str:
    """The lines of a text without what steers a display (`to_printable`), as HTML."""
    return html.escape("\n".join(to_printable(line) for line in text.split("\n")))


def page(*children: str) -> Html:
    """A whole display: the styles and the content.

    Notebooks set TeX between dollar signs; the two `ignore` classes keep prices as they are.
    """
    style = Html(f"<style>{_css()}</style>")
    return tag("div", style, *children, class_="admir tex2jax_ignore mathjax_ignore")


@cache
def _css() -> str:
    return resources.files(__package__).joinpath("notebook.css").read_text("utf-8")


def div(kind: str, *children: str) -> Html:
    """A `div` of a class."""
    return tag("div", *children, class_=kind)


def span(kind: str, *children: str) -> Html:
    """A `span` of a class."""
    return tag("span", *children, class_=kind)


def section(title: str, *children: str) -> Html:
    """A part with a title; nothing where it has no content."""
    return div("part", div("title", title), *children) if any(children) else Html()


def folded(summary: str, *children: str, is_open: bool = False) -> Html:
    """Something to unfold, without any script."""
    head = tag("summary", summary)
    return tag("details", head, *children, open="" if is_open else None)


def more(count: int, what: str) -> Html:
    """`and N more`, where a display stops before the end; nothing when N is 0."""
    return div("soft", f"and {count:,} more {what}") if count > 0 else Html()


def cut(text: str, most: int) -> str:
    """At most so many characters, and how many are left out."""
    rest = len(text) - most
    return f"{text[:most]} ... and {rest:,} more characters" if rest > 0 else text


def facts(rows: Iterable[tuple[str, str]]) -> Html:
    """Names and values, one below another; rows without a value are left out."""
    return div("facts", *(div("fact", span("soft", k), span("", v)) for k, v in rows if v))


def stated(time_s: float) -> str:
    """A time as the answers state it."""
    return f"{time_s:.1f} s"
