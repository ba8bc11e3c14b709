"""Drafts about what is measured, counted, compared or read: true ones and wrong ones.

The wrong ones give another figure, colour, unit or order, deny what was found, speak of something
else that has the same figure, or credit the expert with what it did not read.
"""

from __future__ import annotations

from tests.agent.drafts import Case

WORKED_OUT = (
    Case(
        question="How many shots are there in the ad?",
        true=("7 shots", "The ad has 7 shots.", "There are seven shots in the ad.",
              "It is made of 7 shots.", "Seven.", "The ad consists of 7 shots."),
        wrong=("6 shots", "8 shots", "17 shots", "It has 70 shots.", "It has six shots.",
               "The ad has 7 cuts.", "7 faces", "7 people", "7 lines", "7 shots in 4.2 s",
               "6 shots and 7 cuts", "one shot", "The ad does not have 7 shots.",
               "There are no shots.", "Over 7 shots", "At least 27 shots",
               "The ad has 7 shots of a dog.", "7 shots, and Tom is in all of them."),
    ),
    Case(
        question="How many cuts does the ad have?",
        true=("6 cuts", "The ad has six cuts.", "There are 6 cuts in the ad."),
        wrong=("7 cuts", "5 cuts", "6 shots", "It has no cuts.", "There are not 6 cuts."),
    ),
    Case(
        question="How long is the ad?",
        true=("32.2 seconds", "It is 32.2 seconds long.", "The ad lasts about 32 seconds.",
              "It runs for 32.2 s."),
        wrong=("30 seconds", "23.2 seconds", "32.2 minutes", "7 seconds", "60 seconds",
               "It is not 32.2 seconds long.", "3.2 seconds", "4.2 s", "32.2 shots"),
    ),
    Case(
        question="When is the first cut?",
        true=("At 4.2 s", "The first cut is at 4.2 seconds."),
        wrong=("At 27.2 s", "At 2.4 s", "The first cut is at 10.6 s.", "At 6 s", "At 7 s",
               "The last cut is at 4.2 s.", "The second cut is at 4.2 s."),
    ),
    Case(
        question='How many times is "LUMIVO" shown?',
        true=("two times: at 10.6 s, 27.2 s", "It is shown twice.", "LUMIVO is shown two times.",
              "Twice, at 10.6 s and at 27.2 s."),
        wrong=("once", "three times", "It is shown 3 times.", "one time", "It is never shown.",
               "two times: at 4.2 s, 27.2 s", "It is not shown twice.", "Twelve times",
               "twice, at 27.2 s and at 10.6 s"),
    ),
    Case(
        question='For how many seconds is "NOW $48" visible?',
        true=("About 3.3 seconds, from 16.3 s to 19.6 s", "It is visible for 3.3 seconds.",
              "NOW $48 is visible for about three seconds."),
        wrong=("About 4.3 seconds", "16.3 seconds", "19.6 seconds", "48 seconds",
               "It is visible for 33 seconds.", "3.3 minutes",
               "It is not visible for 3.3 seconds.", "About 3.3 seconds, from 19.6 s to 16.3 s",
               "3.3 seconds, from 4.2 s"),
    ),
    Case(
        question="What is the dominant colour at 17 s?",
        true=("teal", "The dominant colour is teal.", "At 17 s it is teal."),
        wrong=("red", "The picture is mostly yellow.", "dark blue", "It is not teal.",
               "mostly purple, then white", "blue", "teal and red", "No teal is seen.",
               "red, then teal", "At 12 s it is teal.", "crimson"),
    ),
    Case(
        question='What colour are the letters of "25% OFF"?',
        true=("white on red", "The letters are white.", "White letters on a red background."),
        wrong=("red", "red on white", "black on red", "The letters are not white.", "yellow",
               "white on blue", "white on white", "The background is white."),
    ),
    Case(
        question="What colour is the last shot?",
        true=("black", "The last shot is black."),
        wrong=("mostly purple, then white", "teal", "not black", "The first shot is black.",
               "black and white", "red"),
    ),
    Case(
        question="Which appears first, the price or the slogan?",
        true=("the slogan first, at 10.6 s", "The slogan appears first.", "The slogan."),
        wrong=("The price appears first.", "the price first, at 10.6 s", "the price, at 16.3 s",
               "the slogan first, at 16.3 s", "The slogan does not appear first.",
               "the website first", "The slogan appears after the price.",
               "The price appears first, then the slogan."),
    ),
    Case(
        question="Does the slogan come at the beginning or at the end?",
        true=("At the start, at 10.6 s", "The slogan comes at the start."),
        wrong=("At the end, at 27.2 s", "At the end.", "In the middle, at 10.6 s",
               "It does not come at the start."),
    ),
    Case(
        question="Which persuasion strategies does the ad use?",
        true=('By rule: price anchor ("WAS $64": a dearer price or thing stands beside the offer)',
              'discount ("25% OFF")', "It uses a price anchor and a discount.",
              "It uses urgency.", "广告使用了折扣优惠。"),
        wrong=("It uses humour.", "celebrity endorsement", "social proof", "It uses no discount.",
               "fear of missing out and guilt", 'By rule: authority ("WAS $64")',
               "By rule: nostalgia", "A famous singer praises the lamp.",
               "It does not use urgency.", "The ad uses strategies.", "广告没有使用折扣优惠。",
               "广告使用了名人代言。"),
    ),
    Case(
        question="Does the ad use scarcity?",
        true=('Yes, scarcity: "While stocks last."', "Yes, it uses scarcity."),
        wrong=("It does not use scarcity.", "No scarcity.", "Only 3 left.", "Yes, social proof.",
               "It uses nostalgia."),
    ),
    Case(
        question="这个广告有多少个镜头？",
        true=("7个镜头", "广告有7个镜头。", "一共有7个镜头。"),
        wrong=("6个镜头", "没有7个镜头", "7次切换", "7个人", "17个镜头"),
    ),
    Case(
        question="第17秒背景是什么颜色？",
        true=("青色", "背景是青色。"),
        wrong=("红色", "不是青色", "黄色", "青色和红色"),
    ),
    Case(
        question="Who is the target audience?",
        true=(),
        wrong=("parents", "young people", "Office workers with tired eyes"),
    ),
    Case(
        question="How many people are in the ad?",
        true=(),
        wrong=("2 people", "At least two, by the faces that were found", "7 people",
               "Tom and Mia are seen."),
    ),
)  # fmt: skip
