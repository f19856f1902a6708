"""Scores that can't be trained anew, adjusted group by group or by a continuous attribute."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _columns, _engine


@dataclass(frozen=True)
class Adjusted:
    """A map of scores by group or by a continuous attribute, and how well it does."""

    document: dict[str, Any]
    """The document ``pairity.adjust/1``: what was chosen, and the values before and after."""
    scores: NDArray[np.float64] = field(repr=False)
    """The adjusted scores."""
    adjustment: _engine.Adjustment = field(repr=False)
    """The map itself."""
    _view: _engine.View = field(repr=False, compare=False)

    @property
    def status(self) -> str:
        """``feasible`` or ``infeasible``, on the rows that the map was chosen on."""
        return str(self.document["status"])

    @property
    def violations(self) -> list[float]:
        """By how much each constraint is missed there; 0 or less where it is met."""
        return list(self.document["violations"])

    def apply(self, scores: Any, groups: Any = None, protected: Any = None) -> NDArray[np.float64]:
        """Adjusts other scores. Rows of no group, of one that was not seen, or without the attribute keep theirs."""
        return _applied(self.adjustment, scores, groups, protected)

    def _repr_html_(self) -> str:
        return self._view.html()


def _applied(adjustment: _engine.Adjustment, scores: Any, groups: Any, protected: Any) -> NDArray[np.float64]:
    own, z = _columns.numbers(scores, "scores"), _columns.optional_numbers(protected, "protected")
    found, _ = adjustment.apply(own, _columns.group_columns(groups), z)
    return found


def adjust(
    scores: Any,
    labels: Any = None,
    groups: Any = None,
    queries: Any = None,
    weights: Any = None,
    *,
    protected: Any = None,
    method: str = "group-offset",
    maximize: str = "auc",
    subject_to: str | Iterable[str] = ("cross_group <= 0.01",),
    strength: float | None = None,
    tune: float = 0.5,
    average: str = "pairs",
    ties: str = "half",
    confidence: float = 0.95,
    seed: int = 0,
) -> Adjusted:
    """Adjusts scores by group, or by a continuous attribute, so that a goal holds. All methods keep the order
    inside each group, and of rows that have the same attribute.

    Parameters
    ----------
    protected
        A continuous protected attribute in place of groups, for ``attribute-slope`` and ``attribute-curve``.
    method
        ``group-offset`` adds a constant to each group's scores; ``quantile-match`` moves scores toward
        those of the same quantile in all groups, ``strength`` (0 to 1) of the way or as far as the goal
        needs; ``x-order`` merges two groups' orders in the best way; ``kallus-zhou`` sends one group's scores
        through another logistic function; ``attribute-slope`` subtracts a multiple of ``protected``, and
        ``attribute-curve`` a monotone function of it.
    tune
        Share of the queries that the map is chosen on; the others test it.

    >>> import pairity
    >>> rows = pairity.datasets.simulated(1000, seed=1)
    >>> scores = rows.features.sum(axis=1)
    >>> adjusted = pairity.adjust(scores, rows.labels, rows.groups, rows.queries, tune=1)
    >>> adjusted.status
    'feasible'
    >>> before = pairity.audit(scores, rows.labels, rows.groups, queries=rows.queries)
    >>> after = pairity.audit(adjusted.scores, rows.labels, rows.groups, queries=rows.queries)
    >>> before.gaps["cross_group"].value > 0.2 > 0.01 >= after.gaps["cross_group"].value
    True
    """
    examples = _columns.examples(labels, groups, protected, queries, weights)
    own = _columns.numbers(scores, "scores")
    settings = {
        **_columns.measuring(average, ties, confidence, 1, seed),
        "method": method,
        "maximize": maximize,
        "minimize": None,
        "subject_to": _columns.texts(subject_to),
        "strength": strength,
        "tune": float(tune),
    }
    adjustment, (document, view) = _engine.adjust(examples, own, settings)
    return Adjusted(document, _applied(adjustment, own, groups, protected), adjustment, view)
