"""The table of results.json as markdown, for the README."""

SHOWN = ("r09", "r10", "r16", "r27", "r33", "r39")  # examples, of the different kinds
WAYS = {"choice": "options", "yes_no": "yes/no", "open": "open", "braces": "braces"}


def markdown(rows, results):
    names = sorted(results["harnesses"], key=_first)
    harnesses = {name: results["harnesses"][name] for name in names}
    lines = [
        "<!-- peers -->",
        _line("kind of reply", *harnesses),
        _line("---", *("--:" for _ in harnesses)),
    ]
    for kind in dict.fromkeys(row["kind"] for row in rows):
        ids = [row["id"] for row in rows if row["kind"] == kind]
        lines.append(_line(f"{kind} ({len(ids)})", *(_count(h, ids) for h in harnesses.values())))
    silent = [row["id"] for row in rows if row["state"] != "answered"]
    lines += [
        _line(f"**read right, of {len(rows)}**", *(f"**{h['read']}**" for h in harnesses.values())),
        _line(
            f"a refusal or failure taken for an answer, of {len(silent)}",
            *(h["taken"] for h in harnesses.values()),
        ),
        "",
        _line("reply", "right answer", "means", *harnesses),
        _line("---", "---", "---", *("---" for _ in harnesses)),
    ]
    for row in rows:
        if row["id"] in SHOWN:
            made = (_made(row, h["readings"][row["id"]]) for h in harnesses.values())
            reply = row["reply"].replace("\n\n", " ⏎ ").replace("|", "\\|")
            lines.append(_line(f"`{reply}`", row["gold"], row["answer"] or row["state"], *made))
    lines += ["", _caption(harnesses, results), "<!-- /peers -->"]
    return "\n".join(lines)


def _first(name):
    return name != "hardset", name.lower()


def _line(*cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def _count(harness, ids):
    return sum(harness["readings"][ident]["sound"] for ident in ids)


def _made(row, reading):
    """Say what a harness made of a reply: the answer it took, or how it scored it; ✗ if misread."""
    known = {"choice": tuple("ABCD"), "yes_no": ("yes", "no")}.get(row["form"], ())
    said = reading["answer"]
    if "state" in reading and reading["state"] != "answered":
        made = reading["state"]
    elif (said if row["form"] == "choice" else said.lower()) in known:
        made = said + (" (drawn by lot)" if reading.get("guessed") else "")
    elif "state" in reading:
        made = said
    else:
        made = "scored right" if reading["correct"] else "scored wrong"
    return made if reading["sound"] else f"{made} ✗"


def _caption(harnesses, results):
    parts = []
    for name, harness in harnesses.items():
        if name == "hardset":
            continue
        ways = "; ".join(f"{WAYS[form]} by {way}" for form, way in harness["by"].items())
        parts.append(f"{name} {harness['version']} ({ways})")
    return (
        "✗ is a misreading. hardset must have the state, the answer and the score right. "
        "The others have no state for a refusal: of them the score must be right, and no answer "
        "taken where none is given. Of several ways that a harness has for a form, the one that "
        "reads most is counted, without a judge model: " + ", ".join(parts) + "." + _starts(results)
    )


def _starts(results):
    """Say what start-up takes, where it was timed."""
    timed = results.get("startup", {})
    if not timed:
        return ""
    said = (
        f"`{timed[name]['code']}` {timed[name]['seconds']:.2f} s"
        for name in sorted(timed, key=_first)
    )
    return " CPU to start: " + ", ".join(said) + "."
