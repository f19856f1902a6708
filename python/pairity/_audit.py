"""Audits: every metric of a scored table, with intervals."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import _columns, _engine


@dataclass(frozen=True, slots=True)
class Metric:
    """A number with its interval, or the reason why there is none.

    >>> float(Metric(0.91, 0.90, 0.92, 1234))
    0.91
    """

    value: float | None
    """The estimate."""
    low: float | None = None
    """The interval's lower end."""
    high: float | None = None
    """The interval's upper end."""
    pairs: int = 0
    """Number of pairs it is made from (of examples, for the mean squared error)."""
    reason: str | None = None
    """Why the value or its interval can't be estimated."""
    few: str | None = None
    """Which group of few rows, or queries, decides it: said of criteria and checks."""

    @classmethod
    def of(cls, document: dict[str, Any]) -> Metric:
        """The metric of a JSON document."""
        return cls(
            document["value"],
            document["low"],
            document["high"],
            int(document["pairs"]),
            document.get("reason"),
            document.get("few"),
        )

    def __float__(self) -> float:
        return float("nan") if self.value is None else self.value

    def __str__(self) -> str:
        if self.value is None:
            return f"not estimable: {self.reason}"
        if self.low is None or self.high is None:
            return f"{self.value:.4f}"
        return f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True, slots=True)
class Check:
    """A constraint held against the data."""

    expression: str
    """The constraint as it was written."""
    metric: Metric
    """Its left side, with all rates on it."""
    bound: float
    """Its right side."""
    verdict: str
    """``pass``, ``fail``, ``undecided`` or ``not_estimable``."""
    confidence: float
    """That of its own interval: higher than asked for if there are several checks, so that all hold together."""


class Audit:
    """Everything that can be said about a scored table: the document ``pairity.audit/1`` as attributes.

    >>> import pairity
    >>> audit = pairity.audit([0.3, 0.1, 0.2, 0.4], [0, 0, 1, 1], groups=["a", "b", "a", "b"])
    >>> audit.groups
    ['a', 'b']
    >>> print(audit.auc.value, audit.auc.pairs)
    0.75 4
    >>> audit["A[b > a]"].value
    1.0
    """

    rows: int
    """Number of examples."""
    queries: int
    """Number of queries; 1 without queries."""
    average: str
    ties: str
    confidence: float
    auc: Metric
    """Accuracy over all pairs."""
    mse: Metric | None
    """Mean squared error, where there are labels."""
    groups: list[str]
    """Names of the groups."""
    accuracy: list[list[Metric]]
    """``A[row > column]``."""
    row_marginals: list[Metric]
    """``A[group > *]``."""
    column_marginals: list[Metric]
    """``A[* > group]``."""
    parity: list[list[Metric | None]]
    """``P[row > column]``, nothing on the diagonal."""
    symmetric: list[Metric]
    """``S[group]``."""
    continuous: dict[str, Metric] | None
    """``greater``, ``less``, ``parity_greater`` and ``parity_less``, with a continuous attribute."""
    gaps: dict[str, Metric]
    """Every named criterion."""
    checks: list[Check]
    """The checks asked for."""

    def __init__(self, document: dict[str, Any], view: _engine.View) -> None:
        self._document = document
        self._view = view
        for name in document.keys() - {"schema", "notes", "checks"}:
            setattr(self, name, _metrics(document[name]))
        self.checks = [
            Check(entry["expression"], Metric.of(entry), entry["bound"], entry["verdict"], entry["confidence"])
            for entry in document["checks"]
        ]

    @property
    def passed(self) -> bool:
        """Whether no check fails or can't be estimated."""
        return all(check.verdict in ("pass", "undecided") for check in self.checks)

    def metrics(self) -> dict[str, Metric]:
        """Every metric by the name that goals give it."""
        quoted = [_quoted(name) for name in self.groups]
        found = {"auc": self.auc}
        if self.mse is not None:
            found["mse"] = self.mse
        for row, better in enumerate(quoted):
            for column, worse in enumerate(quoted):
                found[f"A[{better} > {worse}]"] = self.accuracy[row][column]
        for place, name in enumerate(quoted):
            found[f"A[{name} > *]"] = self.row_marginals[place]
            found[f"A[* > {name}]"] = self.column_marginals[place]
            found[f"S[{name}]"] = self.symmetric[place]
        for row, first in enumerate(quoted):
            for column, second in enumerate(quoted):
                cell = self.parity[row][column]
                if cell is not None:
                    found[f"P[{first} > {second}]"] = cell
        if self.continuous is not None:
            found["A[z > z']"] = self.continuous["greater"]
            found["A[z < z']"] = self.continuous["less"]
            found["P[z > z']"] = self.continuous["parity_greater"]
            found["P[z < z']"] = self.continuous["parity_less"]
        return found | self.gaps

    def __getitem__(self, name: str) -> Metric:
        found = self.metrics()
        if name not in found:
            raise KeyError(f"{name!r}; there are {', '.join(found)}")
        return found[name]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document, as the command line writes it."""
        return copy.deepcopy(self._document)

    def to_frame(self, library: str | None = None) -> Any:
        """Every metric as a row of a data frame of pandas, or of polars.

        >>> import pairity
        >>> print(pairity.audit([0.1, 0.2], [0, 1]).to_frame("pandas").loc["auc", "value"])
        1.0
        """
        found = self.metrics()
        columns: dict[str, list[Any]] = {
            "metric": list(found),
            "value": [metric.value for metric in found.values()],
            "low": [metric.low for metric in found.values()],
            "high": [metric.high for metric in found.values()],
            "pairs": [metric.pairs for metric in found.values()],
            "reason": [metric.reason for metric in found.values()],
        }
        if library in (None, "pandas"):
            try:
                import pandas
            except ImportError:
                if library:
                    raise
            else:
                frame = pandas.DataFrame(columns).set_index("metric")
                return frame.astype({"value": float, "low": float, "high": float})
        if library not in (None, "pandas", "polars"):
            raise ValueError(f"library is {library!r}; it has to be 'pandas' or 'polars'")
        try:
            import polars
        except ImportError as error:
            raise ImportError("to_frame needs pandas or polars: pip install pandas") from error
        kinds = {"value": polars.Float64, "low": polars.Float64, "high": polars.Float64, "reason": polars.String}
        return polars.DataFrame(columns, schema_overrides=kinds)

    def plot(self, axes: Any = None) -> Any:
        """Draws the matrix of accuracies and the gaps with their intervals; needs matplotlib.

        ``axes`` are two, for the matrix and the gaps; new ones are made without them.
        """
        from . import _plot

        return _plot.audit(self, axes)

    def __repr__(self) -> str:
        return self._view.text()

    def _repr_html_(self) -> str:
        return self._view.html()


def _metrics(document: Any) -> Any:
    """A part of the document, with its metrics as such."""
    if isinstance(document, list):
        return [_metrics(entry) for entry in document]
    if not isinstance(document, dict):
        return document
    if "pairs" in document:
        return Metric.of(document)
    return {name: _metrics(entry) for name, entry in document.items()}


def _quoted(name: str) -> str:
    """A group as goals write it."""
    plain = name != "" and all(letter.isalnum() or letter in "_-." for letter in name)
    return name if plain else json.dumps(name, ensure_ascii=False)


def audit(
    scores: Any,
    labels: Any = None,
    groups: Any = None,
    protected: Any = None,
    queries: Any = None,
    weights: Any = None,
    average: str = "pairs",
    *,
    checks: str | Iterable[str] = (),
    pair_weight: Any = None,
    within: Any = None,
    pairs_where: tuple[str, Any] | None = None,
    ties: str = "half",
    confidence: float = 0.95,
    min_pairs: int = 1,
    seed: int = 0,
) -> Audit:
    """Measures a scored table: all metrics with confidence intervals.

    Columns are of numpy, pandas, polars or pyarrow, or lists.

    Parameters
    ----------
    scores
        Higher scores rank higher.
    labels
        Higher labels should score higher. Without them only statistical parity is measured.
    groups
        Categorical protected attribute; several columns (a data frame, a list of columns) are intersected.
        A missing value means that the row belongs to no group.
    protected
        Continuous protected attribute, instead of groups.
    queries
        Pairs are formed inside a query; without queries all rows are one. Of several columns (a data frame, a
        list of columns) each combination is a query.
    weights
        Weight of each row.
    average
        ``pairs``: all pairs count alike; ``queries``: all queries do.
    checks
        Constraints to hold against the data, such as ``"cross_group <= 0.05"``.
    pair_weight
        A column whose product at the two rows is what a pair counts, or ``"label-gap"``.
    within
        Only pairs of rows that agree on this column, or on several, count. Queries, or rows without them, stay
        what is independent.
    pairs_where
        Only pairs in which the better row has the higher value of a column count, ``(">", shown)``, or the lower
        one, ``("<", shown)``.
    ties
        What equal scores earn: ``half`` a win, or nothing (``strict``).
    confidence
        Probability that an interval holds the true value.
    min_pairs
        A rate with fewer pairs is not estimated.
    seed
        Of the draws behind simultaneous intervals.

    >>> import pairity
    >>> rows = pairity.datasets.simulated(500, seed=1)
    >>> scores = rows.features.sum(axis=1)
    >>> audit = pairity.audit(scores, rows.labels, rows.groups, queries=rows.queries, checks="cross_group <= 0.1")
    >>> audit.checks[0].verdict
    'fail'
    """
    rows = _columns.examples(labels, groups, protected, queries, weights, pair_weight, within, pairs_where)
    how = _columns.measuring(average, ties, confidence, min_pairs, seed)
    return Audit(*rows.audit(_columns.numbers(scores, "scores"), _columns.texts(checks), how))


def partial_audit(
    scores: Any,
    labels: Any = None,
    groups: Any = None,
    protected: Any = None,
    queries: Any = None,
    weights: Any = None,
    average: str = "pairs",
    *,
    pair_weight: Any = None,
    within: Any = None,
    pairs_where: tuple[str, Any] | None = None,
    ties: str = "half",
) -> str:
    """The audit of some queries of a table, to be merged with those of others: sums over queries, as a text.

    The text is what ``pairity audit --partial`` writes. Parameters are those of :func:`audit`; queries are needed, and
    all rows of one belong into the same part.

    >>> import pairity
    >>> rows = pairity.datasets.simulated(500, seed=1)
    >>> scores, half = rows.features.sum(axis=1), rows.queries < 250
    >>> parts = [
    ...     pairity.partial_audit(scores[part], rows.labels[part], rows.groups[part], queries=rows.queries[part])
    ...     for part in (half, ~half)
    ... ]
    >>> whole = pairity.audit(scores, rows.labels, rows.groups, queries=rows.queries)
    >>> pairity.merge(parts).auc == whole.auc
    True
    """
    rows = _columns.examples(labels, groups, protected, queries, weights, pair_weight, within, pairs_where)
    return rows.partial(_columns.numbers(scores, "scores"), _columns.measuring(average, ties))


def merge(
    parts: Iterable[str],
    *,
    checks: str | Iterable[str] = (),
    confidence: float = 0.95,
    min_pairs: int = 1,
    seed: int = 0,
) -> Audit:
    """One audit of many partial ones, with the same bits as an audit of all rows, in any order.

    Parameters
    ----------
    parts
        Texts of :func:`partial_audit`, or of files of ``pairity audit --partial``. How ties and queries count was settled
        when they were made.
    checks, confidence, min_pairs, seed
        As of :func:`audit`.
    """
    how = _columns.measuring(confidence=confidence, min_pairs=min_pairs, seed=seed)
    return Audit(*_engine.merge(list(parts), _columns.texts(checks), how, None))
