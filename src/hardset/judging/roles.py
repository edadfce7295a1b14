"""Who is who: generator, verifier, judge and evaluated model, and where one family is two of them.

Models of one family share training, and so what they miss: a judge is kinder to its own family's
replies, and a benchmark that a family made or filtered suits that family.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from typing import Any

from hardset.errors import UsageError
from hardset.judging.families import Kin, kin, plain, said_to_be

__all__ = ["ROLES", "Kin", "Roles", "kin"]

ROLES = ("generator", "verifier", "judge", "evaluated")
_DATA = ("generator", "verifier")

# What the later of two roles has to do with the earlier one.
_BETWEEN = {
    ("generator", "verifier"): "{later} verifies what {earlier} generated",
    ("generator", "judge"): "{later} judges replies to what {earlier} generated",
    ("generator", "evaluated"): "{later} is evaluated on what {earlier} generated",
    ("verifier", "judge"): "{later} judges replies to what {earlier} verified",
    ("verifier", "evaluated"): "{later} is evaluated on what {earlier} verified",
    ("judge", "evaluated"): "{earlier} judges {later}",
}
_COUNTS = "no one two three four five six seven eight nine".split()


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which models have which role, by their specs.

    Attributes:
        generator: who made the items.
        verifier: who filtered them.
        judge: the panel.
        evaluated: whose replies are measured.
        said: families that the user says of a model, by its spec ("my-vlm": "qwen"), in place of
            those that its name tells; several have commas between them.

    Raises:
        UsageError: `said` names a family that is not known, or a model that has no role.
    """

    evaluated: tuple[str, ...] = ()
    judge: tuple[str, ...] = ()
    generator: tuple[str, ...] = ()
    verifier: tuple[str, ...] = ()
    said: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        everyone = {spec for _, specs in self._filled() for spec in specs}
        for spec, names in self.said.items():
            said_to_be(spec, names)
            if spec not in everyone:
                raise UsageError(
                    f"the family of {spec} is given, but it has no role here; "
                    f"there are: {', '.join(sorted(everyone)) or 'no models'}"
                )

    def kin(self, spec: str) -> Kin:
        """Say of which families a model is: as the user says, else by its name.

        Names that are in no table, and differ in case or marks alone, are one, as first written.
        """
        found = self._told(spec)
        return found._replace(
            families=frozenset(self._spelling.get(plain(name), name) for name in found.families),
            vendors=frozenset(self._spelling.get(plain(name), name) for name in found.vendors),
        )

    def _told(self, spec: str) -> Kin:
        return said_to_be(spec, self.said[spec]) if spec in self.said else kin(spec)

    @cached_property
    def _spelling(self) -> Mapping[str, str]:
        """Give every family's name by its plain one, as it is first written here."""
        found: dict[str, str] = {}
        for spec in (*self.said, *(spec for _, specs in self._filled() for spec in specs)):
            for name in sorted(self._told(spec).families):
                found.setdefault(plain(name), name)
        return found

    def manifest(self) -> dict[str, list[dict[str, Any]]]:
        """Give each role's models with family, vendor, and whether the family is known.

        Several families, or vendors, of one model have commas between them.
        """
        return {role: [self._entry(spec) for spec in getattr(self, role)] for role in ROLES}

    def overlaps(self) -> list[str]:
        """Say in one sentence each which models of one family, or the same, have two roles."""
        return self._overlaps(self._meetings())

    def of_the_data(self) -> list[str]:
        """Say which of these came with the data: whoever runs it cannot choose otherwise."""
        data = [(role, specs) for role, specs in self._filled() if role in _DATA]
        return self._overlaps(self._meetings(data))

    def _overlaps(self, meetings: Iterator[tuple[str, str, str]]) -> list[str]:
        found = []
        for sentence, earlier, later in meetings:
            shared = self.kin(earlier).families & self.kin(later).families
            if not shared:
                continue
            if earlier == later:
                found.append(f"{sentence}: one model")
            elif self.kin(earlier).known and self.kin(later).known:
                found.append(f"{sentence}: one family, {_listed(shared)}")
            else:
                found.append(f"{sentence}: one model by its name")
        return list(dict.fromkeys(found))

    def warnings(self) -> list[str]:
        """Say what may bias a result without being an overlap.

        One vendor in two roles by different families; a panel, or verifiers, of one vendor; and
        models whose family is not known, where there is something to check them against.
        """
        found = []
        for sentence, earlier, later in self._meetings():
            one, other = self.kin(earlier), self.kin(later)
            shared = one.vendors & other.vendors
            if shared and not one.families & other.families:
                two = "two families of " if one.known and other.known else ""
                found.append(f"{sentence}: {two}one vendor, {_listed(shared)}")
        for role in ("judge", "verifier"):
            found += self._of_one_vendor(role)
        kinned = [
            [spec for spec in specs if self.kin(spec).families] for _, specs in self._filled()
        ]
        if sum(map(bool, kinned)) > 1:
            found += [
                f"the family of {spec} is not known: it was not checked against the others "
                f"(--family {spec}=NAME says it)"
                for spec in dict.fromkeys(spec for specs in kinned for spec in specs)
                if not self.kin(spec).known
            ]
        return list(dict.fromkeys(found))

    def check(self, allow: bool) -> list[str]:
        """Return what the report says first: overlaps, then warnings.

        Args:
            allow: whether one family may judge and be evaluated, or do either to data of its own.

        Raises:
            UsageError: there is such an overlap, and it is not allowed; every one is named. One
                that came with the data (generated and verified by one family) is only said.
        """
        overlaps, given = self.overlaps(), self.of_the_data()
        chosen = [sentence for sentence in overlaps if sentence not in given]
        if chosen and not allow:
            raise UsageError(
                f"{'; '.join(chosen)}. Take a model of another family, or allow it with "
                "--allow-overlap; the report then says so on its first page"
            )
        return [*overlaps, *self.warnings()]

    def _filled(self) -> list[tuple[str, tuple[str, ...]]]:
        return [(role, getattr(self, role)) for role in ROLES if getattr(self, role)]

    def _meetings(
        self, filled: Sequence[tuple[str, tuple[str, ...]]] | None = None
    ) -> Iterator[tuple[str, str, str]]:
        """Yield each two models in different roles, after the sentence that holds them."""
        for (role, earlier), (other, later) in combinations(
            self._filled() if filled is None else filled, 2
        ):
            for one, two in product(earlier, later):
                yield _BETWEEN[role, other].format(earlier=one, later=two), one, two

    def _of_one_vendor(self, role: str) -> list[str]:
        models = tuple(dict.fromkeys(getattr(self, role)))
        if len(models) < 2:
            return []
        shared = frozenset.intersection(*(self.kin(spec).vendors for spec in models))
        if not shared:
            return []
        number = _COUNTS[len(models)] if len(models) < len(_COUNTS) else str(len(models))
        count = "both" if len(models) == 2 else f"all {number}"
        who = " and ".join(f"{name}'s" for name in sorted(shared))
        return [f"{count} {role}s are {who}: their errors are likely to agree"]

    def _entry(self, spec: str) -> dict[str, Any]:
        own = self.kin(spec)
        entry: dict[str, Any] = {
            "model": spec,
            "family": ", ".join(sorted(own.families)),
            "vendor": ", ".join(sorted(own.vendors)),
            "known": own.known,
        }
        return entry | ({"said": True} if spec in self.said else {})


def _listed(names: frozenset[str]) -> str:
    return " and ".join(sorted(names))
