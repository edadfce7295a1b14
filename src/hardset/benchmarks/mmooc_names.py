"""The names of MMOOC: its shifts, formats and scenarios, and the other spellings of each.

The data set's files were not public when this was written. Our own names come first, and beside
them stands what the authors' files may call the same thing. Case, spaces, hyphens and underscores
never tell two names apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

OOC = {
    "MA": "multimodal ambiguity",
    "VFP": "visual false premise",
    "USPC": "uncertain spatial and physical context",
    "ULS": "unclear logic and symbols",
    "MKB": "missing knowledge and background",
}
"""The shifts that take a question out of context: the right thing is to refuse it."""
IC = {
    "MP": "misleading premise",
    "PA": "partial answerability",
    "IQM": "image-question mismatch",
}
"""The shifts that leave it in context: there is still something right to answer."""
AUTO_SHUFFLE = "Auto-Shuffle"
"""What stands for the shift of a question that was put beside another image by a program."""
GROUPS = {**dict.fromkeys(OOC, "ooc"), AUTO_SHUFFLE: "ooc", **dict.fromkeys(IC, "ic")}
FORMATS = ("yes_no", "choice", "open")
SCENARIOS = (
    "coarse perception",
    "fine-grained perception",
    "spatial understanding",
    "physical understanding",
    "logical reasoning",
    "symbolic reasoning",
)
ORIGINS = ("generated", "human", "shuffle")
UNKNOWN = "unknown"

FIELDS: Mapping[str, Sequence[str]] = {
    "id": ("id", "item_id", "question_id", "sample_id", "qid", "uid"),
    "image": ("image", "images", "img", "image_path", "img_path", "image_file", "image_name",
              "file_name"),
    "question": ("question", "query", "question_text"),
    "format": ("format", "question_type", "question_format", "answer_format", "answer_type"),
    "options": ("options", "choices", "candidates", "answer_choices"),
    "answer": ("answer", "gt", "gt_answer", "ground_truth", "reference", "reference_answer"),
    "explanation": ("explanation", "rationale", "reason", "reference_explanation"),
    "group": ("group", "ability", "context", "context_type"),
    "shift": ("shift", "shift_type", "context_shift"),
    "scenario": ("scenario", "visual_scenario", "task", "task_type", "scene"),
    "source": ("source", "origin", "construction", "created_by"),
    "generator": ("generator", "generators", "generator_model", "generated_by"),
    "verifiers": ("verifiers", "verifier", "verifier_models", "verified_by"),
    "accept": ("accept", "accepted_answers", "other_answers"),
    "supported": ("supported", "supported_part", "answerable_part"),
    "unsupported": ("unsupported", "unsupported_part", "unanswerable_part"),
}  # fmt: skip
"""Our fields, and the names that each may have: the first one with something in it counts."""
BY_VALUE = ("category", "sub_category", "subcategory", "type", "subtype", "class")
"""Names that may stand for several of our fields: which one it is, the value tells."""

_SPELLINGS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "group": {
        "ooc": ("ooc", "out of context", "unanswerable", "refusal"),
        "ic": ("ic", "in context", "shifted in context", "in context shift", "answerable"),
    },
    "shift": {
        **{short: (short, name) for short, name in {**OOC, **IC}.items()},
        "USPC": ("uspc", OOC["USPC"], "uncertain spatial physical context",
                 "uncertain spatial and physical contexts"),
        "ULS": ("uls", OOC["ULS"], "unclear logic symbols", "unclear logical symbols"),
        "MKB": ("mkb", OOC["MKB"], "missing knowledge background"),
        AUTO_SHUFFLE: ("auto shuffle", "autoshuffle", "shuffle", "shuffled"),
    },
    "format": {
        "yes_no": ("yes no", "yesno", "y n", "yn", "binary", "true false", "judgement",
                   "yes no question", "yes or no"),
        "choice": ("choice", "multiple choice", "multi choice", "mc", "mcq", "multichoice",
                   "multiple choice question", "single choice"),
        "open": ("open", "open ended", "openended", "oe", "free form", "freeform", "vqa",
                 "open ended question"),
    },
    "scenario": {
        **{name: (name,) for name in SCENARIOS},
        "coarse perception": ("coarse perception", "coarse grained perception"),
        "fine-grained perception": ("fine grained perception", "fine perception"),
        "spatial understanding": ("spatial understanding", "spatial reasoning"),
        "physical understanding": ("physical understanding", "physical reasoning"),
        "logical reasoning": ("logical reasoning", "logic reasoning"),
        "symbolic reasoning": ("symbolic reasoning", "symbol reasoning"),
    },
    "source": {
        "generated": ("generated", "model", "model generated", "mllm generated", "llm generated",
                      "auto generated", "synthetic", "ai"),
        "human": ("human", "human written", "manual", "annotator", "human annotated"),
        "shuffle": ("shuffle", "shuffled", "auto shuffle", "autoshuffle", "mme", "mmstar",
                    "ok vqa", "okvqa"),
    },
}  # fmt: skip


@lru_cache(maxsize=4096)
def named(field: str, text: str) -> str:
    """Return our name for a value of a field, however it is spelt; "" where it is none we know.

    "Visual False Premise (VFP)" is known by what stands within the brackets or without them.
    """
    known = _KNOWN[field]
    tries = [text, _BRACKETED.sub(" ", text), *_BRACKETED.findall(text)]
    found = {known[one] for one in map(_plain, tries) if one in known}
    return found.pop() if len(found) == 1 else ""


@lru_cache(maxsize=4096)
def field_of(name: str) -> tuple[str, int] | None:
    """Return which of our fields a name stands for, and how far down among its names it is."""
    return _PLACES.get(_plain(name))


def _plain(text: str) -> str:
    """Write a name without what does not tell it from another: `Yes/No` is `yes no`."""
    return " ".join(re.findall(r"[^\W_]+", text.lower().replace("&", " and ")))


_BRACKETED = re.compile(r"\s*\(([^()]*)\)\s*")
_KNOWN = {
    field: {_plain(spelling): name for name, given in names.items() for spelling in given}
    for field, names in _SPELLINGS.items()
}
_PLACES = {
    _plain(name): (field, rank)
    for field, names in FIELDS.items()
    for rank, name in enumerate(names)
}
_BY_VALUE = frozenset(map(_plain, BY_VALUE))


@lru_cache(maxsize=4096)
def told_by_value(name: str) -> bool:
    """Whether a name may stand for several of our fields."""
    return _plain(name) in _BY_VALUE


def fields_with(text: str) -> list[str]:
    """Return which of our fields may have a value."""
    return [field for field in _KNOWN if named(field, text)]


def allowed(field: str) -> str:
    """List our names of a field's values, as an error says them."""
    return ", ".join(dict.fromkeys(_KNOWN[field].values()))
