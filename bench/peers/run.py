"""The same forty tricky replies read by hardset and, by their own code, by three other harnesses.

usage: python bench/peers/run.py --inspect PYTHON --lmms-eval PYTHON --vlmevalkit PYTHON CHECKOUT
       python bench/peers/run.py --table

The first reads, writes results.json and prints the table; `--startup` times start-up as well. A
harness that is not given keeps the readings it has there. `--table` prints the table of
results.json. Each PYTHON is that of an environment of its own (none is needed by hardset):

    pip install inspect-ai==0.3.285
    pip install lmms-eval==0.7.3
    git clone https://github.com/open-compass/VLMEvalKit CHECKOUT, then git checkout COMMIT of
    results.json there, and pip install -r CHECKOUT/requirements.txt rouge-score

Where an installation with everything fails, `--no-deps` and what an import then asks for will do.
"""

import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from table import markdown  # noqa: E402

REPLIES = HERE / "replies.jsonl"
RESULTS = HERE / "results.json"
OURS = "hardset"


def rows():
    return [json.loads(line) for line in REPLIES.read_text(encoding="utf-8").splitlines()]


def adapter(name, python, folder=None):
    """Run one harness's adapter over the replies, in its own Python; returns what it printed."""
    script = HERE / f"read_with_{name}.py"
    done = subprocess.run(
        [python, script], input=REPLIES.read_bytes(), stdout=subprocess.PIPE, cwd=folder, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def taken(row, reading):
    """Whether an answer was taken from a reply that gives none: a refusal, or a failure."""
    if row["state"] == "answered":
        return False
    if "state" in reading:
        return reading["state"] == "answered"
    options = {"choice": "ABCD"[: len(row["choices"])], "yes_no": ("yes", "no")}
    said = reading["answer"].upper() if row["form"] == "choice" else reading["answer"].lower()
    in_options = bool(said) and said in options.get(row["form"], ())
    return in_options or (reading["correct"] and not row["right"])


def sound(row, reading):
    """Whether a reply was read right.

    Of hardset the state, the answer and the score must be those written down; of the others, which
    have no state for a refusal, the score, and that none is taken for an answer.
    """
    if "state" not in reading:
        return reading["correct"] == row["right"] and not taken(row, reading)
    same = reading["answer"] == row["answer"] or row["form"] in ("open", "braces")
    return reading["state"] == row["state"] and reading["correct"] == row["right"] and same


def held(raw):
    """Hold a harness's readings against the truth: for each form, by the way that reads it best."""
    truth = {row["id"]: row for row in rows()}
    forms = {}
    for reading in raw["readings"]:
        ways = forms.setdefault(truth[reading["id"]]["form"], {})
        ways.setdefault(reading["by"], []).append(reading)
    scores = {
        form: {way: sum(sound(truth[r["id"]], r) for r in got) for way, got in ways.items()}
        for form, ways in forms.items()
    }
    best = {form: max(ways, key=ways.get) for form, ways in scores.items()}  # the first of equals
    readings = {
        reading["id"]: {
            **{key: value for key, value in reading.items() if key not in ("id", "by")},
            "sound": sound(truth[reading["id"]], reading),
            "taken": taken(truth[reading["id"]], reading),
        }
        for form, way in best.items()
        for reading in forms[form][way]
    }
    if readings.keys() != truth.keys():
        raise SystemExit(f"not read: {sorted(truth.keys() ^ readings.keys())}")
    return {
        "version": raw["version"],
        "by": best,
        "read_by_way": scores,
        "read": sum(reading["sound"] for reading in readings.values()),
        "taken": sum(reading["taken"] for reading in readings.values()),
        "readings": dict(sorted(readings.items())),
    }


def version_of(checkout):
    """Name a checkout's commit: of the clone, or of the file COMMIT where it is an export."""
    noted = Path(checkout) / "COMMIT"
    if noted.exists():
        return f"commit {noted.read_text().strip()[:12]}"
    command = ["git", "-C", checkout, "rev-parse", "--short=12", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return f"commit {done.stdout.strip()}"


def startup(commands):
    """Time whole processes, in turns, against the bare start of the same Python (CPU, median)."""
    from measure import cost, median

    times = {name: ([], []) for name in commands}
    for _ in range(5):
        for name, (python, code, folder) in commands.items():
            bare, full = times[name]
            bare.append(cost([python, "-c", "pass"], cwd=folder).cpu)
            full.append(cost([python, "-c", code], cwd=folder).cpu)
    return {
        name: {
            "code": commands[name][1],
            "seconds": round(median(full), 3),
            "over_bare": round(median(full) / median(bare), 1),
        }
        for name, (bare, full) in times.items()
    }


def main():
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("--inspect", metavar="PYTHON")
    given.add_argument("--lmms-eval", metavar="PYTHON")
    given.add_argument("--vlmevalkit", nargs=2, metavar=("PYTHON", "CHECKOUT"))
    given.add_argument("--startup", action="store_true", help="time start-up too")
    given.add_argument("--table", action="store_true", help="only print the table of results.json")
    options = given.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"harnesses": {}}
    if not options.table:
        harnesses = {**results["harnesses"], OURS: held(adapter("hardset", sys.executable))}
        starts = {OURS: (sys.executable, "import hardset.cli, hardset.run, hardset.scoring", None)}
        if options.inspect:
            harnesses["Inspect"] = held(adapter("inspect", options.inspect))
            starts["Inspect"] = (options.inspect, "import inspect_ai", None)
        if options.lmms_eval:
            harnesses["lmms-eval"] = held(adapter("lmms_eval", options.lmms_eval))
            starts["lmms-eval"] = (options.lmms_eval, "import lmms_eval.evaluator", None)
        if options.vlmevalkit:
            python, checkout = options.vlmevalkit
            raw = {**adapter("vlmevalkit", python, checkout), "version": version_of(checkout)}
            harnesses["VLMEvalKit"] = held(raw)
            starts["VLMEvalKit"] = (python, "import vlmeval.dataset", checkout)
        results = {
            "replies": hashlib.sha256(REPLIES.read_bytes()).hexdigest()[:16],
            "harnesses": harnesses,
            "startup": startup(starts) if options.startup else results.get("startup", {}),
        }
        text = json.dumps(results, indent=1, ensure_ascii=False)
        RESULTS.write_text(text + "\n", encoding="utf-8")
    print(markdown(rows(), results))


if __name__ == "__main__":
    main()
