"""Metrics as functions of (labels, scores), for scikit-learn's scorers and fairlearn's `MetricFrame`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _columns, _engine


def metric(expression: str, *, average: str = "pairs", ties: str = "half") -> Callable[..., float]:
    """A function ``(y_true, y_pred, groups=, protected=, queries=, sample_weight=)`` that measures an
    expression of rates, such as ``auc``, ``cross_group`` or ``A[female > male]``.

    It fits where scikit-learn and fairlearn want a metric; what can't be estimated is NaN.

    >>> gap = metric("cross_group")
    >>> gap([0, 1, 0, 1], [0.3, 0.2, 0.1, 0.4], groups=["a", "a", "b", "b"])
    0.0
    """

    def measured(
        y_true: Any,
        y_pred: Any,
        *,
        groups: Any = None,
        protected: Any = None,
        queries: Any = None,
        sample_weight: Any = None,
    ) -> float:
        examples = _columns.examples(y_true, groups, protected, queries, sample_weight)
        how = _columns.measuring(average=average, ties=ties)
        found = examples.measure(_columns.numbers(y_pred, "scores"), expression, how)
        return float("nan") if found["value"] is None else float(found["value"])

    measured.__name__ = expression
    measured.__doc__ = f"The value of {expression}."
    return measured


def pairwise_accuracy(
    y_true: Any, y_pred: Any, *, queries: Any = None, sample_weight: Any = None
) -> float:
    """How often the better one of two scores higher; NaN if there are no pairs.

    >>> pairwise_accuracy([0, 0, 1], [0.1, 0.4, 0.3])
    0.5
    """
    return metric("auc")(y_true, y_pred, queries=queries, sample_weight=sample_weight)


#: What is better when it is small: errors and gaps.
_SMALL = {"mse", *_engine.CRITERIA}


def make_scorer(expression: str, *, greater_is_better: bool | None = None, average: str = "pairs") -> Any:
    """A scorer for `GridSearchCV` and `cross_validate` of scikit-learn.

    Gaps and errors are turned around, so that more is better. Ask for the columns that it needs, with
    metadata routing turned on: ``make_scorer("cross_group").set_score_request(groups=True, queries=True)``.

    >>> make_scorer("auc")
    make_scorer(auc, response_method='predict')
    """
    try:
        from sklearn.metrics import make_scorer as wrap
    except ImportError as error:
        raise ImportError("make_scorer needs scikit-learn: pip install scikit-learn") from error
    if greater_is_better is None:
        greater_is_better = expression.strip() not in _SMALL and not expression.strip().startswith("abs(")
    return wrap(metric(expression, average=average), greater_is_better=greater_is_better)
