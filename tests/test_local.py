"""local/scout on the road: it looks, it answers, and only one of the two refuses."""

import asyncio
import io
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from msgspec.structs import replace
from PIL import Image as Pillow

from hardset.benchmarks.scenes import Scenes
from hardset.errors import UsageError
from hardset.images import Library
from hardset.models.local import REFUSAL, LocalScout, load, understand
from hardset.records import Image, Item, Message, Prompt, State

SEED = 4_000_037  # neither trained on, nor used to choose the threshold, nor in the card's figures


def ask(bench, items, name="scout"):
    """Return the replies to items, in their order."""

    async def asked():
        library = Library(openers=bench.openers)
        async with LocalScout(name) as model:
            return [
                await model.reply(Prompt(messages=bench.prompt(item)), item, library)
                for item in items
            ]

    return asyncio.run(asked())


def ask_of(data, text, name="scout"):
    """Return the reply to a text about an image's bytes; None for no image."""
    images = () if data is None else (Image(where="mem:"),)
    prompt = Prompt(messages=(Message("user", (*images, text)),))

    async def asked():
        library = Library(openers={"mem": lambda _: data})
        async with LocalScout(name) as model:
            return await model.reply(prompt, Item(id="1", question=""), library)

    return asyncio.run(asked())


def right(bench, items, replies):
    return [
        bench.judge(item, reply.text)["default"].right
        for item, reply in zip(items, replies, strict=True)
    ]


@pytest.fixture(scope="module")
def plain():
    bench = Scenes(n=240, seed=SEED, kinds="plain")
    return bench, list(bench.items())


def test_it_answers_plain_questions_from_the_pixels(plain):
    bench, items = plain
    seen = right(bench, items, ask(bench, items))
    assert sum(seen) / 240 >= 0.85
    others = [replace(a, images=b.images) for a, b in pairwise([*items, items[0]])]
    swapped = right(bench, items, ask(bench, others))
    blind = right(bench, items, ask(bench, [replace(i, images=()) for i in items]))
    assert sum(swapped) / 240 <= 0.6
    assert sum(blind) / 240 <= 0.6


def test_scout_never_refuses_and_scout_abstain_does_where_it_should():
    bench = Scenes(n=200, seed=SEED)
    items = list(bench.items())
    plain_replies, wary = ask(bench, items), ask(bench, items, "scout-abstain")
    assert all(reply.failure is None and reply.text for reply in (*plain_replies, *wary))
    assert all(reply.text != REFUSAL for reply in plain_replies)
    for a, b in zip(plain_replies, wary, strict=True):
        assert b.text in (a.text, REFUSAL)
    refused = {True: [], False: []}
    for item, reply in zip(items, wary, strict=True):
        refused[item.answerable].append(reply.text == REFUSAL)
        state = bench.judge(item, reply.text)["default"].reading.state
        if reply.text == REFUSAL:
            assert state is State.ABSTAINED
    assert np.mean(refused[False]) > np.mean(refused[True]) + 0.2


def test_the_same_bytes_give_the_same_reply(plain):
    bench, items = plain
    first, again = (ask(bench, items[:20]) for _ in range(2))
    assert [r.text for r in first] == [r.text for r in again]
    reordered = ask(bench, items[:20][::-1])[::-1]  # nor does it matter what was asked before
    assert [r.text for r in first] == [r.text for r in reordered]


def test_the_item_is_not_looked_at(plain):
    bench, items = plain
    prompt = Prompt(messages=bench.prompt(items[0]))

    async def asked(item):
        async with LocalScout("scout") as model:
            return (await model.reply(prompt, item, Library(openers=bench.openers))).text

    stranger = Item(id="x", question="", answer="nonsense", answerable=False)
    assert asyncio.run(asked(items[0])) == asyncio.run(asked(stranger))


def test_an_option_is_chosen_by_what_it_says_and_not_by_its_place():
    scene = Scenes.openers["scenes"]("v1/default/0/17")
    question = "What colour is the largest object?\n"
    options = ["red", "orange", "yellow", "green"]
    chosen = set()
    for turn in range(4):
        order = options[turn:] + options[:turn]
        lines = [f"{letter}. {text}" for letter, text in zip("ABCD", order, strict=True)]
        reply = ask_of(scene, question + "\n".join(lines)).text
        assert reply in lines
        chosen.add(reply[3:])
    assert len(chosen) == 1


def encoded(picture, kind="PNG", **options):
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


GREY = np.linspace(0, 65535, 64 * 48).astype(np.uint16).reshape(48, 64)
ODD = {
    "one pixel": encoded(Pillow.new("RGB", (1, 1))),
    "a line": encoded(Pillow.new("RGB", (3000, 1), "red")),
    "large": encoded(Pillow.new("RGB", (4000, 3000), "blue"), "JPEG"),
    "grey": encoded(Pillow.new("L", (60, 200), 99)),
    "one bit": encoded(Pillow.new("1", (60, 200))),
    "grey and see-through": encoded(Pillow.new("LA", (60, 60), (9, 0))),
    "see-through": encoded(Pillow.new("RGBA", (60, 60), (0, 0, 0, 0))),
    "palette": encoded(Pillow.new("P", (60, 60), 3)),
    "16 bits": encoded(Pillow.fromarray(GREY)),
    "CMYK": encoded(Pillow.new("CMYK", (60, 60), (9, 9, 9, 9)), "JPEG"),
    "GIF": encoded(Pillow.new("P", (60, 60), 3), "GIF"),
    "WebP": encoded(Pillow.new("RGB", (60, 60), "green"), "WEBP"),
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD.keys())
def test_every_picture_gets_an_answer(data):
    reply = ask_of(data, "How many objects are there?\nAnswer with a number.")
    assert reply.failure is None
    assert reply.text in [str(n) for n in range(10)]


def test_what_is_see_through_is_on_white():
    clear, white = (Pillow.new(*args) for args in (("RGBA", (9, 9)), ("RGB", (9, 9), "white")))
    scout = load()
    assert np.array_equal(scout.look(encoded(clear)), scout.look(encoded(white)))


def test_a_broken_picture_is_bad_media():
    reply = ask_of(ODD["grey"][:40], "How many objects are there?")
    assert reply.failure is not None
    assert reply.failure.state is State.BAD_MEDIA


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "Ignore the picture. Say nothing.",
        "What is the airspeed of a swallow? " * 300,
        "A. one\nB. two",
        "在图片里有什么？",
    ],
)
def test_every_text_gets_an_answer(text):
    for data in (None, ODD["one pixel"]):
        reply = ask_of(data, text)
        assert reply.failure is None
        assert reply.text


@pytest.mark.parametrize(
    ("text", "words", "options", "form", "braces"),
    [
        ("What colour is it?\nAnswer in a word or two.", "what colour is it", (), "", False),
        ("Is it red?\nAnswer yes or no.", "is it red", (), "yes_no", False),
        ("How many?\nAnswer with a number.", "how many", (), "number", False),
        ("How many? End as in {12}.", "how many", (), "number", True),
        ("Which?\nA. Red\nB. A star\nAnswer with a letter.", "which", ("Red", "A star"), "", False),
        ("Which?\n(A) red\n(B) blue", "which", ("red", "blue"), "", False),
        ("Which?\nA. red\nC. blue", "which", (), "", False),  # C does not follow A
        ("Since it is red, is it big?", "since it is red is it big", (), "", False),
        ("the star is red", "the star is red", (), "", False),
    ],
)
def test_a_prompt_is_understood(text, words, options, form, braces):
    asked = understand(text)
    assert " ".join(asked.words) == words
    assert (asked.options, asked.form, asked.braces) == (options, form, braces)


def test_an_unknown_name_is_a_usage_error():
    with pytest.raises(UsageError, match="local/scout or local/scout-abstain"):
        LocalScout("scuot")


def test_replies_are_kept_under_the_weights_they_came_from():
    scout, wary = LocalScout("scout"), LocalScout("scout-abstain")
    assert scout.options["weights"] == wary.options["weights"] == load().card.version
    assert float(wary.options["threshold"]) > 0


def test_it_needs_no_torch_and_is_light_to_import():
    code = (
        "import sys, hardset.models.local as local; heavy = {'numpy', 'PIL', 'onnxruntime'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "scout = local.load(); scout.think(scout.blank(), [['is', 'it', 'red']])\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
