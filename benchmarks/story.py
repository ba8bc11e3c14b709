"""Do the rules of the story agree with what people and models wrote about real ads?

    python benchmarks/story.py DATA [--half odd|even|all]

DATA holds `videos.jsonl` and `qa.jsonl` as E-VAds publishes them. The reference is weak: a label
counts as meant when the answers or clues of an ad's own questions name it by one of the words
below (a question about the audience for the audience). Nobody was asked about every label, so one
that goes unmentioned may still be there, and one that is mentioned may be seen and never said: the
rules read words alone. Rows with few ads say little. The halves split the ads by the CRC-32 of
their id: the word lists were made on the even half.

Prints `label n share precision recall f1 always`: `share` is how often the rules give the label,
`always` the F1 of always giving it; never giving it has F1 0.
"""

from __future__ import annotations

import argparse
import json
import re
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from admir.backends.base import NarrationInput
from admir.backends.rules.ad_inferences import infer
from admir.memory.text_blocks import text_blocks
from admir.types import Memory

_ASKS_AUDIENCE = re.compile("受众|人群|群体|客群|哪类")
_AUDIENCE = {
    "women": "女|宝妈|妈妈|姐妹",
    "men": "男",
    "parents": "宝妈|家长|育儿|父母|母婴|妈妈|孩子",
    "students": "学生|早八|大学|考公",
    "office workers": "职场|通勤|上班|白领|打工",
    "young people": "年轻|Z世代|青年|青少年",
    "older people": "中老年|老人|熟龄|长辈|初老|抗老",
    "pet owners": "养宠|宠物|猫|狗",
    "drivers": "车主|司机|车",
    "plus-size people": "微胖|大码|大胸",
    "price-conscious shoppers": "性价比|预算|价格敏感|低价|低成本|精打细算|便宜",
    "busy people": "懒|高效|效率|忙",
}
_OTHER = {
    ("arc", "hook"): "Hook|钩子|黄金前三秒|黄金三秒",
    ("arc", "problem"): "痛点",
    ("arc", "call to action"): "CTA|行动号召|促单|下单|囤货",
    ("device", "price anchor"): "价格锚|价值锚|比价|平替|原价|专柜|巨大价格|高价",
    ("device", "scarcity"): "稀缺|紧迫|库存|限量|限时|捡漏",
    ("device", "urgency"): "稀缺|紧迫|限时|损失厌恶",
    ("device", "authority"): "权威|专家|专利|认证|检测|备案",
    ("device", "social proof"): "从众|社会认同|口碑|销量|回购|热销|社交背书",
    ("device", "comparison"): "对比|竞品|反差",
    ("device", "fear"): "恐惧|恐慌|损失厌恶|危机|死亡",
    ("device", "celebrity"): "明星|代言|超模|冠军|同款|空姐",
    ("device", "free gift"): "赠|买一送|免费|包邮|试吃",
    ("device", "discount"): "优惠|折扣|促销|福利|大促|低价|让利",
    ("device", "guarantee"): "退款|包退|售后|风险逆转|兜底|质保|上门安装|零风险",
    ("device", "ingredient or technology"): "成分|技术|专利|科技|参数|材质|面料",
    ("device", "curiosity"): "好奇|悬念|猎奇",
}


def main() -> None:
    """Load, infer, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--half", choices=("odd", "even", "all"), default="odd")
    options = parser.parse_args()
    ads = [ad for ad in _rows(options.data / "videos.jsonl") if _in(options.half, ad["video_id"])]
    asked = list(_rows(options.data / "qa.jsonl"))
    started = time.perf_counter()
    given = {ad["video_id"]: _labels(ad) for ad in ads}
    each_ms = 1000 * (time.perf_counter() - started) / max(1, len(ads))
    print(f"{len(ads)} ads ({options.half}), {each_ms:.1f} ms each")
    print(f"{'label':34} {'n':>4} share precision recall    f1 always")
    for label, words in _AUDIENCE.items():
        rows = [row for row in asked if _ASKS_AUDIENCE.search(row["question"])]
        _row(("audience", label), _meant(rows, words, clues=False), given)
    rows = [row for row in asked if not re.search("违规|合规", row["question"])]
    for key, words in _OTHER.items():
        _row(key, _meant(rows, words, clues=True), given)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())


def _in(half: str, video_id: str) -> bool:
    return half == "all" or zlib.crc32(video_id.encode()) % 2 == (half == "odd")


def _labels(ad: dict[str, Any]) -> set[tuple[str, str]]:
    memory = Memory.from_timeline(ad["video_id"], ad["events"], duration_s=ad.get("duration"))
    story = NarrationInput(
        video=memory.video,
        clips=memory.clips,
        shots=(),
        screen_text=text_blocks(memory.screen_text),
        utterances=memory.utterances,
        subjects=(),
    )
    return {(i.kind, i.label) for i in infer(story)}


def _meant(rows: Sequence[dict[str, Any]], words: str, *, clues: bool) -> dict[str, bool]:
    """By ad, whether an answer to one of the rows names the label; only ads that were asked."""
    meant: dict[str, bool] = {}
    for row in rows:
        text = row["answer"] + (f"{row['question']} {row['clues']}" if clues else "")
        video = row["video_id"]
        meant[video] = meant.get(video, False) or bool(re.search(words, text))
    return meant


def _row(
    key: tuple[str, str], meant: dict[str, bool], given: dict[str, set[tuple[str, str]]]
) -> None:
    pairs = [(meant[video], key in labels) for video, labels in given.items() if video in meant]
    wanted, told = sum(m for m, _ in pairs), sum(t for _, t in pairs)
    both = sum(m and t for m, t in pairs)
    precision, recall = both / max(1, told), both / max(1, wanted)
    f1 = 2 * both / max(1, wanted + told)
    always = 2 * wanted / max(1, wanted + len(pairs))
    name = ": ".join(key)
    share = told / max(1, len(pairs))
    print(
        f"{name:34} {wanted:4} {share:5.2f} {precision:9.2f} {recall:6.2f} {f1:5.2f} {always:6.2f}"
    )


if __name__ == "__main__":
    main()
