"""Run a benchmark of many image questions, streamed from a folder: the memory a run needs.

usage: many.py FOLDER COUNT URL RUNS [--concurrency N]
"""

import sys
from pathlib import Path

import hardset
from hardset.metrics import Rates, accuracy
from hardset.reading import read_choice
from hardset.records import Image, Item


class Many(hardset.Benchmark):
    """As many questions as there are pictures; no item is held."""

    name = "many"
    title = "Many pictures"
    headline = ("accuracy",)

    def __init__(self, folder, count):
        self.folder, self.count = Path(folder), count

    def items(self):
        for number in range(self.count):
            yield Item(
                id=f"{number:06d}",
                question=f"What colour is thing {number}?\nA. red\nB. green\nC. blue\nD. grey",
                images=(Image(where=str(self.folder / f"{number:05d}.jpg")),),
                form="choice",
                choices=("red", "green", "blue", "grey"),
                answer="ABCD"[number % 4],
                category=f"shelf {number % 12}",
            )

    def total(self):
        return self.count

    def read(self, item, text):
        return {"default": read_choice(text, item.choices)}

    @classmethod
    def rates(cls, outcomes):
        return [
            Rates(frame=outcomes, ratios=[accuracy()], cluster="sha256", by=[(), ("category",)])
        ]


if __name__ == "__main__":
    folder, count, url, runs = sys.argv[1:5]
    run = hardset.evaluate(
        Many(folder, int(count)),
        hardset.make_model("stub", base_url=url + "/v1"),
        hardset.Settings(runs=Path(runs), limits=hardset.Limits(concurrency=32)),
    )
    assert run.failed == 0, run.reasons()
    assert run.rows == int(count)
