"""Answers that are measured, counted, put in order or read by rule, about the bundled ad."""

from __future__ import annotations

import re
from functools import cache

import pytest

from admir import ask

NOT_FOUND = ("Nothing that was read or heard answers this.", "读到和听到的内容中没有答案。")
NOT_SHOWN = ("Not shown in the video.", "视频中没有出现。")
"""Said of a typed value, a phone number, of which the whole ad has none."""


@pytest.fixture(scope="module")
def answered(demo, memories):
    return cache(lambda question: ask(demo, question, memories=memories))


HAN = re.compile(r"[\u3400-\u9fff]")
OUT_OF_QUOTES = re.compile(r"\"[^\"]*\"|“[^”]*”|（.*?）")

WORKED_OUT = {
    "7 shots": (
        "How many shots are there in the ad?",
        "What is the number of scenes?",
        "How many different scenes does the video have?",
    ),
    "6 cuts": (
        "How many cuts does the ad have?",
        "How many times does the ad cut?",
        "How often does the picture cut?",
        "What is the number of cuts?",
    ),
    "7个镜头": ("这个广告有多少个镜头？", "一共有几个镜头？", "镜头数是多少？"),
    "6次切换": ("镜头切换了几次？",),
    "32.2 seconds": (
        "How long is the ad?",
        "What is the duration of the video?",
        "How many seconds long is the commercial?",
        "What is the runtime?",
        "How many seconds is this advert?",
    ),
    "32.2 秒": ("广告多长？", "视频时长是多少？", "广告一共多少秒？"),
    "At 4.2 s": ("When is the first cut?", "At what second is the first cut?"),
    "第 4.2 秒": ("第一次切换在第几秒？",),
    "two times: at 10.6 s, 27.2 s": (
        'How many times is "LUMIVO" shown?',
        "How many times does the slogan appear?",
        'How often is "Light that listens." displayed?',
    ),
    "两次：10.6 秒, 27.2 秒": (
        '"Light that listens." 出现了几次？',
        "“Light that listens.”显示几次",
    ),
    "once: at 19.6 s": ('How many times is "25% OFF" shown?',),
    "five times: at 6.7 s": ("How many times does the narrator speak?",),
    "About 3.3 seconds, from 16.3 s to 19.6 s": (
        'For how many seconds is "NOW $48" visible?',
        'How long is "NOW $48" on the screen?',
        'How long does "NOW $48" stay on screen?',
        "How long is the price on the screen?",
    ),
    "约 3.3 秒，从 16.3 秒到 19.6 秒": ('"NOW $48" 显示了多久？', '"NOW $48" 停留了多长时间？'),
    'At 19.6 s ("25% OFF"': ('At which second does "25% OFF" appear?',),
    'At 16.3 s ("NOW $48"': (
        "What is the timestamp of the price?",
        "Find the moment when the price is shown.",
        "At what point does the price appear?",
    ),
    "第 16.3 秒（“NOW $48”": ("价格在第几秒出现？", '"NOW $48" 什么时候出现？'),
    "teal": (
        "What is the dominant colour at 17 s?",
        "What colour is the background at 0:17?",
        "What colour is the background while the price is shown?",
    ),
    "青色": ("第17秒背景是什么颜色？",),
    "黄色": ("第12秒的画面是什么颜色？",),
    "dark blue": ("What colours are seen in the first five seconds?",),
    "深蓝色": ("前3秒画面是什么颜色？",),
    "white on red": ('What colour are the letters of "25% OFF"?',),
    "yellow on teal": ('What is the colour of the text "NOW $48"?',),
    "red on yellow": ("What colour is the slogan?",),
    "红色，底色黄色": ("标语是什么颜色的字？",),
    "black": ("What colour is the last shot?",),
    "黑色": ("最后一个镜头是什么颜色？", "最后五秒的画面是什么颜色？"),
    "the slogan first, at 10.6 s": ("Which appears first, the price or the slogan?",),
    "the website later, at 27.2 s": ("Which comes later, the price or the website?",),
    "先出现的是 标语，第 10.6 秒": ("价格和标语哪个先出现？",),
    "At the start, at 10.6 s": ("Does the slogan come at the beginning or at the end?",),
}

LINES = {
    "25% OFF": ('What text is shown right after "WAS $64"?', '"NOW $48" 之后出现了什么？'),
    "LUMIVO HALO": ('"WAS $64" 之前出现了什么？',),
    "STILL WORKING IN THE DARK?": (
        "What text appears first?",
        "What text is shown in the first five seconds?",
        "前3秒出现了什么文字？",
    ),
    "LUMIVO": ("What is the last text on the screen?", "最后5秒显示什么？"),
    "Tired eyes by noon": ("What is shown between 5 and 9 seconds?",),
    "WAS $64 / NOW $48": ("What text is on the screen at 0:17?",),
    "25% OFF / until 30 June": ("What is written between 20 and 23 seconds?",),
    "Light that listens.": ("第12秒画面上有什么文字？",),
    "Meet Halo, the desk lamp that follows your voice.": (
        "What is said at 12 seconds?",
        "What does the narrator say at 12 s?",
        "旁白在第12秒说了什么？",
    ),
    "A lamp like this usually costs ninety dollars.": (
        "What does the narrator say between 5 and 9 seconds?",
    ),
    "I can hardly see my own notes.": ("What is said in the first five seconds?",),
    'Mia: "I can hardly see my own notes."': ("Who speaks first?",),
    "My eyes hurt before lunch.": ("What does Tom say first?",),
    "I took the yellow one.": ("What does Tom say at the end?", "What colour did Tom say he took?"),
    "Order today and see the difference.": ("What is the last thing that is said?",),
}


def rows(table):
    return [(question, told) for told, questions in table.items() for question in questions]


@pytest.mark.parametrize(("question", "told"), rows(WORKED_OUT) + rows(LINES))
def test_an_answer_that_is_worked_out_holds_and_is_grounded(answered, question, told):
    answer = answered(question)
    assert told in answer.answer
    assert (answer.basis, answer.grounded) == ("evidence", True), answer.reason
    assert answer.evidence


def test_which_line_is_the_first_subtitle_is_inferred(answered):
    answer = answered("第一句字幕是什么？")
    assert "STILL WORKING IN THE DARK?" in answer.answer
    assert (answer.basis, answer.grounded) == ("inference", False)
    assert answer.claims[0].confidence
    assert "Tired eyes by noon" in answer.claims[0].alternatives


@pytest.mark.parametrize(("question", "told"), rows(WORKED_OUT))
def test_a_worked_out_answer_is_in_the_language_of_the_question(answered, question, told):
    own = OUT_OF_QUOTES.sub("", answered(question).answer)
    asked_in_chinese = bool(HAN.search(re.sub(r"\"[^\"]*\"|“[^”]*”", "", question)))
    assert bool(HAN.search(own)) == asked_in_chinese


READ = (
    ("Which persuasion strategies does the ad use?", "By rule: ", "price anchor", "stands beside"),
    ("广告用了什么说服策略？", "按规则判断：", "价格锚点", "规则："),
    ("Does the ad use scarcity?", "By rule: ", "scarcity", "there is little of it"),
    ("What is the theme of the ad?", "By rule: ", '"25% OFF"', "argues by price"),
    ("广告的主题是什么？", "按规则判断：", "省钱实惠", "规则："),
    ("What is the hook of the ad?", "By rule: hook", "STILL WORKING", "asks the viewer a question"),
    ("How is the ad structured?", "By rule: hook", "problem", "asks the viewer a question"),
    ("Summarise the ad.", "By rule: hook", "problem", "asks the viewer a question"),
    ("概括一下广告内容。", "按规则判断：", "痛点", "规则："),
)


@pytest.mark.parametrize(("question", "opening", "label", "rule"), READ)
def test_a_reading_names_its_rule_and_is_inferred(answered, question, opening, label, rule):
    answer = answered(question)
    assert (answer.basis, answer.grounded) == ("inference", False)
    assert answer.answer.startswith(opening)
    assert label in answer.answer
    assert rule in answer.answer


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("Who is the target audience?", "no stated rule"),
        ("What emotion does the ad evoke?", "no stated rule"),
        ("目标受众是谁？", "没有规则"),
        ("广告的情绪是什么？", "没有规则"),
        ("How many people are in the ad?", "No face was found"),
        ("How many faces are seen at 2 s?", "No face was found"),
        ("Are there any people in the ad?", "No face was found"),
        ("When is a person first seen?", "No face was found"),
        ("有几个人？", "未发现人脸"),
        ("第2秒有没有人？", "未发现人脸"),
        ("What is the man wearing?", "needs a vision model (presets paper and local)"),
        ("What animal is in the ad?", "needs a vision model"),
        ("What is Mia holding?", "needs a vision model"),
        ("What sport is played?", "needs a vision model"),
        ("男人穿什么衣服？", "不做翻译"),
        ("产品是什么形状？", "不做翻译"),
        ("保修多久？", "不做翻译"),
    ],
)
def test_what_cannot_be_known_offline_says_why(answered, question, why):
    answer = answered(question)
    assert why in answer.answer
    assert (answer.basis, answer.grounded) == ("none", False)


@pytest.mark.parametrize(
    "question",
    [
        "How much is delivery?",
        "Is delivery free?",
        "What is the promo code?",
        "Which discount code should be used?",
        "How long is the warranty?",
        "What phone number is shown?",
        "What is the address of the shop?",
        "Is there a QR code?",
        "What are the ingredients?",
        "Which sizes are available?",
        "Which celebrity endorses the lamp?",
        "What is the battery life?",
        "How many watts does it use?",
        "Which app store is mentioned?",
        "What awards has it won?",
        "Where is it made?",
        "What is the return policy?",
        "What is the Instagram handle?",
        "Is there a money-back guarantee?",
        "What is the weight of the lamp?",
        "Who is the CEO?",
        "Which city is shown?",
        "How many stars is it rated?",
        'How many times is "giraffe" shown?',
        'What comes after "FREE SHIPPING"?',
        "How many shots are there in the first ten seconds?",
        "优惠码是什么？",
    ],
)
def test_what_is_absent_or_not_measured_is_refused(answered, question):
    answer = answered(question)
    assert answer.answer in (*NOT_FOUND, *NOT_SHOWN)
    assert not answer.grounded
    assert answer.basis == ("absence" if answer.answer in NOT_SHOWN else "none")
