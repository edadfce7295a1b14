"""Reads the replies with VLMEvalKit: what its data sets score a reply with, without a judge model.

usage: python read_with_vlmevalkit.py < replies.jsonl     (in a checkout with its requirements; it
is not on PyPI)

Options: `extract_answer_from_item`, its `exact_matching` policy. Yes or no: `YOrN_Extraction`.
Open: `process_line` as VizWiz and as TextVQA have it. Braces: ZEROBench's own `evaluate`.
"""

import json
import sys
import tempfile
import types
from pathlib import Path

sys.path.insert(0, ".")
for name in ("vlmeval", "vlmeval.dataset"):
    # The packages' own __init__ imports every data set and every data set's libraries: the modules
    # below are imported as they are, without it.
    package = types.ModuleType(name)
    package.__path__ = [name.replace(".", "/")]
    sys.modules[name] = package

import pandas as pd  # noqa: E402
from vlmeval.dataset.image_vqa import ZEROBench  # noqa: E402
from vlmeval.dataset.utils.multiple_choice import extract_answer_from_item  # noqa: E402
from vlmeval.dataset.utils.vqa_eval import hit_calculate, process_line  # noqa: E402
from vlmeval.dataset.utils.yorn import YOrN_Extraction  # noqa: E402


def by_exact_matching(row):
    item = {
        "question": row["question"],
        "prediction": row["reply"],
        **dict(zip("ABCD", row["choices"], strict=True)),
    }
    letter = extract_answer_from_item(None, item)["opt"]
    return letter, letter == row["gold"]


def by_yorn(row):
    answer = YOrN_Extraction(row["reply"])
    return answer, answer == row["gold"].capitalize()


def by_vqa(dataset, *method):
    def read(row):
        line = {"answer": repr([row["gold"]] * 10), "prediction": row["reply"]}
        result = process_line(line, *method)
        return result["pred"], hit_calculate([result], dataset)[0] == 1

    return read


def by_zerobench(row):
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "replies.tsv"
        line = {"index": 0, "prediction": row["reply"], "answers": row["gold"]}
        pd.DataFrame([line]).to_csv(table, sep="\t", index=False)
        # A number's type is guessed when the table is read back, as it is of its own tables.
        accuracy = ZEROBench.evaluate(None, str(table))["accuracy"]
    return "", accuracy == 1


WAYS = {
    "choice": {"exact_matching": by_exact_matching},
    "yes_no": {"YOrN_Extraction": by_yorn},
    "open": {"VizWiz": by_vqa("VizWiz"), "TextVQA": by_vqa("TextVQA", "vqa_score")},
    "braces": {"ZEROBench": by_zerobench},
}


def main():
    rows = [json.loads(line) for line in sys.stdin]
    readings = []
    for row in rows:
        for way, read in WAYS[row["form"]].items():
            answer, correct = read(row)
            readings.append(
                {"id": row["id"], "by": way, "answer": str(answer), "correct": bool(correct)}
            )
    json.dump({"readings": readings}, sys.stdout)


main()
