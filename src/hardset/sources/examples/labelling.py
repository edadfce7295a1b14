"""Labels as they stand in files, made into numbers with names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardset.errors import UsageError
from hardset.lowresource.examples import NO_LABEL

if TYPE_CHECKING:
    import polars as pl

_FEW = 100  # rows, among which no conclusion is drawn from how many differ
_MOST = 2**63
_NUMERAL = re.compile(r"-?[0-9]{1,18}")


class NoLabelsError(UsageError):
    """No row has a label, as in a test set whose labels are kept back."""


class Labelled(NamedTuple):
    """The labels of a set: numbers, their names, and what is to be said of them."""

    labels: NDArray[Any]
    classes: tuple[str, ...]
    notes: tuple[str, ...]


def labelled(
    cells: pl.Series | Sequence[Any],
    where: object,
    *,
    classes: Sequence[str] | None = None,
    numbers: bool = False,
) -> Labelled:
    """Make labels of cells.

    Texts become classes in sorted order. Whole numbers are classes by value, in numerical order:
    where they are 0 to n-1 the number stays what it is. Real numbers stay real (regression).
    Empty cells, nulls and -1 (which the hub's test sets have) are no label.

    Args:
        cells: one a row: texts, whole numbers, truth values or real numbers, or null.
        where: file and column, for errors.
        classes: the names, if they are known. Texts must be among them; a whole number is a
            name, where they are all numerals, and else a position. Empty for real numbers.
        numbers: whole numbers are positions among `classes`, whatever these are called.

    Raises:
        UsageError: no row has a label, one is none of `classes`, or they are no labels.
    """
    import polars as pl

    values = cells if isinstance(cells, pl.Series) else _series(cells, where)
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    if values.dtype == pl.Boolean:
        values = values.replace_strict({True: "true", False: "false"}, return_dtype=pl.String)
    if values.dtype == pl.String:
        values = _plain(values)
    if values.dtype.is_float():
        values = values.set(~values.is_finite(), None)
        whole = values.drop_nulls()
        if classes != () and len(whole) and bool((whole == whole.round()).all()):
            values = _whole_numbers(values, where)  # whole numbers that a null made real
    if values.null_count() == len(values):
        raise NoLabelsError(f"{where}: none of its {len(values):,} rows has a label")
    if classes == () or (values.dtype.is_float() and classes is None):
        return _real(values, where)
    if values.dtype.is_integer():
        return _whole(_whole_numbers(values, where), where, classes, numbers)
    if values.dtype != pl.String:
        raise UsageError(
            f"{where} holds {_kind(values)}, and labels are texts or numbers: "
            "is another column the label?"
        )
    return _named(values, where, classes)


def _series(cells: Sequence[Any], where: object) -> pl.Series:
    import polars as pl

    kinds = {type(cell) for cell in cells} - {type(None)}
    if kinds <= {bool}:
        return pl.Series(cells, dtype=pl.Boolean)
    if kinds <= {int, float, bool}:
        for cell in cells:
            if isinstance(cell, int) and not -_MOST <= cell < _MOST:
                raise UsageError(
                    _too_large(f"{cell:#x}" if abs(cell) > 10**30 else str(cell), where)
                )
    if kinds <= {int, bool}:
        return pl.Series([None if cell is None else int(cell) for cell in cells], dtype=pl.Int64)
    if kinds <= {int, float, bool}:
        return pl.Series(
            [None if cell is None else float(cell) for cell in cells], dtype=pl.Float64
        )
    if not kinds <= {str, int, float, bool}:
        odd = next(kind for kind in kinds if kind not in (str, int, float, bool))
        raise UsageError(
            f"{where} holds values of type {odd.__name__}: labels are texts or numbers"
        )
    return pl.Series([None if cell is None else _text(cell) for cell in cells], dtype=pl.String)


def _text(cell: Any) -> str:
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


def _whole_numbers(values: pl.Series, where: object) -> pl.Series:
    import polars as pl

    found = values.cast(pl.Int64, strict=False)
    odd = values.filter(found.is_null() & values.is_not_null())
    if len(odd):
        raise UsageError(_too_large(str(odd[0]), where))
    return found


def _too_large(value: str, where: object) -> str:
    short = value if len(value) <= 30 else f"{value[:30]}..."
    return f"{where} holds {short}, too large for a class's number: is another column the label?"


def _plain(values: pl.Series) -> pl.Series:
    """Take blanks off texts, and make numbers of them where all are numbers."""
    import polars as pl

    values = values.str.strip_chars()
    values = values.set(values == "", None)
    for kind in (pl.Int64, pl.Float64):
        try:
            return values.cast(kind)
        except pl.exceptions.InvalidOperationError:
            continue
    return values


def _real(values: pl.Series, where: object) -> Labelled:
    import polars as pl

    if not values.dtype.is_numeric():
        raise UsageError(f"{where} holds {_kind(values)}, and real numbers were asked for")
    labels = values.cast(pl.Float64).fill_null(float("nan")).to_numpy().copy()
    labels[~np.isfinite(labels)] = np.nan
    return Labelled(labels, (), _missing(int(np.isnan(labels).sum()), len(labels)))


def _whole(
    values: pl.Series, where: object, classes: Sequence[str] | None, numbers: bool
) -> Labelled:
    values = values.set(values == NO_LABEL, None)
    there: list[int] = values.drop_nulls().unique().sort().to_list()
    if not there:
        raise NoLabelsError(f"{where}: none of its {len(values):,} rows has a label")
    if classes is None:
        _few_enough(len(there), values, where)
        classes = [str(value) for value in there]
        number = {value: position for position, value in enumerate(there)}
    elif not numbers and all(map(_NUMERAL.fullmatch, classes)):
        number = {int(name): position for position, name in enumerate(classes)}
    else:
        number = dict(enumerate(range(len(classes))))
    odd = [value for value in there if value not in number]
    if odd:
        first = int((values == odd[0]).arg_max() or 0)
        raise UsageError(
            f"{where}, row {first + 1}: label {odd[0]} has no name: there are {len(classes)} "
            f"classes ({_few(classes)})" + (f"; {len(odd)} such labels in all" if odd[1:] else "")
        )
    return _done(values, {value: number[value] for value in there}, classes)


def _named(values: pl.Series, where: object, classes: Sequence[str] | None) -> Labelled:
    there: list[str] = values.drop_nulls().unique().sort().to_list()
    if classes is None:
        _few_enough(len(there), values, where)
        classes = there
    number = {name: position for position, name in enumerate(classes)}
    odd = [name for name in there if name not in number]
    if odd:
        raise UsageError(
            f"{where}: {len(odd)} of its labels are none of the {len(classes)} classes "
            f"({_few(classes)}), the first: {_few(odd)}"
        )
    return _done(values, {name: number[name] for name in there}, classes)


def _done(values: pl.Series, number: dict[Any, int], classes: Sequence[str]) -> Labelled:
    import polars as pl

    found = values.replace_strict(number, default=None, return_dtype=pl.Int64)
    labels = found.fill_null(NO_LABEL).to_numpy().copy()
    notes = _missing(int((labels == NO_LABEL).sum()), len(labels))
    if len(number) == 1:
        (only,) = number.values()
        notes += (f"every label is {classes[only]!r}: there is one class only",)
    return Labelled(labels, tuple(classes), notes)


def _few_enough(different: int, values: pl.Series, where: object) -> None:
    if len(values) >= _FEW and 2 * different > len(values):
        raise UsageError(
            f"{where} holds {different:,} different values in {len(values):,} rows: "
            "that is no label; name the label's column (--label)"
        )


def _missing(count: int, n: int) -> tuple[str, ...]:
    return (f"{count:,} of {n:,} rows have no label",) if count else ()


def _few(names: Sequence[str]) -> str:
    return ", ".join(map(str, names[:3])) + (", ..." if len(names) > 3 else "")


def _kind(values: pl.Series) -> str:
    import polars as pl

    return "texts" if values.dtype == pl.String else f"values of type {values.dtype}"
