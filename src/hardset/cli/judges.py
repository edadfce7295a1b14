"""The flags about judges that `run` and `score` share, and the panel they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from hardset.cli.given import Checked, prices
from hardset.errors import UsageError
from hardset.streams import tell

if TYPE_CHECKING:
    from hardset.ask import Limits
    from hardset.benchmarks.declaration import Benchmark
    from hardset.judging import Estimate, Judge, Panel

_GROUP = Group("Judges", sort_key=3)


def _flag(said: str) -> Parameter:
    return Parameter(group=_GROUP, negative="", help=said, show_default=False)


@Parameter(name="*", group=_GROUP)
@dataclass(kw_only=True)
class JudgeFlags:
    """Who judges the replies, if anyone, and how; the helps say what each is."""

    judge: Annotated[
        list[str],
        _flag(
            "A model that also judges every reply by the benchmark's rubrics, as often as you "
            "like: more than one make a panel, whose majority (or mean grade) counts."
        ),
    ] = field(default_factory=list)
    judge_base_url: Annotated[
        list[str],
        _flag("Like `--base-url`, for the judges: one for all, or one for each, in their order."),
    ] = field(default_factory=list)
    judge_key_env: Annotated[
        list[str],
        _flag("Like `--key-env`, for the judges: one for all, or one for each."),
    ] = field(default_factory=list)
    judge_price: Annotated[
        list[str],
        _flag(
            "Dollars a million tokens, in and out (`2.50,10`), for the estimate: one for all or "
            "for each."
        ),
    ] = field(default_factory=list)
    judge_budget: Annotated[
        str | None,
        _flag(
            "Stop cleanly before all judges together spend more: `200000` (tokens) or `$5` (needs "
            "--judge-price). If not given, `run` holds the judges to its own --budget."
        ),
    ] = None
    judge_blind: Annotated[
        bool,
        _flag("Send the judges no pictures, though they take some and a rubric shows them."),
    ] = False
    judge_check: Annotated[
        int,
        _flag(
            "Ask every judge twice more about so many rows of each rubric: again, and with "
            "everything in the opposite order; the report says how often the verdict changed."
        ),
    ] = 0
    rubric: Annotated[
        list[str],
        _flag(
            "A rubric of yours (a .toml file, or the name of a packaged one) in place of the "
            "benchmark's of the same name, or besides."
        ),
    ] = field(default_factory=list)
    cascade: Annotated[
        bool,
        _flag(
            "Have the rules decide what they are sure of, the cheapest judge the next, and only "
            "put the rest before all judges."
        ),
    ] = False
    allow_overlap: Annotated[
        bool,
        _flag(
            "Go on though one family of models is evaluated and judges, or made the data: the "
            "report then says so first."
        ),
    ] = False
    family: Annotated[
        list[str],
        _flag("`MODEL=FAMILY` for a model whose name does not tell its family (`my-vlm=Qwen`)."),
    ] = field(default_factory=list)

    @property
    def families(self) -> Mapping[str, str]:
        """The families that are said of models."""
        found: dict[str, str] = {}
        for pair in self.family:
            model, sign, family = pair.rpartition("=")
            if not sign or not model or not family:
                raise UsageError(f"--family takes MODEL=FAMILY, not {pair!r}")
            if found.get(model, family) != family:
                raise UsageError(
                    f"--family is given twice for {model}, as {found[model]} and as {family}: "
                    f"leave one out, or, if it is of both, say --family {model}="
                    f"{found[model]},{family}"
                )
            found[model] = family
        return found

    def panel(self, benchmark: Benchmark) -> Panel | None:
        """Make the panel, and see that each judge can be asked and has something to judge."""
        if not self.judge:
            self._nothing_without_a_judge()
            return None
        from hardset.consulting import panel_of
        from hardset.judging import Panel, load

        if self.judge_check < 0:
            raise UsageError("--judge-check takes a number of rows, 0 or more")
        if not benchmark.rubrics and not self.rubric:
            raise UsageError(
                f"{benchmark.name} has no rubrics for a judge: give one with --rubric, or leave "
                "--judge out"
            )
        panel = Panel(
            judges=self._judges(),
            rubrics=[load(name) for name in self.rubric],
            check=self.judge_check,
            cascade=self.cascade,
        )
        whole = panel_of(benchmark, panel)
        for each in panel.judges:
            if isinstance(each.model, Checked):
                each.model.check()
        return whole

    def limits(self, limits: Limits) -> Limits:
        """Lay the judges' own budget over the limits of a run."""
        from dataclasses import replace

        from hardset.ask import Budget

        if self.judge_budget is None:
            return limits
        if self.judge_budget.strip().startswith("$") and not self.judge_price:
            raise UsageError("a --judge-budget in dollars needs a --judge-price: 2.50,10")
        price = prices(self.judge_price[0], "--judge-price") if self.judge_price else None
        return replace(limits, budget=Budget.parse(self.judge_budget, price))

    def see_families(self, evaluated: Sequence[str], panel: Panel | None) -> None:
        """See that every model a family is said of is there."""
        there = [*evaluated, *(each.name for each in panel.judges)] if panel else [*evaluated]
        lost = next((spec for spec in self.families if spec not in there), None)
        if lost is not None:
            raise UsageError(
                f"--family names {lost}, which is none of the models here: {', '.join(there)}"
            )

    def _judges(self) -> list[Judge]:
        from hardset.judging import Judge
        from hardset.models import make_model

        addresses = _each(self.judge_base_url, self.judge, "--judge-base-url")
        keys = _each(self.judge_key_env, self.judge, "--judge-key-env")
        costs = _each(self.judge_price, self.judge, "--judge-price")
        made = []
        for spec, address, key, cost in zip(self.judge, addresses, keys, costs, strict=True):
            if not spec.strip() or not spec.isprintable():
                raise UsageError(f"--judge takes a model, not {spec!r}")
            price = prices(cost, "--judge-price")
            try:
                model = make_model(spec, base_url=address, key_env=key)
            except UsageError as error:
                if "/" in spec or address:
                    raise
                raise UsageError(f"{error}; or say with --judge-base-url where it is") from error
            made.append(Judge(model=model, blind=self.judge_blind, price=price))
        return made

    def _nothing_without_a_judge(self) -> None:
        given = {
            "--judge-base-url": self.judge_base_url,
            "--judge-key-env": self.judge_key_env,
            "--judge-price": self.judge_price,
            "--judge-budget": self.judge_budget,
            "--judge-blind": self.judge_blind,
            "--judge-check": self.judge_check,
            "--rubric": self.rubric,
            "--cascade": self.cascade,
        }
        flags = [flag for flag, value in given.items() if value]
        if flags:
            verb = "goes" if len(flags) == 1 else "go"
            raise UsageError(f"{' and '.join(flags)} {verb} with a --judge")


def announce(estimate: Estimate) -> None:
    """Say before a round of verdicts what it will take."""
    tell(f"judging: {estimate}")


def _each(given: Sequence[str], judges: Sequence[str], flag: str) -> list[str | None]:
    """Give each judge its value: none, the one for all, or its own."""
    if len(given) < 2:
        return [given[0] if given else None] * len(judges)
    if len(given) != len(judges):
        raise UsageError(
            f"{flag} is given {len(given)} times for {len(judges)} judges: once for all, or once "
            "for each, in their order"
        )
    return list(given)
