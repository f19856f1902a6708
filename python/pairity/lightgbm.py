"""A bridge to LightGBM: gradients of a pairwise goal as a custom objective.

>>> import lightgbm, pairity
>>> rows = pairity.datasets.simulated(300, seed=1)
>>> fair = pairity.lightgbm.objective(rows.y, groups=rows.groups, queries=rows.queries,
...                                   subject_to=["cross_group <= 0.05"])
>>> data = lightgbm.Dataset(rows.with_group(), rows.y)
>>> settings = {"objective": fair, "num_leaves": 8, "verbose": -1, "seed": 0}
>>> booster = lightgbm.train(settings, data, num_boost_round=60)
>>> fair.status().steps
60
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

try:
    import lightgbm as _lightgbm
except ImportError as error:
    raise ImportError("pairity.lightgbm needs LightGBM: pip install lightgbm") from error

from . import _boosting, _columns
from ._boosting import Objective as _Objective
from .metrics import _SMALL

__all__ = ["Objective", "metrics", "objective"]


class Objective(_Objective):
    """An objective for ``lightgbm.train`` (in ``params["objective"]``) and for the estimators of LightGBM
    (``LGBMRegressor(objective=...)``)."""

    def __call__(self, first: Any, second: Any, *_: Any) -> Any:
        """``(scores, data)`` of ``train``, or ``(labels, scores)`` of an estimator."""
        scores = first if isinstance(second, _lightgbm.Dataset) else second
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
    """A custom objective for LightGBM, for the rows of the training data.

    ``options`` are those of :class:`pairity.PairwiseLoss`. A snapshot is taken every ``snapshot_every`` trees;
    ``shrink()`` finds the best mixture of them, to be used by ``booster.predict(X, num_iteration=trees)``.
    """
    found = _boosting.make(Objective, labels, groups, protected, queries, weights, snapshot_every, options)
    assert isinstance(found, Objective)
    return found


def metrics(
    expressions: str | Iterable[str], groups: Any = None, protected: Any = None, queries: Any = None
) -> list[Callable[[Any, Any], tuple[str, float, bool]]]:
    """Evaluation metrics for ``lightgbm.train(feval=...)``, one for each expression, such as ``auc`` or
    ``cross_group``. The columns are those of the data that is evaluated: one list for each valid set."""
    columns = {"groups": groups, "protected": protected, "queries": queries}

    def one(name: str, measured: Callable[[Any, Any], float]) -> Any:
        def evaluate(scores: Any, data: Any) -> tuple[str, float, bool]:
            return name, measured(data.get_label(), scores), name not in _SMALL

        return evaluate

    return [one(*named) for named in _boosting.evaluations(_columns.texts(expressions), columns)]
