"""The durable ask: every model call in the program goes through it."""

from hardset.ask.asked import INTERRUPTED, Asked, Limits, Tally
from hardset.ask.attempt import Model
from hardset.ask.budget import Budget
from hardset.ask.engine import ask
from hardset.ask.key import prompt_key
from hardset.ask.store import Store, StoreError

__all__ = [
    "INTERRUPTED",
    "Asked",
    "Budget",
    "Limits",
    "Model",
    "Store",
    "StoreError",
    "Tally",
    "ask",
    "prompt_key",
]
