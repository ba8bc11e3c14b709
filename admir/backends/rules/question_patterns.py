"""How questions are put: patterns over the folded question, for `question`."""

from __future__ import annotations

import re

_MOMENT = (
    "scene|shot|frame|seconds?|card|screen|moments?|text|line|caption|subtitle|title|words?|logo|"
    "image|picture|sentence|message|question"
)

SCREEN = re.compile(
    r"on[ -]?(?:the )?screen|\b(shown|show|shows|displayed|written|writing|captions?|"
    r"subtitles?|reads?|"
    r"printed|engraved|visible|appears?)\b|画面|字幕|屏幕|显示"
)
STRICT_SCREEN = re.compile(
    r"on[ -]?(?:the )?screen|\b(written|captions?|subtitles?|printed|engraved|displayed)\b|"
    r"画面|字幕|屏幕"
)
SPEECH = re.compile(
    r"\b(spoken|speaks?|speaking|speech|voice[ -]?over|narrator|announcer|hear|heard|aloud)\b|"
    r"口播|旁白|配音"
)
SAYING = re.compile(
    r"(?<!\bad )(?<!\btext )(?<!\bline )(?<!\blabel )(?<!\bprint )(?<!advert )(?<!video )"
    r"(?<!commercial )(?<!caption )\b(said|says?|saying|tells?)\b|说"
)
YES_NO = re.compile(r"^(is|are|was|were|does|do|did|has|have|can|will)\b|吗[？?]?$|是否|有没有")
VERTICAL = re.compile(r"\bvertical(ly)?\b|\bsideways\b|\brotated\b|竖")
WHEN = re.compile(
    r"^(at )?when\b|\b(at )?(what|which) (time|second|moment|point|timestamp)\b|\btimestamps?\b|"
    r"\bfind (me )?(the )?(moment|second|time|place|point) (where|when|at which)\b|"
    r"\bhow (late|early|many seconds in)\b|什么时候|第几秒|哪一?秒|何时|几秒(时|的时候)"
)
WHEN_ENDS = re.compile(r"\b(disappear|vanish|go away|last (shown|seen|appear)|stop)|消失")
END = re.compile(
    r"\b(at|near|towards?|by|in|until) the (very )?end\b|\bend[ -]?(card|screen|frame)s?\b|"
    rf"\b(closing|final|last)( [\w-]+)? ({_MOMENT})\b|"
    r"\b(closes|ends|finishes|concludes) (with|the (ad|advert|video|commercial))\b|"
    r"结尾|最后|末尾|片尾|收尾|后 ?[\d一二两三四五六七八九十]+ ?秒"
)
START = re.compile(
    r"\b(at|in|near|from) the (very )?(beginning|start|opening)\b|"
    rf"\b(opening|first|initial)( [\w-]+)? ({_MOMENT})\b|"
    r"\b(text|line|caption|words?) (appears?|is shown|comes) first\b|"
    r"\b(opens?|starts?|begins?) with\b|开头|开始|片头|开场|最先|第一(句|行|条)|"
    r"前 ?[\d一二两三四五六七八九十]+ ?秒"
)
LAST_ONE = re.compile(
    r"\b(very )?(last|final) "
    r"(thing|text|line|caption|subtitle|words?|sentence|message|title|logo)\b|"
    r"\bcloses the\b|最后(出现)?的?(一)?(句|行|条|个)?(字幕|文字|品牌|标语|台词)?"
)
FIRST_ONE = re.compile(
    r"\b(says?|said|speaks?|spoken|heard) (very )?first\b|"
    r"\b(very )?(first|opening) "
    r"(thing|text|line|caption|subtitle|words?|sentence|message|title)\b|"
    r"最先|第一(句|行|条)(字幕|文字|标语|台词)?"
)
QUOTED = re.compile(r"[\"“”「『]([^\"“”」』]{2,})[\"“”」』]|(?<!\w)'([^']{3,}?)'(?!\w)")
WRITTEN = re.compile(
    r"\b(text|captions?|subtitles?|sign|label|headline|on[ -]?(?:the )?screen|card)\b"
)
END_DATE = re.compile(
    r"\b(offer|sale|deal|discount|promotion|campaign|price)s?\b.*\b(ends?|expires?|over|valid|runs?)\b"
)
_VERBS = (
    "is|are|was|were|does|do|did|has|have|can|will|comes?|appears?|gives?|stands?|closes?|opens?"
)
TYPE_NOUN = re.compile(
    rf"\b(?:which|what) (?:(?:(?!(?:{_VERBS}|the)\b)[\w-]+ ){{1,3}}(?=(?:{_VERBS}|follows?)\b)|"
    rf"(?!(?:{_VERBS}|the)\b)[\w-]+ )"
)
"""`which limited-edition numbering is`: the kind of thing asked for, which the ad need not say."""

WORDLESS = re.compile(
    r"\b(m[ae]n|wom[ae]n|child(ren)?|kids?|actors?|actress(es)?|models?|boys?|girls?|dogs?|cats?|cars?|"
    r"wear(s|ing)?|worn|holds?|holding|carr(y|ies|ying)|dressed|outfit|cloth(es|ing)|hair|"
    r"gestures?|animals?|pets?|vehicles?|sports?|play(s|ing)|doing|tools?|eat(s|ing)?|drink(s|ing)|"
    r"fabric|shape|material|weather|room|location|place|building|furniture|smil(e|es|ing)|"
    r"expression|looks? like|background|landscape|sit(s|ting)|stand(s|ing)|walk(s|ing)|"
    r"danc(e|es|ing)|object|logo)\b|"
    r"(穿|戴|拿|手里|动物|动作|表情|发型|衣服|背景|场地|建筑|物体|形状|材质|什么运动|在做什么|做什么)"
)

SOURCE = re.compile(
    r",? ?\b(according to|based on|as stated (in|by)|in) (the|this) ((on[ -]?screen|legal) )?"
    r"(ad|advert|advertisement|commercial|video|text|captions?|subtitles?|line|"
    r"voice[ -]?over|engraving)"
    r"( on it)?\b"
)
"""Names where the answer is to come from; it says nothing of what to look for."""

_COUNTS = {"two": 2, "both": 2, "three": 3, "four": 4, "five": 5, "两": 2, "三": 3}
_COUNT = re.compile(
    r"\b(two|both|three|four|five|\d) (?:\w+ )?(brands?|companies|names|logos|lines)\b|"
    r"(两|三)个(?:品牌|公司|名字|商标)"
)
_PLURAL = re.compile(
    r"\b(brands|companies|logos|names|prices|offers|lines|texts)\b|哪些(品牌|公司)"
)


def asked_count(text: str) -> int | None:
    """How many names or lines are asked for; three for a plural; None where it says nothing."""
    if found := _COUNT.search(text):
        word = found.group(1) or found.group(3)
        return int(word) if word.isdigit() else _COUNTS[word]
    return 3 if _PLURAL.search(text) else None
