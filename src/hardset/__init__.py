"""hardset builds, runs and scores hard sets for vision-language models.

    import hardset

    scenes = hardset.make_benchmark("scenes", n=50)
    run = hardset.evaluate(scenes, hardset.make_model("local/scout"))
    run.metrics[0].value, run.outcomes

Every name below is imported when it is first used, so that `import hardset` costs nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False  # type checkers know the name; importing it would double the import's time
if TYPE_CHECKING:
    from typing import Any

    from hardset.ask import Budget as Budget
    from hardset.ask import Limits as Limits
    from hardset.benchmarks.declaration import Benchmark as Benchmark
    from hardset.benchmarks.registry import make as make_benchmark
    from hardset.comparing import compare as compare
    from hardset.comparing import write_comparison as write_comparison
    from hardset.errors import UsageError as UsageError
    from hardset.hardest.calls import difficulty as difficulty
    from hardset.hardest.calls import learn as learn
    from hardset.hardest.pick import pick_set as pick_set
    from hardset.judging import Judge as Judge
    from hardset.judging import Panel as Panel
    from hardset.lowresource.examples import Held as Held
    from hardset.models import make_model as make_model
    from hardset.run import Settings as Settings
    from hardset.run import evaluate as evaluate
    from hardset.run import write_report as write_report
    from hardset.scoring import score as score
    from hardset.sources.examples.opening import open_examples as open_examples
    from hardset.validating import draw_sheet as draw_sheet
    from hardset.validating import validate as validate

_LAZY = {
    "Benchmark": "hardset.benchmarks.declaration:Benchmark",
    "Budget": "hardset.ask:Budget",
    "Held": "hardset.lowresource.examples:Held",
    "Judge": "hardset.judging:Judge",
    "Limits": "hardset.ask:Limits",
    "Panel": "hardset.judging:Panel",
    "Settings": "hardset.run:Settings",
    "UsageError": "hardset.errors:UsageError",
    "compare": "hardset.comparing:compare",
    "difficulty": "hardset.hardest.calls:difficulty",
    "draw_sheet": "hardset.validating:draw_sheet",
    "evaluate": "hardset.run:evaluate",
    "learn": "hardset.hardest.calls:learn",
    "make_benchmark": "hardset.benchmarks.registry:make",
    "make_model": "hardset.models:make_model",
    "open_examples": "hardset.sources.examples.opening:open_examples",
    "pick_set": "hardset.hardest.pick:pick_set",
    "score": "hardset.scoring:score",
    "validate": "hardset.validating:validate",
    "write_comparison": "hardset.comparing:write_comparison",
    "write_report": "hardset.run:write_report",
}

__all__ = [
    "Benchmark",
    "Budget",
    "Held",
    "Judge",
    "Limits",
    "Panel",
    "Settings",
    "UsageError",
    "__version__",
    "compare",
    "difficulty",
    "draw_sheet",
    "evaluate",
    "learn",
    "make_benchmark",
    "make_model",
    "open_examples",
    "pick_set",
    "score",
    "validate",
    "write_comparison",
    "write_report",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'hardset' has no attribute {name!r}")
    from importlib import import_module

    module, _, attribute = _LAZY[name].partition(":")
    return getattr(import_module(module), attribute)
