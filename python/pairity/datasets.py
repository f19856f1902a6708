"""Simulated data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _engine


@dataclass(frozen=True)
class Dataset:
    """Rows to rank: features, labels, and the group and the query of each."""

    features: NDArray[np.float64]
    """One row for each example."""
    labels: NDArray[np.float64]
    """Higher labels should score higher."""
    groups: NDArray[np.uint32]
    """The group of each row."""
    queries: NDArray[np.uint32]
    """The query of each row."""

    @property
    def X(self) -> NDArray[np.float64]:
        """The features."""
        return self.features

    @property
    def y(self) -> NDArray[np.float64]:
        """The labels."""
        return self.labels

    def __len__(self) -> int:
        return len(self.labels)

    def with_group(self) -> NDArray[np.float64]:
        """The features, and the group as one more."""
        return np.column_stack([self.features, self.groups])

    def split(self, share: float = 0.5) -> tuple[Dataset, Dataset]:
        """The first queries, and the others.

        >>> first, second = simulated(10).split(0.5)
        >>> len(first), int(second.queries[0])
        (55, 5)
        """
        queries = np.unique(self.queries)
        first = self.queries < queries[min(round(share * len(queries)), len(queries) - 1)]
        return self.select(first), self.select(~first)

    def select(self, rows: Any) -> Dataset:
        """Some of the rows."""
        return Dataset(self.features[rows], self.labels[rows], self.groups[rows], self.queries[rows])

    def to_frame(self) -> Any:
        """The rows as a data frame of pandas."""
        import pandas

        columns = {f"x{place + 1}": self.features[:, place] for place in range(self.features.shape[1])}
        return pandas.DataFrame(
            columns | {"label": self.labels, "group": self.groups, "query": self.queries}
        )


def simulated(queries: int = 5000, groups: int = 2, seed: int = 0, as_printed: bool = False) -> Dataset:
    """The simulated ranking task of Narasimhan et al. (2020), with two groups or three.

    Each query has eleven candidates, of which one is positive. Group 1 is rare and harder to rank. The same
    seed gives the same rows, here, in Rust and on the command line. ``as_printed`` takes the means that the
    paper prints, which its own results contradict.

    >>> rows = simulated(100, seed=7)
    >>> rows.features.shape, int(rows.labels.sum())
    ((1100, 2), -900)
    """
    return Dataset(*_engine.simulated(queries, groups, seed, as_printed))
