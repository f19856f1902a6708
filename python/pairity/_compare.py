"""Every method that applies, on the same rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import _columns, _engine
from ._estimators import Document, FairRanker, FairRegressor


class Comparison(Document):
    """The document ``pairity.compare/1``: methods, best first, with what is expected of them on the test part."""

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
    examples, features, prepared = estimator._prepared(
        X, y, groups, protected, queries, weights, test_fraction, confidence
    )
    return Comparison(*_engine.compare(examples, features, _columns.texts(methods), prepared))
