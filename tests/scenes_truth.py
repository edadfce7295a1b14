"""A second way to the truth of a scene: from the words alone, apart from how they were made.

It parses questions and statements of the scenes language and works them out on the graph, by
code of its own, so that the tests can hold every item's gold against it.
"""

import re

COLOURS = "red orange yellow green blue purple pink black".split()
SHAPES = "circle square triangle star diamond cross ring heart".split()
CLEAR = 20


class UnclearError(Exception):
    """The words mean nothing certain: a name fits several objects, or a side is too close."""


def singular(word):
    return "cross" if word == "crosses" else word[:-1] if word.endswith("s") else word


def by(a, b, relation):
    """How far a is on that side of b, in pixels."""
    return {
        "left of": b.x - a.x, "right of": a.x - b.x, "above": b.y - a.y, "below": a.y - b.y
    }[relation]  # fmt: skip


def fits(thing, words):
    """Whether "large red star", "crosses" or "objects" is true of a thing."""
    for word in words.split():
        word = word if word == "cross" else singular(word)
        if word not in ("object", thing.size, thing.colour, thing.shape):
            return False
    return True


NAME = re.compile(
    r"the (?P<words>[a-z ]*?(?:object|circle|square|triangle|star|diamond|cross|ring|heart))"
    r"(?: with (?P<text>\w+) on it)?"
    r"(?: (?P<that>that is )?(?P<relation>left of|right of|above|below) (?P<other>the .+))?"
)


PREDICATE = (
    rf"an? (?:{'|'.join(SHAPES)})|{'|'.join(COLOURS)}|small|large|in the \w+ half"
    r"|(?:left of|right of|above|below) the .+|(?:bigger|smaller) than the .+"
)


def called(scene, name):
    """Every object that a name fits; none where it presupposes what is not so."""
    match = NAME.fullmatch(name)
    assert match, name
    found = [t for t in scene.things if fits(t, match["words"])]
    if match["text"]:
        found = [t for t in found if t.text == match["text"]]
    if match["relation"]:
        other = one(scene, match["other"])
        found = [t for t in found if t is not other]
        near = [t for t in found if 0 < by(t, other, match["relation"]) < CLEAR]
        if near:
            raise UnclearError(name)
        found = [t for t in found if by(t, other, match["relation"]) >= CLEAR]
    return found


def one(scene, name):
    found = called(scene, name)
    if len(found) != 1:
        raise UnclearError(f"{name} fits {len(found)}")
    return found[0]


def clear(distance):
    if abs(distance) < CLEAR:
        raise UnclearError(distance)
    return distance > 0


def half(thing, where):
    """Whether it lies in a half, with its centre at least 14 pixels from the middle."""
    at = thing.x if where in ("left", "right") else thing.y
    if abs(at - 96) < 14:
        raise UnclearError(where)
    return (at < 96) == (where in ("left", "top"))


def predicate(scene, thing, words):
    """Whether "is red", "shows 7", "is left of the star" ... is true of a thing."""
    verb, _, rest = words.partition(" ")
    if verb == "shows":
        return thing.text == rest
    assert verb == "is", words
    rest = re.sub(r"^an? ", "", rest)
    if rest in COLOURS:
        return thing.colour == rest
    if rest in SHAPES:
        return thing.shape == rest
    if rest in ("small", "large"):
        return thing.size == rest
    if match := re.fullmatch(r"in the (left|right|top|bottom) half", rest):
        return half(thing, match[1])
    if match := re.fullmatch(r"(left of|right of|above|below) (the .+)", rest):
        return clear(by(thing, one(scene, match[2]), match[1]))
    match = re.fullmatch(r"(bigger|smaller) than (the .+)", rest)
    assert match, words
    more = thing.reach - one(scene, match[2]).reach
    if abs(more) < 8:  # large ones reach 28 pixels or more, small ones 18 or less
        raise UnclearError(words)
    return (more > 0) == (match[1] == "bigger")


def count(scene, words):
    """How many there are of "red objects", "stars", "objects left of the red star"."""
    if match := re.fullmatch(r"objects (left of|right of|above|below) (the .+)", words):
        return len(called(scene, f"the object {match[1]} {match[2]}"))
    if match := re.fullmatch(r"letters in the word on (the .+)", words):
        return len(one(scene, match[1]).text)
    return sum(fits(t, words) for t in scene.things)


def clause(scene, words, it=None):
    """Whether one clause is true, and which object "it" then is."""
    if match := re.fullmatch(r"there is no (.+)", words):
        return count(scene, match[1]) == 0, None
    if match := re.fullmatch(r"there is an? (.+)", words):
        return count(scene, match[1]) > 0, None
    if match := re.fullmatch(r"there (?:is|are) (\d+) (.+)", words):
        return count(scene, match[2]) == int(match[1]), None
    match = re.fullmatch(r"(it|the .+?) ((?:is|shows) .+)", words)
    assert match, words
    thing = it if match[1] == "it" else one(scene, match[1])
    return predicate(scene, thing, match[2]), thing


def holds(scene, sentence):
    """Whether each of the clauses of a statement, joined by "and", is true: a list."""
    found, it = [], None
    for words in sentence.lower().rstrip(".").split(" and "):
        truth, it = clause(scene, words, it)
        found.append(truth)
    return found


def yes(truth):
    return "yes" if truth else "no"


def answer(scene, question):
    """The answer of a plain question, from its words."""
    q = question.lower()
    q = re.sub(r"^(?:since .*?, |the caption says .*?\. )", "", q)
    q = re.sub(r", and (?:who|when|where) .*$", "?", q).rstrip("?")
    if match := re.fullmatch(r"(?:what|which) (colour|shape) is (the .+)", q):
        return getattr(one(scene, match[2]), match[1])
    if match := re.fullmatch(
        r"is (the .+) small or large|what size is (the .+), small or large", q
    ):
        return one(scene, match[1] or match[2]).size
    if match := re.fullmatch(r"(?:what|which) (digit|word) is (?:written )?on (the .+)", q):
        text = one(scene, match[2]).text
        assert text.isdigit() == (match[1] == "digit")
        return text
    if match := re.fullmatch(r"is (the .+) in the (\w+) half or the (\w+) half", q):
        return match[2] if half(one(scene, match[1]), match[2]) else match[3]
    if match := re.fullmatch(r"how many (.+?) (?:are there|do you see)", q):
        return str(count(scene, match[1]))
    if match := re.fullmatch(r"are there more (.+) than (.+)", q):
        more = count(scene, match[1]) - count(scene, match[2])
        assert more, question
        return yes(more > 0)
    if match := re.fullmatch(r"(?:is there|do you see) an? (.+?)(?: in the picture)?", q):
        return yes(count(scene, match[1]))
    if match := re.fullmatch(r"does (the .+) show (\w+)", q):
        return yes(one(scene, match[1]).text == match[2])
    match = re.fullmatch(rf"is (the .+?) ({PREDICATE})", q)
    assert match, question
    return yes(predicate(scene, one(scene, match[1]), f"is {match[2]}"))


def sums(scene, question):
    """The number that a chain of steps ends in."""
    steps, _, last = question.lower().rpartition(". ")
    assert last == "what number do you get?"
    total = None
    for step in steps.split(". "):
        way, name = re.fullmatch(r"(start with|add|multiply by|subtract) (the .+)", step).groups()
        if match := re.fullmatch(r"the digit on (the .+)", name):
            number = int(one(scene, match[1]).text)
        else:
            number = count(scene, name.removeprefix("the number of "))
        if way == "start with":
            total = number
        elif way == "add":
            total += number
        elif way == "multiply by":
            total *= number
        else:
            total -= number
    return total
