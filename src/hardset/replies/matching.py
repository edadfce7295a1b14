"""Whose replies they are: what is found in files, matched with a benchmark's items.

The ways, tried in this order, and always said:

- by id: what the file calls it is an item's id;
- by pair and role, where the file's ids are pairs' (MMR's answer files);
- by id, whatever its signs are (`a_1` is `a/1`, if nothing else is): some formats allow few;
- by position: the file numbers its rows 0, 1, …; only where no id matched, and either nine in ten
  questions in the file agree, or the file has none and covers all items;
- by question: its text, or what stands in it before the options, is one item's alone.

Where a file has the question, it must be the item's, whichever way matched; where it shows the
options, their order counts. A reply is never given to an item because nothing else is left.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from unicodedata import normalize

from hardset.errors import UsageError
from hardset.records import MOST_REPEATS, Item, Reply
from hardset.replies.found import Found, failed
from hardset.replies.orders import Order, before_options, options_in, order_of

BY_ID = "by id"
BY_PAIR = "by pair and role"
BY_FOLDED = "by id with other signs"
BY_POSITION = "by position"
BY_POSITION_ALONE = "by position alone: the files hold no question to check it by"
BY_QUESTION = "by question"
AT_ODDS = 0.1  # share of questions at odds with their position, beyond which it is none
_SIGNS = re.compile(r"[\W_]+")


class Target(NamedTuple):
    """What matching needs to know of an item."""

    id: str
    pair: str
    role: str
    asked: str  # the question, letters and digits alone
    stem: str  # the same of what stands before its options, for a question that holds them
    choices: tuple[str, ...]


@dataclass(kw_only=True)
class Matched:
    """The replies in the order of the walk, and what became of each that was found.

    Attributes:
        replies: one a row: items times repeats, a failure where there is none.
        repeats: how often each item was asked.
        in_turn: whether the repeats have no numbers and go by their order in the files.
        orders: by (id of the item, repeat), where options were shown in another order.
        confidence: by the same, where the files say how sure a reply is.
        by: how many replies were matched in each way.
        found: how many replies the files hold.
        missing: rows without a reply, by the item's id.
        unknown: replies to no item, as the file calls them.
        contradicted: replies to another question than the item's, by the item's id.
        other_options: replies to other options than the item's, by the item's id.
        beyond: replies to items behind the limit.
    """

    replies: list[Reply] = field(repr=False)
    repeats: int
    in_turn: bool = False
    orders: dict[tuple[str, int], Order] = field(default_factory=dict, repr=False)
    confidence: dict[tuple[str, int], float] = field(default_factory=dict, repr=False)
    by: dict[str, int] = field(default_factory=dict)
    found: int = 0
    missing: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    contradicted: list[str] = field(default_factory=list)
    other_options: list[str] = field(default_factory=list)
    beyond: int = 0


class _Placed(NamedTuple):
    found: Found
    position: int | None
    way: str = ""


def match(
    items: Iterable[Item],
    found: Sequence[Found],
    *,
    files: str,
    limit: int | None = None,
    repeats: int | None = None,
) -> Matched:
    """Give every item and repeat its reply.

    Args:
        items: all of the benchmark's.
        found: all that the files hold.
        files: how to call them: `no reply in FILES`.
        limit: count the first so many items only.
        repeats: how often each item was asked; None: as the files say.

    Raises:
        UsageError: nothing matches; replies are doubled; repeats are not as said.
    """
    targets = [_target(item) for item in items]
    if not found:
        raise UsageError(f"{files} holds no replies")
    placed = _place(targets, found, limit)
    matched = Matched(replies=[], repeats=1, found=len(found))
    matched.unknown = [one.found.name for one in placed if one.position is None]
    if len(matched.unknown) == len(found):
        raise UsageError(_nothing(targets, found, files))
    last = len(targets) if limit is None else min(limit, len(targets))
    answers: dict[int, list[Found]] = defaultdict(list)
    by: Counter[str] = Counter()
    for one, position, way in placed:
        if position is None:
            continue
        if position >= last:
            matched.beyond += 1
            continue
        by[way] += 1
        answers[position].append(one)
    matched.by = dict(by)
    matched.repeats, rows = _repeats(targets, answers, repeats, files)
    matched.in_turn = matched.repeats > 1 and len({one.repeat for one in found}) == 1
    for position in range(last):
        for repeat in range(matched.repeats):
            reply = rows.get((position, repeat))
            matched.replies.append(_checked(matched, targets[position], repeat, reply, files))
    if matched.contradicted and len(matched.contradicted) == sum(by.values()):
        position, repeat = next(iter(rows))
        raise UsageError(
            f"every question in {files} is another one than the item's it is matched with: "
            f"{targets[position].id} was asked {_short(rows[position, repeat].question)!r}; is it "
            "this benchmark, and this version of it?"
        )
    return matched


def _target(item: Item) -> Target:
    asked = signs_apart(item.question)
    stem = signs_apart(before_options(item.question)) if item.choices else ""
    return Target(item.id, item.pair, item.role, asked, stem or asked, item.choices)


def signs_apart(text: str) -> str:
    """Return the letters and digits of a text alone, in lower case."""
    return _SIGNS.sub("", normalize("NFKC", text).casefold())


def contradicts(target: Target, question: str) -> bool:
    """Whether a question is another than the item's.

    It is not, where one stands in the other, or where it holds the item's question and all of its
    options in whatever order.
    """
    asked = signs_apart(question)
    if not asked or not target.asked or target.asked in asked or asked in target.asked:
        return False
    return target.stem not in asked or not options_in(question, target.choices)


def _checked(
    matched: Matched, target: Target, repeat: int, found: Found | None, files: str
) -> Reply:
    """Return the reply, if it is to this question and these options; else why it is not."""
    if found is None:
        matched.missing.append(target.id)
        return failed(f"no reply in {files}")
    if contradicts(target, found.question):
        matched.contradicted.append(target.id)
        return failed(f"the reply in {files} is to another question: {_short(found.question)}")
    shown = options_in(found.question, target.choices) or found.options
    if target.choices and shown:
        order = order_of(target.choices, shown)
        if order == "other":
            matched.other_options.append(target.id)
            return failed(f"the reply in {files} is to other options: {_short(' / '.join(shown))}")
        if order != tuple(range(len(order))) and found.reply.failure is None:
            matched.orders[target.id, repeat] = order
    if found.confidence is not None:
        matched.confidence[target.id, repeat] = found.confidence
    return found.reply


def _place(targets: Sequence[Target], found: Sequence[Found], limit: int | None) -> list[_Placed]:
    """Say of every reply which item it is to, and by which way that was found out."""
    by_id = {target.id: position for position, target in enumerate(targets)}
    by_pair: dict[tuple[str, str], list[int]] = defaultdict(list)
    for position, target in enumerate(targets):
        if target.pair and target.role:
            by_pair[target.pair, target.role].append(position)
    folded = _unique(_folded(target.id) for target in targets)
    asked = _unique(target.asked for target in targets)
    stems = _unique(target.stem for target in targets)

    def by_question(question: str) -> int | None:
        whole, stem = signs_apart(question), signs_apart(before_options(question))
        return next((at for at in (asked.get(whole), stems.get(stem)) if at is not None), None)

    in_pairs = _by_pair(targets, found, by_id, by_pair)
    placed = []
    for number, one in enumerate(found):
        own = next((by_id[ident] for ident in one.ids if ident in by_id), None)
        if own is not None:
            placed.append(_Placed(one, own, BY_ID))
        elif number in in_pairs:
            placed.append(_Placed(one, in_pairs[number], BY_PAIR))
        elif one.ids and (near := folded.get(_folded(one.ids[0]))) is not None:
            placed.append(_Placed(one, near, BY_FOLDED))
        else:
            placed.append(_Placed(one, None))
    if not any(one.way for one in placed) and (way := _position_way(targets, found, limit)):
        return [_Placed(one, one.position, way) for one in found]
    return [
        _Placed(one.found, at, BY_QUESTION)
        if one.position is None
        and one.found.question
        and (at := by_question(one.found.question)) is not None
        else one
        for one in placed
    ]


def _folded(ident: str) -> str:
    """Return an id with one sign for all others: `a/1#POS` and `a_1_POS` are alike, `a1POS` not."""
    return _SIGNS.sub("-", ident.casefold()).strip("-")


def _unique(names: Iterable[str]) -> dict[str, int]:
    """Number the names, and leave out those that are empty or come twice."""
    listed = list(names)
    times = Counter(listed)
    return {name: at for at, name in enumerate(listed) if name and times[name] == 1}


def _by_pair(
    targets: Sequence[Target],
    found: Sequence[Found],
    by_id: dict[str, int],
    by_pair: dict[tuple[str, str], list[int]],
) -> dict[int, int]:
    """Place the replies whose ids are pairs'. By the number of the reply, the item's position.

    Where a role comes more than once in a pair, the question tells which one is meant; without
    it the file's order does, if the file has as many as the benchmark, or that many times over.
    """
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, one in enumerate(found):
        key = next(((ident, one.role) for ident in one.ids if (ident, one.role) in by_pair), None)
        if key is not None and not any(ident in by_id for ident in one.ids):
            groups[key].append(number)
    placed = {}
    for key, numbers in groups.items():
        positions = by_pair[key]
        for turn, number in enumerate(numbers):
            fitting = [
                at for at in positions if not contradicts(targets[at], found[number].question)
            ]
            if len(positions) == 1:
                placed[number] = positions[0]
            elif found[number].question and len(fitting) == 1:
                placed[number] = fitting[0]
            elif len(numbers) % len(positions) == 0:
                placed[number] = positions[turn % len(positions)]
    return placed


def _position_way(targets: Sequence[Target], found: Sequence[Found], limit: int | None) -> str:
    """Say whether the files' numbers are positions in the data; "" where that cannot be told."""
    numbers = {one.position for one in found}
    if not all(number is not None and number < len(targets) for number in numbers):
        return ""
    at_odds = sum(contradicts(targets[one.position or 0], one.question) for one in found)
    if at_odds > AT_ODDS * len(found):
        return ""
    if all(one.question for one in found):
        return BY_POSITION
    whole = min(limit or len(targets), len(targets))
    return BY_POSITION_ALONE if numbers >= set(range(whole)) else ""


def _repeats(
    targets: Sequence[Target],
    answers: dict[int, list[Found]],
    repeats: int | None,
    files: str,
) -> tuple[int, dict[tuple[int, int], Found]]:
    """Tell the repeats apart: by their numbers, or, if the user says how many, by their order."""
    everything = [one for several in answers.values() for one in several]
    labels = sorted({one.repeat for one in everything if one.repeat is not None})
    if labels and any(one.repeat is None for one in everything):
        raise UsageError(f"some replies in {files} have the number of their repeat, and some not")
    if len(labels) > MOST_REPEATS:
        raise UsageError(f"{files} numbers {len(labels):,} repeats; {MOST_REPEATS:,} are the most")
    if len(labels) > 1:  # one alone says nothing: several files of one repeat each have it all
        if repeats is not None and repeats != len(labels):
            raise UsageError(f"{files} holds {len(labels)} repeats, and --repeats says {repeats}")
        number = {label: at for at, label in enumerate(labels)}
        rows: dict[tuple[int, int], Found] = {}
        doubled: Counter[str] = Counter()
        for position, several in answers.items():
            for one in several:
                key = position, number[one.repeat or 0]
                if key in rows:
                    doubled[f"{targets[position].id} repeat {one.repeat}"] += 1
                rows[key] = one
        if doubled:
            raise UsageError(f"{files} holds two replies to one repeat: {_listed(list(doubled))}")
        return len(labels), rows
    most = max(len(several) for several in answers.values()) if answers else 1
    wanted = repeats or 1
    wrong = [
        f"{targets[position].id} ({len(several)} times)"
        for position, several in answers.items()
        if len(several) != wanted
    ]
    if wrong and repeats is None:
        raise UsageError(
            f"{files} holds more than one reply to {_listed(wrong)}. If these are repeats, say so "
            f"with --repeats {most}; if not, take the doubles out"
        )
    if wrong:
        raise UsageError(
            f"--repeats says {repeats} replies to each item; {files} has {_listed(wrong)}"
        )
    rows = {
        (position, turn): one
        for position, several in answers.items()
        for turn, one in enumerate(several)
    }
    return wanted, rows


def _nothing(targets: Sequence[Target], found: Sequence[Found], files: str) -> str:
    """Say that nothing matches, with what would have had to match."""
    theirs = ", ".join(repr(one.name) for one in found[:3])
    ours = ", ".join(repr(target.id) for target in targets[:3])
    more = ""
    first = next((one for one in found if one.question), None)
    if first is not None:
        more = f", nor is a question, like {_short(first.question)!r}, one item's alone"
    elif all(one.position is not None for one in found):
        more = (
            "; nor do its numbers cover all items, without questions to check them by "
            "(--limit takes the first items only)"
        )
    many = "1 reply" if len(found) == 1 else f"{len(found):,} replies"
    return (
        f"{files} holds {many}, but to none of the {len(targets):,} items: it calls them {theirs}, "
        f"… and the benchmark {ours}, …{more}"
    )


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _short(text: str, most: int = 80) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"
