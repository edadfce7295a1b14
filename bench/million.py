"""A million labelled texts scored by loss: memory beside that of a hundred thousand, and the pace.

usage: python bench/million.py [FEW [MANY]]                        (100,000 and 1,000,000)

The texts are made up, the same every time, and lie in one parquet file. The command under test is
`hardset difficulty`, whole, as a process: it opens the file, counts the words, trains a bag of
words for a few steps, scores every example into parts, and writes the table and the page.
"""

import random
import sys
import tempfile
from pathlib import Path

from measure import cost, hardset

WORDS = 5000
STEPS = 20


def texts(path, count):
    """Write `count` texts of four to twenty words, of four labels that half of the words tell."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(10**6)
    names = np.array([f"word{random.Random(i).randrange(16**4):04x}" for i in range(WORDS)])
    label = rng.integers(4, size=count)
    pieces = []
    for start in range(0, count, 100_000):
        own = label[start : start + 100_000]
        word = np.minimum(rng.zipf(1.3, (len(own), 20)), WORDS) - 1
        tells = rng.random(word.shape) < 0.5
        word = np.where(tells, (word // 4 * 4 + own[:, None]) % WORDS, word)
        length = rng.integers(4, 21, len(own))
        words = names[word]
        pieces += [" ".join(row[:many]) for row, many in zip(words, length, strict=True)]
    pl.DataFrame({"text": pieces, "label": label}).write_parquet(path, row_group_size=50_000)


def score(folder, count):
    """Score so many texts, whole, and say what that took."""
    path, out = Path(folder) / f"{count}.parquet", Path(folder) / f"scored-{count}"
    # in a process of its own: a child starts as large as what it was forked from
    cost([sys.executable, "-c", f"import million as m; m.texts({str(path)!r}, {count})"],
         cwd=Path(__file__).parent)  # fmt: skip
    took = cost(
        hardset(
            "difficulty", path, "--out", out, "--seeds", 1, "--score", "loss", "--steps", STEPS,
            "--threads", 1,
        )
    )  # fmt: skip
    written = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    return took, content(path) / 1e6, written / 1e6


def content(path):
    """Return the bytes of all texts: the reader holds up to 64 MB of them."""
    import polars as pl

    return pl.scan_parquet(path).select(pl.col("text").str.len_bytes().sum()).collect().item()


def rows(few=100_000, many=1_000_000):
    """Yield (what, figures, bound)."""
    with tempfile.TemporaryDirectory(prefix="hardset-bench-") as folder:
        little, texts_few, _ = score(folder, few)
        much, texts_many, size = score(folder, many)
    more = many - few
    yield (
        f"peak memory, {many:,} texts scored by loss / {few:,}",
        f"{much.peak / little.peak:.2f} ({much.peak:.0f} / {little.peak:.0f} MB, of which the "
        f"texts {texts_many:.0f} / {texts_few:.0f})",
        "≤ 1.3",
    )
    yield (
        f"{many:,} texts, from the file to the page",
        f"{much.wall:.0f} s (CPU {much.cpu:.0f} s), {1e6 * (much.cpu - little.cpu) / more:.0f} "
        f"µs of CPU each further one; {size:.0f} MB written",
        "beside it",
    )


def main():
    for row in rows(*(int(number) for number in sys.argv[1:])):
        print("  ".join(row), flush=True)


if __name__ == "__main__":
    main()
