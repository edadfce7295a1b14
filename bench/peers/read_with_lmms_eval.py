"""Reads the replies with lmms-eval: the functions that its tasks score a reply with.

usage: python read_with_lmms_eval.py < replies.jsonl     (pip install lmms-eval==0.7.3)

Options: those of its MMMU and MMStar tasks (the latter's extractor is the one its newer tasks
share). Yes or no: MME and POPE. Open: MMMU and VizWiz. Braces: ZeroBench and MMMU.
"""

import json
import random
import sys
from importlib.metadata import version

from lmms_eval.tasks._task_utils.mcq_extract import extract_mcq_answer
from lmms_eval.tasks.mme import utils as mme
from lmms_eval.tasks.mmmu import utils as mmmu
from lmms_eval.tasks.mmstar import utils as mmstar
from lmms_eval.tasks.pope import utils as pope
from lmms_eval.tasks.vizwiz_vqa import utils as vizwiz
from lmms_eval.tasks.zerobench import utils as zerobench

SEED = 0  # simple_evaluate's default


def mmmu_choice(row):
    doc = {
        "id": f"validation_Test_{row['id'][1:]}",
        "question_type": "multiple-choice",
        "options": repr(row["choices"]),
        "answer": row["gold"],
    }
    before = random.getstate()
    scored = mmmu.mmmu_process_results(doc, [row["reply"]])["mmmu_acc"]
    after = random.getstate()
    others = set()
    for seed in range(50):  # a letter that changes with the seed was drawn by lot
        random.seed(seed)
        others.add(mmmu.mmmu_process_results(doc, [row["reply"]])["mmmu_acc"]["parsed_pred"][0])
    random.setstate(after if len(others) > 1 else before)
    _, result = mmmu.evaluate_mmmu([scored])
    return scored["parsed_pred"][0], result["acc"] == 1, len(others) > 1


def mmstar_choice(row):
    doc = {"answer": row["gold"], "category": "", "l2_category": "", "index": row["id"]}
    score = mmstar.mmstar_process_results(doc, [row["reply"]])["average"]["score"]
    return extract_mcq_answer(row["reply"], choices=["A", "B", "C", "D"]), score == 1


def mme_yes_no(row):
    doc = {"answer": row["gold"], "category": "existence", "question_id": row["id"]}
    score = mme.mme_process_results(doc, [row["reply"]])["mme_perception_score"]["score"]
    return mme.parse_pred_ans(row["reply"]), score == 1


def pope_yes_no(row):
    doc = {"answer": row["gold"], "question_id": row["id"]}
    result = pope.pope_process_results(doc, [row["reply"]])["pope_accuracy"]
    return result["prediction"], result["score"] == 1


def mmmu_open(row):
    doc = {
        "id": f"validation_Test_{row['id'][1:]}",
        "question_type": "open",
        "options": "[]",
        "answer": row["gold"],
    }
    scored = mmmu.mmmu_process_results(doc, [row["reply"]])["mmmu_acc"]
    _, result = mmmu.evaluate_mmmu([scored])
    return str(sorted(map(str, scored["parsed_pred"][0]))), result["acc"] == 1


def vizwiz_open(row):
    doc = {"answers": [row["gold"]] * 10, "question_id": row["id"]}
    result = vizwiz.vizwiz_vqa_process_results(doc, [row["reply"]])
    return result["submission"]["answer"], result["exact_match"] == 1


def zerobench_braces(row):
    doc = {"question_answer": row["gold"], "question_id": row["id"]}
    result = zerobench.zerobench_process_results(doc, [row["reply"]])["zerobench_exact_match"]
    return result["prediction"], result["score"] == 1


WAYS = {
    "choice": {"MMMU": mmmu_choice, "MMStar": mmstar_choice},
    "yes_no": {"MME": mme_yes_no, "POPE": pope_yes_no},
    "open": {"MMMU": mmmu_open, "VizWiz": vizwiz_open},
    "braces": {"ZeroBench": zerobench_braces, "MMMU": mmmu_open},
}


def main():
    rows = [json.loads(line) for line in sys.stdin]
    readings = []
    random.seed(SEED)
    for row in rows:
        for way, read in WAYS[row["form"]].items():
            answer, correct, *by_lot = read(row)
            readings.append(
                {
                    "id": row["id"],
                    "by": way,
                    "answer": answer or "",
                    "correct": bool(correct),
                    "guessed": any(by_lot),
                }
            )
    json.dump({"version": version("lmms-eval"), "readings": readings}, sys.stdout)


main()
