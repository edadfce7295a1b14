"""What coefficients of agreement mean, said in words beside a small figure of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hardset.metrics.agreement import AC1, ALPHA, COHEN, FLEISS, RAW
from hardset.metrics.panel import TRUE_SHARE
from hardset.metrics.verbosity import VERBOSITY
from hardset.metrics.votes import Votes
from hardset.records import Metric
from hardset.reports.numbers import fraction, interval, percent

COEFFICIENTS = (
    RAW,
    COHEN,
    FLEISS,
    AC1,
    f"{ALPHA} (nominal)",
    f"{ALPHA} (ordinal)",
    f"{ALPHA} (interval)",
)
"""In the order of the figure."""
_ALPHAS = COEFFICIENTS[4:]
_RELIABLE, _TENTATIVE = 0.8, 0.667  # Krippendorff 2004, "Content Analysis", section 11.4
_SKEWED = 0.8  # share of one verdict from which on kappa's paradox is worth saying
_APART = 0.15  # and by how much AC1 is then above kappa


@dataclass(frozen=True)
class Line:
    """A coefficient in the figure: a dot at `at`, a whisker from `low` to `high`."""

    name: str
    about: str
    value: str
    detail: str  # interval and rows; or why it is undefined
    at: str
    low: str
    high: str


def line(name: str, metric: Metric) -> Line:
    """Place a coefficient on a track from 0 to 1; what is below 0 stays at its end."""
    undefined = metric.value is None
    rows = "row" if metric.denominator == 1 else "rows"
    of = fraction(metric) if metric.unit == "" else f"{fraction(metric)} {rows}"
    return Line(
        name=name,
        about=metric.about,
        value=percent(metric.value, metric.unit),
        detail=metric.method.removeprefix("undefined: ") or "no row has two votes"
        if undefined
        else " · ".join(part for part in (interval(metric), of) if part),
        at=_place(metric.value),
        low=_place(metric.low),
        high=_place(metric.high),
    )


def readings(votes: Votes, found: Mapping[str, Metric]) -> list[str]:
    """Say in a line each what the figures of one key mean, and what they do not.

    Args:
        votes: on the key.
        found: the panel's metrics by name.
    """
    said = []
    if len(votes.judges) == 1:
        said.append(
            "One judge: there is none to agree with. How steady it is, --judge-check shows."
        )
    raw = found.get(RAW)
    if raw is not None and raw.value is not None:
        said.append(f"Two votes on one row are the same in {percent(raw.value)} of all cases.")
    said += _beyond_chance(votes, found)
    if votes.cascade and len(votes.judges) > 1:
        said.append(
            "In a cascade only some rows have several votes: those that the first judge left "
            "open, which are the harder ones, and a sample of those that the rules decided."
        )
    length = found.get(VERBOSITY)
    if length is not None and length.low is not None and length.high is not None:
        said += _by_length(votes, length)
    return said


def _beyond_chance(votes: Votes, found: Mapping[str, Metric]) -> list[str]:
    kappa = found.get(COHEN) or found.get(FLEISS)
    ac1 = found.get(AC1)
    if kappa is None:
        return []
    if kappa.value is None:
        known = "; AC1 is not" if ac1 is not None and ac1.value is not None else ""
        return [f"Kappa and alpha are {kappa.method}{known}."]
    said = []
    share = found.get(TRUE_SHARE)
    most = max(share.value, 1 - share.value) if share and share.value is not None else 0.0
    if most >= _SKEWED and ac1 and ac1.value is not None and ac1.value - kappa.value > _APART:
        verdict = "TRUE" if share and (share.value or 0) > 0.5 else "FALSE"
        said.append(
            f"{percent(most)} of the verdicts are {verdict}. With so few of the other kind kappa "
            "and alpha are low even where judges agree (kappa's paradox): read AC1 beside them."
        )
    alpha = next((found[name] for name in reversed(_ALPHAS) if name in found), None)
    if alpha is not None and alpha.low is not None and alpha.high is not None:
        said.append(_krippendorff(alpha.low, alpha.high))
    return said


def _krippendorff(low: float, high: float) -> str:
    if low >= _RELIABLE:
        return "Alpha lies above 0.8, which Krippendorff asks of data to rest conclusions on."
    if high < _TENTATIVE:
        return "Alpha lies below 0.667, Krippendorff's least for even tentative conclusions."
    if low >= _TENTATIVE:
        return "Alpha lies above 0.667, Krippendorff's least; that it reaches 0.8 is not shown."
    return "That alpha reaches 0.667, Krippendorff's least for tentative conclusions, is not shown."


def _by_length(votes: Votes, length: Metric) -> list[str]:
    """Say whether longer replies fare better; that may be as it should."""
    if length.low is None or length.high is None or length.low <= 0 <= length.high:
        return []
    more = "more" if (length.value or 0) > 0 else "less"
    what = "are graded higher" if more == "more" else "are graded lower"
    if votes.scale == "binary":
        what = f"get TRUE {more} often"
    look = ": look for a judge that is unlike the others" if len(votes.judges) > 2 else ""
    return [
        f"Longer replies {what} (rank correlation {percent(length.value, length.unit)}). That is "
        f"no bias where length and truth go together{look}."
    ]


def _place(value: float | None) -> str:
    return "" if value is None else f"{100 * min(1.0, max(0.0, value)):.2f}%"
