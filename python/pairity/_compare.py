"""Every method that applies, on the same rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

from . import _columns, _engine, _html
from ._audit import WIDTH, Metric
from ._estimators import FairRanker, FairRegressor, _length, _seed
from ._sklearn import labels


class Comparison(dict[str, Any]):
    """The document ``pairity.compare/1``: methods, best first, with what is expected of them on the test part."""

    def __init__(self, document: dict[str, Any], text: str) -> None:
        super().__init__(document)
        self.text = text

    @property
    def results(self) -> list[dict[str, Any]]:
        """One entry for each method; those that do not apply come last, with a reason."""
        return list(self["results"])

    def to_frame(self) -> Any:
        """The results as a data frame of pandas."""
        import pandas

        def row(result: dict[str, Any]) -> dict[str, Any]:
            test = result["test"] or {"objective": {"value": None}, "violation": None}
            return {
                "objective": test["objective"]["value"],
                "violation": (test["violation"] or {"value": None})["value"],
                "verdict": result.get("verdict"),
                "status": result["status"],
                "components": result["components"],
                "seconds": result["seconds"],
                "dominated": result["dominated"],
                "reason": result["reason"],
            }

        index = pandas.Index([result["method"] for result in self["results"]], name="method")
        return pandas.DataFrame([row(result) for result in self["results"]], index=index)

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self) -> Any:
        return Comparison, (dict(self), self.text)

    def _repr_html_(self) -> str:
        rows = []
        for result in self["results"]:
            if result["test"] is None:
                rows.append([escape(result["method"]), f'<td colspan="3">{escape(result["reason"])}</td>'])
                continue
            test = result["test"]
            violation = Metric.of(test["violation"]) if test["violation"] else None
            cells = [_html.metric(Metric.of(test["objective"])), _html.metric(violation)]
            rows.append([escape(result["method"]), *cells, f"<td>{escape(result['verdict'])}</td>"])
        head = ["", escape(self["objective"]), "violation", "verdict"]
        return _html.table(f"Methods on the {self['part']} part", head, rows)


def compare(
    X: Any,
    y: Any,
    groups: Any = None,
    protected: Any = None,
    queries: Any = None,
    weights: Any = None,
    *,
    maximize: str = "auc",
    minimize: str | None = None,
    subject_to: str | Iterable[str] | None = None,
    methods: str | Iterable[str] = (),
    validation_fraction: float = 0.25,
    test_fraction: float = 0.25,
    confidence: float = 0.95,
    random_state: Any = None,
    **settings: Any,
) -> Comparison:
    """Trains every method (or some) on one split of the rows, and measures them on the test part.

    Other settings are those of :class:`pairity.FairRanker`.

    >>> import pairity
    >>> rows = pairity.datasets.simulated(400, seed=1)
    >>> found = pairity.compare(rows.X, rows.y, rows.groups, queries=rows.queries, iterations=200, step_sizes=[0.1],
    ...                         methods=["unconstrained", "constrained", "group-offset"])
    >>> sorted(result["method"] for result in found.results)
    ['constrained', 'group-offset', 'unconstrained']
    """
    shared = {
        "subject_to": subject_to,
        "validation_fraction": validation_fraction,
        "random_state": random_state,
        **settings,
    }
    estimator: FairRanker | FairRegressor
    estimator = FairRanker(maximize, **shared) if minimize is None else FairRegressor(minimize, **shared)
    features = estimator._features(X, reset=True, protected=protected)
    target = labels(estimator, y, _length(features))
    seed = _seed(random_state)
    options = estimator._options(groups, protected) | {
        "seed": seed,
        "test": float(test_fraction),
        "group_aware": estimator._aware(),
        "group_columns": [name for name, _ in _columns.named_groups(groups)],
    }
    examples = _columns.examples(target, groups, protected, queries, weights)
    how = _columns.measuring(average=estimator.average, confidence=confidence, seed=seed)
    document, text = _engine.compare(examples, features, _columns.texts(methods), options, how, WIDTH)
    return Comparison(json.loads(document), text)
