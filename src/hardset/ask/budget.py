"""A limit on what a run may spend, in tokens or in dollars at prices the user gives."""

from __future__ import annotations

import math
import re
from typing import Self

import msgspec
from msgspec import Struct

from hardset.errors import UsageError


class Budget(Struct, frozen=True, kw_only=True):
    """What replies asked now may cost together; stored ones are free.

    Give either `tokens` (in and out together), or `dollars` with the prices of a million tokens.

    Raises:
        UsageError: neither or both are given, a limit is not above 0, or a price is missing.
    """

    tokens: int | None = None
    dollars: float | None = None
    price_in: float | None = None  # dollars for a million tokens sent
    price_out: float | None = None  # dollars for a million tokens received

    def __post_init__(self) -> None:
        limit = self.tokens if self.dollars is None else self.dollars
        if limit is None or (self.tokens is not None and self.dollars is not None):
            raise UsageError("A budget is in tokens or in dollars: give one of the two.")
        if not 0 < limit < math.inf:
            raise UsageError(f"A budget must be a number above 0, and {limit:g} is not.")
        prices = (self.price_in, self.price_out)
        if self.dollars is not None and not all(p is not None and p >= 0 for p in prices):
            raise UsageError(
                "A budget in dollars needs two prices, of a million tokens sent and of a million "
                "received, both 0 or more: --price 2.50,10."
            )

    @classmethod
    def parse(cls, text: str, prices: tuple[float, float] | None = None) -> Self:
        """Read a budget as it is written on a command line: `50000`, `200k`, `1.5M` or `$2.50`.

        Args:
            text: the budget. `k` is a thousand tokens and `M` a million.
            prices: dollars for a million tokens sent, and for a million received.

        Raises:
            UsageError: the text is none of these, or dollars come without prices.
        """
        match = re.fullmatch(r"(\$?)(\d[\d_,]*(?:\.\d+)?|\.\d+)([kKmM]?)", text.strip(), re.ASCII)
        if match is None or (match[1] and match[3]) or len(text) > 30:
            raise UsageError(
                f"The budget {text!r} is not a number of tokens (50000, 200k, 1.5M) "
                "or of dollars ($2.50)."
            )
        amount = float(re.sub("[_,]", "", match[2]))
        if match[1]:
            price_in, price_out = prices if prices is not None else (None, None)
            return cls(dollars=amount, price_in=price_in, price_out=price_out)
        return cls(tokens=round(amount * {"": 1, "k": 1e3, "m": 1e6}[match[3].lower()]))

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Say what that many tokens cost, in the budget's unit."""
        if self.dollars is None:
            return tokens_in + tokens_out
        return (tokens_in * (self.price_in or 0) + tokens_out * (self.price_out or 0)) / 1e6

    def less(self, spent: float) -> Self | None:
        """Give what is left when so much is spent, in the budget's unit; None for nothing."""
        left = self.limit - spent
        if left <= 0 or (self.dollars is None and left < 1):
            return None
        name, value = ("tokens", int(left)) if self.dollars is None else ("dollars", left)
        return msgspec.structs.replace(self, **{name: value})

    @property
    def limit(self) -> float:
        """The most that may be spent, in the budget's unit."""
        return self.tokens or 0 if self.dollars is None else self.dollars

    def __str__(self) -> str:
        if self.dollars is None:
            return f"{self.tokens:,} tokens"
        return f"${self.dollars:,.2f}" if self.dollars >= 0.01 else f"${self.dollars:.2g}"


class Purse:
    """What one run has spent of its budget, and whether another request may start.

    A request in flight is taken to cost the mean of those that came back, so on average a run
    ends at its budget; it is past it by at most what was in flight.
    """

    def __init__(self, budget: Budget | None) -> None:
        self.budget = budget
        self.spent = 0.0
        self._priced = 0  # requests whose cost is known

    def pay(self, tokens_in: int, tokens_out: int, *, replied: bool) -> str | None:
        """Count a request that came back.

        Args:
            tokens_in: as the endpoint says; 0 where it does not.
            tokens_out: the same, received.
            replied: whether it is a reply; a failure may well cost nothing.

        Returns:
            Why the budget cannot be kept from here on, or None.
        """
        if self.budget is None:
            return None
        if tokens_in or tokens_out:
            self.spent += self.budget.cost(tokens_in, tokens_out)
            self._priced += 1
        elif replied:
            return (
                f"the endpoint does not say how many tokens a reply took, so the budget of "
                f"{self.budget} cannot be kept"
            )
        return None

    def refusal(self, in_flight: int) -> str | None:
        """Say why no further request may start while `in_flight` are out, or None."""
        if self.budget is None:
            return None
        mean = self.spent / self._priced if self._priced else 0.0
        # Rounding in sums of dollars must not forbid the last request of an exact budget.
        if self.spent + (in_flight + 1) * mean > self.budget.limit * (1 + 1e-9):
            return f"the budget of {self.budget} was reached"
        return None
