"""A bridge to XGBoost: gradients of a pairwise goal as a custom objective.

>>> import xgboost, pairity
>>> rows = pairity.datasets.simulated(300, seed=1)
>>> fair = pairity.xgboost.objective(rows.y, groups=rows.groups, queries=rows.queries,
...                                  subject_to=["cross_group <= 0.05"])
>>> data = xgboost.DMatrix(rows.with_group(), rows.y)
>>> booster = xgboost.train({"max_depth": 3, "base_score": 0.0}, data, num_boost_round=60, obj=fair)
>>> fair.status().steps
60
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

try:
    import xgboost as _xgboost
except ImportError as error:
    raise ImportError("pairity.xgboost needs XGBoost: pip install xgboost") from error

from . import _boosting, _columns
from ._boosting import Objective as _Objective

__all__ = ["Objective", "metrics", "objective"]


class Objective(_Objective):
    """An objective for ``xgboost.train(obj=...)`` and for the estimators of XGBoost
    (``XGBRegressor(objective=...)``)."""

    def __call__(self, first: Any, second: Any, *_: Any) -> Any:
        """``(scores, data)`` of ``train``, or ``(labels, scores)`` of an estimator."""
        scores = first if isinstance(second, _xgboost.DMatrix) else second
        return self.slopes(scores)


def objective(
    labels: Any,
    groups: Any = None,
    protected: Any = None,
    queries: Any = None,
    weights: Any = None,
    *,
    snapshot_every: int = 10,
    **options: Any,
) -> Objective:
    """A custom objective for XGBoost, for the rows of the training data.

    ``options`` are those of :class:`pairity.PairwiseLoss`. A snapshot is taken every ``snapshot_every`` trees;
    ``shrink()`` finds the best mixture of them, to be used by
    ``booster.predict(data, iteration_range=(0, trees))``.
    """
    found = _boosting.make(Objective, labels, groups, protected, queries, weights, snapshot_every, options)
    assert isinstance(found, Objective)
    return found


def metrics(
    expressions: str | Iterable[str], groups: Any = None, protected: Any = None, queries: Any = None
) -> Callable[[Any, Any], list[tuple[str, float]]]:
    """Evaluation metrics for ``xgboost.train(custom_metric=...)``: one function for all expressions, such as
    ``auc`` or ``cross_group``. The columns are those of the data that is evaluated."""
    columns = {"groups": groups, "protected": protected, "queries": queries}
    named = _boosting.evaluations(_columns.texts(expressions), columns)

    def evaluate(scores: Any, data: Any) -> list[tuple[str, float]]:
        labels = data.get_label()
        return [(name, measured(labels, scores)) for name, measured in named]

    return evaluate
