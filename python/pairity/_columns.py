"""Columns as the engine wants them, from numpy, pandas, polars, pyarrow or plain lists.

Numbers become contiguous 64-bit arrays, without a copy where they are that already. Categories become
32-bit codes in the order in which their values first appear, as if they were read from a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _engine

Numbers = NDArray[np.float64]
Codes = NDArray[np.uint32]
Category = tuple[Codes, list[str]]

#: The code of a missing value.
MISSING = np.uint32(2**32 - 1)


def library(values: Any) -> str:
    """The package that a value comes from, such as ``pandas``."""
    return type(values).__module__.split(".", 1)[0]


def is_table(values: Any) -> bool:
    """Whether these are named columns."""
    if isinstance(values, Mapping):
        # One of scipy's sparse matrices is a dictionary.
        return library(values) != "scipy"
    kind = type(values).__name__
    return library(values) in ("pandas", "polars", "pyarrow") and kind in (
        "DataFrame",
        "LazyFrame",
        "Table",
        "RecordBatch",
    )


def table_columns(values: Any) -> list[tuple[str, Any]]:
    """The columns of a table by name."""
    if isinstance(values, Mapping):
        return [(str(name), column) for name, column in values.items()]
    if type(values).__name__ == "LazyFrame":
        values = values.collect()
    if library(values) == "pyarrow":
        return list(zip(map(str, values.column_names), values.columns, strict=True))
    if library(values) == "polars":
        return [(column.name, column) for column in values.get_columns()]
    return [(str(name), values.iloc[:, place]) for place, name in enumerate(values.columns)]


def array(values: Any) -> NDArray[Any]:
    """Any column as a numpy array, without a copy where that can be."""
    package = library(values)
    if package == "pyarrow":
        if type(values).__name__ == "ChunkedArray":
            return np.asarray(values.to_numpy())
        return np.asarray(values.to_numpy(zero_copy_only=False))
    if package == "pandas" and hasattr(values, "to_numpy"):
        if is_nullable(values):
            return np.asarray(values.to_numpy(dtype="float64", na_value=np.nan))
        return np.asarray(values.to_numpy())
    if package == "polars" and hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy())
    return np.asarray(values)


def is_nullable(values: Any) -> bool:
    """Whether a pandas column has numbers of its own kind, which know missing values."""
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    return not isinstance(getattr(values, "dtype", None), np.dtype) and kind in "iufb"


def numbers(values: Any, name: str) -> Numbers:
    """One number a row; NaN where one is missing.

    >>> numbers([1, 2], "labels")
    array([1., 2.])
    """
    found = array(values)
    if found.dtype.kind not in "iufb":
        found = _convert(found, name)
    if found.ndim != 1:
        raise ValueError(
            f"{name} has the shape {found.shape}; one number a row is needed: "
            "give one column, such as values[:, 0]"
        )
    return np.ascontiguousarray(found, dtype=np.float64)


def _convert(found: NDArray[Any], name: str) -> Numbers:
    if found.dtype.kind == "O":
        try:
            return found.astype(np.float64)
        except (TypeError, ValueError):
            pass
    example = next((value for value in found.ravel().tolist() if isinstance(value, str)), None)
    kind = f"text, such as {example!r}" if example is not None else f"of type {found.dtype}"
    raise TypeError(f"{name} is {kind}; numbers are needed")


def optional_numbers(values: Any, name: str) -> Numbers | None:
    """Numbers, or nothing."""
    return None if values is None else numbers(values, name)


def text(value: Any) -> str:
    """The text of a value, as a table file would have it; whole numbers have no decimal point."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def category(values: Any, name: str) -> Category:
    """A code for each row and the texts of the codes; missing values have the code :data:`MISSING`.

    >>> codes, names = category(["m", None, "f", "m"], "groups")
    >>> codes.tolist(), names
    ([0, 4294967295, 1, 0], ['m', 'f'])
    """
    if library(values) == "pandas" and hasattr(values, "factorize"):
        codes, levels = values.factorize()
        codes = codes.astype(np.int64)
        codes[codes < 0] = MISSING
        return codes.astype(np.uint32), [text(level) for level in levels]
    listed = _texts(values)
    if listed is None:
        found = array(values)
        if found.ndim != 1:
            raise ValueError(f"{name} has the shape {found.shape}; one value a row is needed")
        if found.dtype.kind == "b":
            codes, levels = _engine.codes_of_integers(found.astype(np.int64))
            return codes, [str(bool(level)) for level in levels]
        if found.dtype.kind == "i" or (found.dtype.kind == "u" and found.dtype.itemsize < 8):
            codes, levels = _engine.codes_of_integers(np.ascontiguousarray(found, dtype=np.int64))
            return codes, [str(level) for level in levels]
        if found.dtype.kind == "f":
            return _category_of_floats(found)
        listed = found.tolist()
    return _engine.codes_of_texts([None if _is_missing(value) else text(value) for value in listed])


def _texts(values: Any) -> list[Any] | None:
    """The values of a column of texts, unless they are numbers."""
    package = library(values)
    if package == "polars" and hasattr(values, "dtype"):
        return None if values.dtype.is_numeric() and not values.null_count() else values.to_list()
    if package == "pyarrow" and hasattr(values, "to_pylist"):
        return None if not values.null_count and array(values).dtype.kind in "iufb" else values.to_pylist()
    if isinstance(values, (list, tuple)):
        return list(values)
    return None


def _category_of_floats(found: NDArray[Any]) -> Category:
    # Adding 0 makes -0 and 0 the same bits.
    values = np.ascontiguousarray(found, dtype=np.float64) + 0.0
    codes, bits = _engine.codes_of_integers(values.view(np.int64))
    levels = np.asarray(bits, dtype=np.int64).view(np.float64)
    codes = codes.copy()
    codes[np.isnan(values)] = MISSING
    return codes, [text(level) for level in levels.tolist()]


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        return not value
    same = value == value  # NaN is not, and pandas.NA can't say.
    return not (isinstance(same, (bool, np.bool_)) and bool(same))


def group_columns(values: Any, name: str = "groups") -> list[Category]:
    """The columns of a protected attribute; several are intersected. None has no columns."""
    if values is None:
        return []
    return [category(column, name) for _, column in named_groups(values)]


def named_groups(values: Any) -> list[tuple[str, Any]]:
    """The columns of a protected attribute by name."""
    if values is None:
        return []
    if is_table(values):
        return table_columns(values)
    if isinstance(values, (list, tuple)) and values and _is_column(values[0]):
        return [(_name(column, place), column) for place, column in enumerate(values)]
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return [(_name(None, place), values[:, place]) for place in range(values.shape[1])]
    return [(_name(values, 0), values)]


def _is_column(value: Any) -> bool:
    return not isinstance(value, (str, bytes)) and (
        isinstance(value, (list, tuple, np.ndarray)) or library(value) in ("pandas", "polars", "pyarrow")
    )


def _name(column: Any, place: int) -> str:
    name = getattr(column, "name", None)
    return str(name) if isinstance(name, str) and name else f"group{place or ''}"


def queries(values: Any, name: str = "queries") -> Category | None:
    """Codes and texts of the queries, or of the combinations of several columns; every row needs one."""
    columns = group_columns(values, name)
    if not columns:
        return None
    codes, names = columns[0] if len(columns) == 1 else _engine.cross(columns)
    missing = np.flatnonzero(codes == MISSING)
    if missing.size:
        raise ValueError(
            f"{name} in row {missing[0] + 1} is missing; every row belongs to a query: drop the row, or give "
            "no queries if all rows are one"
            if name == "queries"
            else f"{name} in row {missing[0] + 1} is missing: drop the row, or give it a value of its own"
        )
    return codes, names


def query_codes(values: Any, name: str = "queries") -> Codes | None:
    """Codes of the queries alone."""
    if isinstance(values, np.ndarray) and values.dtype == np.uint32 and values.ndim == 1:
        if values.flags.c_contiguous and bool(np.all(values[1:] >= values[:-1])):
            return values
    both = queries(values, name)
    return None if both is None else both[0]


def texts(values: str | Iterable[str] | None) -> list[str]:
    """Goals: one text, several, or none."""
    if values is None:
        return []
    return [values] if isinstance(values, str) else list(values)


def examples(
    labels: Any,
    groups: Any = None,
    protected: Any = None,
    queries: Any = None,
    weights: Any = None,
    pair_weight: Any = None,
    within: Any = None,
    pairs_where: tuple[str, Any] | None = None,
) -> _engine.Examples:
    """Rows for the engine."""
    label_gap = isinstance(pair_weight, str)
    if label_gap and pair_weight != "label-gap":
        raise ValueError(f"pair_weight is {pair_weight!r}; give a column of numbers, or 'label-gap'")
    sign, side = (">", None) if pairs_where is None else pairs_where
    if sign not in (">", "<"):
        raise ValueError(f"pairs_where is {pairs_where!r}; give '>' or '<' and a column of numbers, such as ('>', shown)")
    return _engine.Examples(
        optional_numbers(labels, "labels"),
        group_columns(groups),
        optional_numbers(protected, "protected"),
        query_codes(queries),
        query_codes(within, "within"),
        optional_numbers(weights, "weights"),
        None if label_gap else optional_numbers(pair_weight, "pair_weight"),
        label_gap,
        optional_numbers(side, "pairs_where"),
        sign == ">",
    )


def measuring(
    average: str = "pairs",
    ties: str = "half",
    confidence: float = 0.95,
    min_pairs: int = 1,
    seed: int = 0,
) -> _engine.Measuring:
    """How rates are measured, for the engine."""
    return {
        "average": average,
        "ties": ties,
        "confidence": float(confidence),
        "min_pairs": int(min_pairs),
        "seed": int(seed),
    }


