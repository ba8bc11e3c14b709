"""Drafts to inject: for each question, true ones and wrong ones.

Wrong ones name another price, time, brand, speaker or date, deny what is said, answer another
question, or tell of something that is never shown.
"""

from __future__ import annotations

from dataclasses import dataclass

from admir import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Drafts for one question about one memory."""

    question: str
    true: tuple[str, ...]
    wrong: tuple[str, ...]


DEMO = (
    Case(
        question="What price is shown?",
        true=("$48", "The price is $48.", "NOW $48", "It now costs $48.", "It costs $48 now."),
        wrong=("$84", "The price is $49.", "€48", "$480", "It costs $64.", "ninety dollars",
               "$48 a month", "The price is $4.80."),
    ),
    Case(
        question="What was the price before?",
        true=("$64", "It was $64.", "WAS $64"),
        wrong=("$48", "It was $46.", "$90 on the screen", "It was $640."),
    ),
    Case(
        question="Which brand is advertised?",
        true=("LUMIVO", "The brand is Lumivo.", "The ad is for LUMIVO."),
        wrong=("LUMINO LABS", "The brand is Philips.", "Halogen", "IKEA", "The ad is for Noon.",
               "The brand is Mia.", "Lumivo and Philips"),
    ),
    Case(
        question="What discount is offered?",
        true=("25% OFF", "25% OFF until 30 June", "A discount of 25% is offered until 30 June."),
        wrong=("20% OFF", "52% OFF", "25% OFF until 30 July", "25% OFF until 13 June",
               "A 25% discount on two lamps", "Buy one get one free", "50%"),
    ),
    Case(
        question="When does the offer end?",
        true=("30 June", "The offer ends on 30 June.", "It is valid until 30 June."),
        wrong=("31 June", "30 July", "The offer ends on 3 June.", "tomorrow", "On 30 June 2031"),
    ),
    Case(
        question="What website is shown?",
        true=("www.lumivo.example", "The website is www.lumivo.example."),
        wrong=("www.lumino.example", "lumivo.com", "www.halo.example", "There is no website."),
    ),
    Case(
        question="What is the slogan?",
        true=("Light that listens.", 'The slogan is "Light that listens."'),
        wrong=("Light that glistens.", "Tired eyes by noon", "THREE NEW COLOURS",
               "Light that never listens.", "Just do it."),
    ),
    Case(
        question="When is the price $48 first shown?",
        true=("At 16.3 s", "It first appears at 16.3 seconds.",
              'At 16.3 s ("NOW $48", until 19.6 s)'),
        wrong=("At 12.0 s", "At 18.5 s", "At 3 s", "It appears at 0:27.", "At 26.3 s"),
    ),
    Case(
        question="When does the website appear?",
        true=("At 27.2 s", "It appears at 27.3 seconds."),
        wrong=("At 10.6 s", "At 30.5 s", "It appears at 2 seconds.", "At 0:19"),
    ),
    Case(
        question="What does Mia say?",
        true=("I can hardly see my own notes.", 'Mia says "I can hardly see my own notes."'),
        wrong=("My eyes hurt before lunch.", "I took the yellow one.",
               "Mia says that she likes it.",
               'Tom says "I can hardly see my own notes."', "Mia can see her own notes in Paris."),
    ),
    Case(
        question="Which one did Tom say he took?",
        true=("I took the yellow one.", "Tom took the yellow one.", "The yellow one."),
        wrong=("Tom took the red one.", "Mia took the yellow one.", "The teal one.",
               "Tom took the yellow bicycle.", "Tom did not take the yellow one."),
    ),
    Case(
        question="Who says that their eyes hurt before lunch?",
        true=('Tom: "My eyes hurt before lunch."', "Tom says his eyes hurt before lunch."),
        wrong=("Mia says her eyes hurt before lunch.", 'Narrator: "My eyes hurt before lunch."',
               "Tom says his feet hurt before lunch.", "Anna says it."),
    ),
    Case(
        question="Is the bulb included?",
        true=("Bulb not included.", "No, the bulb is not included."),
        wrong=("The bulb is included.", "Yes, two bulbs are included.", "Bulb included."),
    ),
    Case(
        question="What should viewers do?",
        true=("Order now at www.lumivo.example", "Order now."),
        wrong=("Call 555 0199", "Order now at www.philips.example", "Visit a store in Berlin.",
               "Download the app."),
    ),
    Case(
        question="What animal appears in the ad?",
        true=(),
        wrong=("A golden retriever runs along the beach.", "A cat sleeps under the lamp.",
               "A dog listens to the light."),
    ),
    Case(
        question="What text runs vertically?",
        true=("THREE NEW COLOURS", "The vertical text reads THREE NEW COLOURS."),
        wrong=("FOUR NEW COLOURS", "THREE NEW FLAVOURS", "THREE OLD COLOURS"),
    ),
)  # fmt: skip

TEA_EVENTS = [
    {"t": 0, "ocr": ["Morning comes early"], "asr": "Nora: I was up at five again."},
    {"t": 1, "ocr": ["Morning comes early"], "asr": ""},
    {"t": 2, "ocr": [], "asr": "Ben: Have a cup of this."},
    {"t": 3, "ocr": ["BRAMBLE & FINCH", "Black tea with blackberry"], "asr": ""},
    {"t": 4, "ocr": ["BRAMBLE & FINCH", "Black tea with blackberry"], "asr": ""},
    {"t": 5, "ocr": ["20 bags for £3.40"], "asr": "Only three pounds forty for twenty bags."},
    {"t": 6, "ocr": ["20 bags for £3.40"], "asr": ""},
    {"t": 7, "ocr": ["15% off with code FINCH15", "Ends 2 March"], "asr": ""},
    {"t": 8, "ocr": ["15% off with code FINCH15", "Ends 2 March"], "asr": ""},
    {"t": 9, "ocr": ["Contains caffeine. Not suitable for children."], "asr": ""},
    {"t": 10, "ocr": ["BRAMBLE & FINCH", "Try it at brambleandfinch.example"], "asr": ""},
    {"t": 11, "ocr": ["BRAMBLE & FINCH", "Try it at brambleandfinch.example"], "asr": ""},
]

TEA = (
    Case(
        question="How much does it cost?",
        true=("£3.40", "20 bags for £3.40", "It costs £3.40 for 20 bags."),
        wrong=("£4.30", "£3.04", "$3.40", "30 bags for £3.40", "£34", "£3.40 for a tin"),
    ),
    Case(
        question="Which brand is it?",
        true=("BRAMBLE & FINCH", "The brand is Bramble & Finch."),
        wrong=("Twinings", "Bramble & Sparrow", "The brand is Morning.", "Black Tea Company"),
    ),
    Case(
        question="What discount can one get?",
        true=("15% off with code FINCH15", "15% off"),
        wrong=("50% off", "15% off with code FINCH51", "15% off with code ROBIN15", "Half price"),
    ),
    Case(
        question="When does the offer end?",
        true=("2 March", "It ends on 2 March."),
        wrong=("20 March", "2 May", "12 March", "It ends next week."),
    ),
    Case(
        question="Is it suitable for children?",
        true=("Not suitable for children.", "No, it is not suitable for children."),
        wrong=("It is suitable for children.", "Yes, suitable for children and dogs."),
    ),
    Case(
        question="When is the text 'Morning comes early' on the screen?",
        true=("At 0.0 s", "From 0 s until 2 s"),
        wrong=("At 6.0 s", "At 9 s", "From 3 s until 5 s"),
    ),
    Case(
        question="What kind of tea is it?",
        true=("Black tea with blackberry",),
        wrong=("Black tea with strawberry", "Green tea with blackberry", "Coffee with milk"),
    ),
)  # fmt: skip


def tea_memory() -> Memory:
    """A memory of text alone about another invented product; speakers as in subtitles."""
    from dataclasses import replace

    memory = Memory.from_timeline("tea", TEA_EVENTS)
    named = []
    for spoken in memory.utterances:
        speaker, colon, text = spoken.text.partition(": ")
        named.append(replace(spoken, speaker=speaker, text=text) if colon else spoken)
    return replace(memory, utterances=tuple(named))
