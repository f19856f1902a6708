"""What the bridges to boosters share: a custom objective that plays the game."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _columns
from ._loss import Mixture, PairwiseLoss, Status
from .metrics import metric

#: The least curvature of a row, as a share of the mean: rows without active pairs would divide by 0.
FLOOR = 0.01


class Objective:
    """A custom objective. Rows have to be those of the training data, in the same order.

    Slopes are multiplied with the number of rows, so that settings of the booster that are meant for one
    slope a row (least sums of second derivatives, regularization) keep their meaning.
    """

    def __init__(self, loss: PairwiseLoss, every: int, columns: dict[str, Any]) -> None:
        self.loss = loss
        self.every = every
        self.calls = 0
        self._columns = columns

    def slopes(self, scores: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Gradient and second derivatives at the scores of the trees so far."""
        found = _columns.numbers(np.asarray(scores, dtype=np.float64).reshape(-1), "scores")
        if len(found) != len(self.loss):
            raise ValueError(
                f"the booster scores {len(found)} rows, but the objective was made for {len(self.loss)}: give "
                "it the columns of the training data"
            )
        _, gradient, hessian = self.loss.step(found)
        # The scores are those of the trees before this call.
        if self.every and self.calls and self.calls % self.every == 0:
            self.loss.snapshot(self.calls)
        self.calls += 1
        scale = float(len(found))
        hessian = hessian * scale
        return gradient * scale, np.maximum(hessian, FLOOR * max(float(hessian.mean()), 1e-6))

    def __deepcopy__(self, memo: Any) -> Objective:
        # Boosters copy their settings, and it is this game that the caller asks for its state.
        return self

    @property
    def rates(self) -> dict[str, float]:
        """The rates of the goal at the last scores."""
        return self.loss.rates

    def status(self) -> Status:
        """How training stands at the last scores."""
        return self.loss.status()

    def shrink(self) -> Mixture:
        """The best mixture of snapshots, which are numbers of trees."""
        return self.loss.shrink()


def make(
    cls: Callable[[PairwiseLoss, int, dict[str, Any]], Any],
    labels: Any,
    groups: Any,
    protected: Any,
    queries: Any,
    weights: Any,
    every: int,
    options: dict[str, Any],
) -> Any:
    """An objective of a booster."""
    loss = PairwiseLoss(labels, groups, protected, queries, weights, **options)
    return cls(loss, int(every), {"groups": groups, "protected": protected, "queries": queries})


def evaluations(
    expressions: str | Iterable[str], columns: dict[str, Any]
) -> list[tuple[str, Callable[[Any, Any], float]]]:
    """Named functions of (labels, scores) for some expressions of rates."""

    def one(expression: str) -> tuple[str, Callable[[Any, Any], float]]:
        measured = metric(expression)
        return expression, lambda labels, scores: measured(labels, scores, **columns)

    return [one(expression) for expression in _columns.texts(expressions)]
