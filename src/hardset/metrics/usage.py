"""What replies took: tokens and money; and which came back with nothing in them."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from hardset.metrics.ratios import Rates, Ratio
from hardset.records import State

Price = tuple[float, float]
"""Dollars for a million tokens sent, and for a million received."""

_SAID = (pl.col("tokens_in") > 0) | (pl.col("tokens_out") > 0)


def usage(outcomes: pl.DataFrame, price: Price | None, reading: str) -> Iterator[Rates]:
    """Declare the mean tokens sent and received for a reply and, at a price, what it cost.

    The means are over the rows whose endpoint said how many tokens there were: rows without a
    reply, and endpoints that say nothing, have no number that could be averaged. Numerators are
    totals. By category; the repeats of an item are together.

    Args:
        outcomes: the outcome rows; where none has a number of tokens, nothing is declared.
        price: see `Price`; None leaves the cost out.
        reading: the reading to file them under: they depend on none.
    """
    said = outcomes.select(_SAID.sum()).item() if "tokens_in" in outcomes.columns else 0
    if not said:
        return
    of = "all replies" if said == outcomes.height else f"the {said:,} replies with a number"
    ratios = [
        _mean(f"tokens {way}", pl.col(f"tokens_{way}"), "tokens", f"tokens {verb}, mean over {of}")
        for way, verb in (("in", "sent with a question"), ("out", "received for one"))
    ]
    if price is not None:
        dollars = (pl.col("tokens_in") * price[0] + pl.col("tokens_out") * price[1]) / 1e6
        about = (
            f"dollars for asking a question once, mean over {of}, at ${price[0]:g} a million "
            f"tokens in and ${price[1]:g} out"
        )
        ratios.append(_mean("cost", dollars, "$", about))
    by = ((), ("category",)) if "category" in outcomes.columns else ((),)
    yield Rates(frame=outcomes, ratios=ratios, cluster=None, by=by, reading=reading)


def empty(name: str = "empty") -> Ratio:
    """Complete replies with nothing in them, over all rows."""
    replied = ~pl.col("state").is_in([state.value for state in _ENDED_OTHERWISE])
    return Ratio(
        name=name,
        top=replied & (pl.col("reply").str.strip_chars() == ""),
        bottom=pl.lit(1),
        better="lower",
        about="replies that ended well with nothing in them / all rows",
    )


_ENDED_OTHERWISE = (
    State.TRUNCATED,
    State.PROVIDER_REFUSED,
    State.BAD_MEDIA,
    State.REQUEST_FAILED,
)


def _mean(name: str, top: pl.Expr, unit: str, about: str) -> Ratio:
    return Ratio(
        name=name,
        top=pl.when(_SAID).then(top).otherwise(0),
        bottom=_SAID,
        better="lower" if unit == "$" else "",
        about=about,
        unit=unit,
    )
