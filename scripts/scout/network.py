"""The two networks of local/scout: an eye that lists objects, and a mind that answers about them.

The eye turns a picture into `SLOTS` soft descriptions of objects; the mind reads a question word
by word, each word looking at the objects, and scores every answer. Both are small enough to be
trained and run on a processor without an accelerator.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from hardset.sources.scenes.graph import COLOURS, DIGITS, SHAPES, SIZES, WORDS_SHOWN

EDGE = 96  # the picture's side, in pixels, as the eye sees it
GRID = 12  # cells a side; no two objects of a scene have their centres in one cell
SLOTS = 10  # objects passed on: one more than a hard scene has
TEXTS = ("", *DIGITS, *WORDS_SHOWN)
PARTS = (len(SHAPES), len(COLOURS), len(SIZES), len(TEXTS))
FEATURES = 3 + sum(PARTS)  # of a slot: presence, x, y, then the probabilities of each part
SHARP = 30.0  # how soon a side is certain: a margin of 20 pixels gives 0.998
LIE = 5  # how two objects lie: left of, above, right of, below, or one and the same
PAD, UNKNOWN, START = 0, 1, 2  # word ids before those of the vocabulary


class Eye(nn.Module):
    """Pictures to slots, by a convolutional network with one prediction a grid cell."""

    def __init__(self, width: int = 80) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            _conv(3, 24, 2), _conv(24, 40, 2), _conv(40, 64, 1), _conv(64, width, 2)
        )
        self.blocks = nn.ModuleList(_conv(width, width, 1) for _ in range(3))
        self.out = nn.Conv2d(width, FEATURES, 1)

    def cells(self, pictures: Tensor) -> Tensor:
        """Map uint8 [B, EDGE, EDGE, 3] to raw predictions [B, GRID * GRID, FEATURES].

        A cell's first three are the logit that an object's centre lies in it and where in the
        cell it lies (0 to 1 along x and y); the rest are logits of each part in turn.
        """
        x = pictures.to(torch.float32).permute(0, 3, 1, 2) / 127.5 - 1.0
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return self.out(x).flatten(2).transpose(1, 2)

    def forward(self, pictures: Tensor) -> Tensor:
        """Map uint8 [B, EDGE, EDGE, 3] to slots [B, SLOTS, FEATURES], the surest first."""
        return slots_of(self.cells(pictures))


def slots_of(cells: Tensor) -> Tensor:
    """Pick the cells that most likely hold an object, and describe each by probabilities.

    All of a slot is scaled by its presence, so that an empty one is all zeros. x and y run from
    -1 (left, top) to 1.
    """
    presence, where = torch.topk(cells[:, :, 0], SLOTS, dim=1)
    picked = torch.gather(cells, 1, where.unsqueeze(-1).expand(-1, -1, FEATURES))
    column = (where % GRID).to(cells.dtype)
    row = torch.div(where, GRID, rounding_mode="floor").to(cells.dtype)
    x = (column + picked[:, :, 1]) * (2 / GRID) - 1
    y = (row + picked[:, :, 2]) * (2 / GRID) - 1
    parts = [part.softmax(-1) for part in picked[:, :, 3:].split(PARTS, -1)]
    present = torch.sigmoid(presence).unsqueeze(-1)
    return present * torch.cat([torch.ones_like(present), x[..., None], y[..., None], *parts], -1)


class Mind(nn.Module):
    """Slots and words to a score for each answer.

    Where objects lie is given to it ready to be used, as what they look like is: the half of the
    picture each lies in, and which lies on which side of which. From bare coordinates a network
    of this size learns it too slowly.
    """

    def __init__(
        self, words: int, answers: int, width: int = 80, heads: int = 4, layers: int = 3
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.place = nn.Parameter(torch.randn(64, width) * 0.02)
        self.phrase = nn.Conv1d(width, width, 3, padding=1)
        self.see = nn.Sequential(
            nn.Linear(FEATURES + 4, width), nn.ReLU(), nn.Linear(width, width), nn.LayerNorm(width)
        )
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.out = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, answers))

    def forward(self, slots: Tensor, words: Tensor) -> Tensor:
        """Map [B, SLOTS, FEATURES] and word ids [B, T] to logits [B, answers].

        START comes first and PAD last.
        """
        return self.grounded(slots, words)[0]

    def grounded(self, slots: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        """Return the answers' logits, and which objects each word means at first sight.

        The second is [B, T, SLOTS], logits: the first layer's first counting head.
        """
        present, spot = slots[:, :, :1], slots[:, :, 1:3]
        halves = torch.sigmoid(torch.cat([-spot, spot], -1) * SHARP) * present
        seen = torch.cat([self.see(torch.cat([slots, halves], -1)), present], -1)
        apart = spot[:, None] - spot[:, :, None]  # [B, from, to, 2]
        sides = torch.sigmoid(torch.cat([-apart, apart], -1) * SHARP)
        same = torch.eye(slots.shape[1])[None, :, :, None].expand(slots.shape[0], -1, -1, 1)
        sides = torch.cat([sides, same], -1)
        sides = sides * present[:, None] * present[:, :, None]
        there = (words != PAD).to(slots.dtype)
        hidden = (1 - there)[:, None, None, :] * -1e4
        x = (self.embed(words) + self.place[: words.shape[1]]) * there[:, :, None]
        x = x + F.relu(self.phrase(x.transpose(1, 2))).transpose(1, 2)
        meant: Tensor | None = None
        pointed = torch.zeros_like(x[:, :, :1]).expand(-1, -1, slots.shape[1])
        for layer in self.layers:
            last = layer is self.layers[-1]  # of which only the start's word is read
            x, counted = layer(x[:, :1] if last else x, x, seen, hidden, pointed, sides)
            if meant is None:
                meant = counted[:, 0]
                pointed = torch.sigmoid(meant) * there[:, :, None]
        assert meant is not None
        return self.out(x[:, 0]), meant


class Layer(nn.Module):
    """Words look at words, then at objects, then think; half of the heads sum over objects.

    A softmax finds which object is meant; a sum of independent yeses counts them. Both heed on
    which side the objects lie of those that the word looked at points to.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_words, self.norm_seen = nn.LayerNorm(width), nn.LayerNorm(width)
        self.norm_think = nn.LayerNorm(width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.join = nn.Linear(width, width)
        self.ask = nn.Linear(width, width)
        self.side = nn.Linear(width, LIE * heads)
        self.tell = nn.Linear(width + 1, 2 * width)
        self.nothing = nn.Parameter(torch.zeros(heads))  # the score of looking at no object
        self.take = nn.Linear(width + LIE * heads, width)
        self.think = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(
        self, x: Tensor, words: Tensor, seen: Tensor, hidden: Tensor, pointed: Tensor, sides: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Map words x [B, t, width], which look at all words [B, T, width], to what they become.

        `pointed` [B, T, SLOTS] is what each word means, and `sides` [B, from, to, LIE] how the
        objects lie. The second tensor returned is the counting heads' logits
        [B, heads / 2, t, SLOTS].
        """
        q = self._split(self.query(self.norm_words(x)))
        k, v = (self._split(part) for part in self.key(self.norm_words(words)).chunk(2, -1))
        scale = q.shape[-1] ** -0.5
        weights = (q @ k.transpose(-1, -2) * scale + hidden).softmax(-1)
        x = x + self.join(_merge(weights @ v))
        start = weights[:, 0] @ pointed  # [B, t, SLOTS]: what the word looked at points to
        lie = (start @ sides.flatten(2)).unflatten(2, (-1, LIE))  # [B, t, SLOTS, LIE]

        normed = self.norm_seen(x)
        q = self._split(self.ask(normed))
        k, v = (self._split(part) for part in self.tell(seen).chunk(2, -1))
        wanted = self.side(normed).unflatten(-1, (self.heads, LIE))  # [B, t, heads, LIE]
        scores = q @ k.transpose(-1, -2) * scale  # [B, heads, t, SLOTS]
        scores = scores + (wanted @ lie.transpose(-1, -2)).transpose(1, 2)
        half = self.heads // 2
        found, counted = scores[:, :half], scores[:, half:]
        nothing = self.nothing[None, :, None, None]
        none = nothing[:, :half].expand_as(found[..., :1])
        found = torch.cat([found, none], -1).softmax(-1)[..., :-1]
        counted = counted + nothing[:, half:]
        looks = torch.cat([found, torch.sigmoid(counted)], 1)
        found_lie = (looks.transpose(1, 2) @ lie).flatten(2)  # [B, t, heads * LIE]
        x = x + self.take(torch.cat([_merge(looks @ v), found_lie], -1))
        return x + self.think(self.norm_think(x)), counted

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def _merge(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def _conv(inputs: int, outputs: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()
    )
