"""Scores of tables that many machines hold, some rows at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _engine
from ._tables import Names, names, parquet


def model(model: Any) -> _engine.Model:
    """A model that was trained here, or one of a file."""
    if isinstance(model, _engine.Model):
        return model
    if isinstance(model, (str, os.PathLike)):
        return _engine.Model(Path(model).read_text())
    return _engine.Model(model.to_json())


@dataclass(frozen=True)
class Scoring:
    """A model, and what it is to write into which columns."""

    model: _engine.Model
    column: str
    query: list[str]
    seed: int | None
    expected: bool
    order: list[str]

    @classmethod
    def of(
        cls,
        given: Any,
        present: Sequence[str],
        column: str = "score",
        query: Names = None,
        seed: int | None = None,
        expected: bool = False,
        order: Names = None,
    ) -> Scoring:
        """As the front ends take it; ``present`` are the columns that the table has."""
        own = model(given)
        found = cls(own, column, own.query_columns(names(query)), seed, expected, names(order))
        for name in found.added:
            if name in present:
                raise ValueError(f"there is a column {name!r} already: choose another name with column")
        for name in [*found.columns, *found.order]:
            if name not in present:
                raise ValueError(f"the model needs the column {name!r}; there are {', '.join(map(repr, present))}")
        if own.ranks and not found.query:
            raise ValueError("the model draws rankings of whole queries: name the columns that tell them apart with query")
        return found

    @property
    def added(self) -> list[str]:
        """The new columns."""
        return [self.column, f"expected_{self.column}"] if self.expected else [self.column]

    @property
    def columns(self) -> list[str]:
        """The columns that it reads, each once."""
        return list(dict.fromkeys([*self.model.columns(), *self.query]))

    @property
    def sorted_by(self) -> list[str]:
        """What the rows of a query are sorted by, where it is ranked: equal scores are ranked in their order."""
        return self.order or self.columns

    def scored(self, table: Any) -> Any:
        """A table of Arrow with its scores."""
        import pyarrow

        scores = _engine.score_table(self.model, parquet(table.select(self.columns)), self.query, self.seed, self.expected)
        for name, column in zip(self.added, scores, strict=False):
            table = table.append_column(name, pyarrow.array(column))
        return table
