"""Any model: what it should descend, by its scores alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _columns, _engine


@dataclass(frozen=True)
class Status:
    """How training stands at the last scores."""

    steps: int
    """Steps made."""
    objective: float
    """The stated objective."""
    violations: list[float]
    """By how much each constraint is missed; 0 or less where it is met."""
    meets_goal: bool
    """Whether every constraint is met."""
    weights: list[float]
    """What the objective (first) and each constraint weigh."""


@dataclass(frozen=True)
class Mixture:
    """The best distribution over snapshots: one is drawn for each query."""

    components: list[tuple[Any, float]]
    """Snapshots, as they were given, and their probabilities."""
    objective: float
    """The stated objective that is expected of it."""
    violation: float
    """Its largest violation, at least 0."""

    def draw(self, queries: Any = None, rows: int | None = None, seed: int = 0) -> NDArray[np.intp]:
        """The place of the component that each row sees: one draw for each query, by a hash of the seed and
        the query itself, the same at every call. Without queries all ``rows`` see one.

        >>> mixture = Mixture([("a", 0.5), ("b", 0.5)], 0.9, 0.0)
        >>> mixture.draw(["monday", "friday", "monday"])
        array([1, 0, 1])
        """
        limits = np.cumsum([probability for _, probability in self.components])
        last = max(place for place, (_, share) in enumerate(self.components) if share > 0)

        def place(text: str) -> int:
            return min(int(np.searchsorted(limits, _engine.uniform(seed, text), side="right")), last)

        both = _columns.queries(queries)
        if both is None:
            if rows is None:
                raise ValueError("without queries all rows are one: say how many rows there are")
            return np.full(rows, place(""), dtype=np.intp)
        codes, names = both
        drawn = np.array([place(name) for name in names], dtype=np.intp)
        return drawn[codes]

    def scores(self, predict: Any, queries: Any = None, rows: int | None = None, seed: int = 0) -> NDArray[np.float64]:
        """The scores of rows, each by the component that its query draws; ``predict(snapshot)`` gives the
        scores of all rows by one."""
        each = [_columns.numbers(predict(snapshot), "scores") for snapshot, _ in self.components]
        drawn = self.draw(queries, len(each[0]) if rows is None else rows, seed)
        return np.asarray(np.stack(each)[drawn, np.arange(len(drawn))])


class PairwiseLoss:
    """The game in score space: the model descends what :meth:`step` tells it, and with every step the
    constraints are weighed anew by how much they are truly missed.

    Parameters
    ----------
    labels, groups, protected, queries, weights
        The training rows, as in :func:`pairity.audit`.
    maximize, minimize
        What is to be large (``auc`` by default) or small, such as ``mse``.
    subject_to
        Bounds that have to hold, such as ``["cross_group <= 0.01"]``.
    surrogate
        What is descended in place of rates: ``hinge``, ``squared-hinge`` or ``ramp``.
    margin
        Difference of scores from which a pair counts as ordered.
    player
        Who weighs the constraints: ``swap``, ``external``, ``lagrangian``, ``nupi`` or ``augmented``.
    step_size
        Of that player. With few steps it has to be larger.
    average
        ``pairs`` or ``queries``.

    >>> import numpy as np, pairity
    >>> rows = pairity.datasets.simulated(200, seed=1)
    >>> loss = pairity.PairwiseLoss(rows.y, groups=rows.groups, queries=rows.queries,
    ...                             subject_to=["cross_group <= 0.05"])
    >>> w = np.ones(2)
    >>> for step in range(300):
    ...     value, gradient, hessian = loss.step(rows.X @ w)
    ...     w -= 0.1 * rows.X.T @ gradient
    ...     if step % 10 == 9:
    ...         loss.snapshot(w.copy(), rows.X @ w)
    >>> mixture = loss.shrink()
    >>> mixture.violation <= 0.001
    True
    >>> scores = mixture.scores(lambda w: rows.X @ w, rows.queries)
    """

    def __init__(
        self,
        labels: Any,
        groups: Any = None,
        protected: Any = None,
        queries: Any = None,
        weights: Any = None,
        *,
        maximize: str | None = None,
        minimize: str | None = None,
        subject_to: str | Iterable[str] = (),
        surrogate: str = "hinge",
        margin: float = 1.0,
        player: str = "swap",
        step_size: float = 0.1,
        average: str = "pairs",
    ) -> None:
        if maximize is not None and minimize is not None:
            raise ValueError("maximize and minimize exclude each other: give one of them")
        examples = _columns.examples(labels, groups, protected, queries, weights)
        self._rows = len(examples)
        settings = {
            "maximize": maximize,
            "minimize": minimize,
            "subject_to": _columns.texts(subject_to),
            "average": average,
            "player": player,
            "surrogate": surrogate,
            "margin": float(margin),
            "step_size": float(step_size),
        }
        self._player = _engine.ScorePlayer(examples, settings)
        self._snapshots: list[Any] = []

    def __len__(self) -> int:
        return self._rows

    def step(self, scores: Any) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """What to descend at these scores: its value, its gradient by each score, and a diagonal of second
        derivatives; then the constraints are weighed anew.

        The value is a weighted mean over pairs, so that slopes are of the size of 1 / rows. The hinge has no
        second derivatives: each active pair counts as half a squared hinge, which makes a Newton step about a
        margin long. For ``squared-hinge`` the diagonal is exact.
        """
        return self._player.step(_columns.numbers(scores, "scores"), True)

    def look(self, scores: Any) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """The same without weighing the constraints anew."""
        return self._player.step(_columns.numbers(scores, "scores"), False)

    @property
    def rates(self) -> dict[str, float]:
        """The rates of the goal at the last scores."""
        return dict(self._player.rates)

    def status(self) -> Status:
        """How training stands at the last scores."""
        found = self._player.status()
        nan = float("nan")
        found["objective"] = nan if found["objective"] is None else found["objective"]
        found["violations"] = [nan if miss is None else miss for miss in found["violations"]]
        return Status(**found)

    def snapshot(self, snapshot: Any, scores: Any = None) -> None:
        """Remembers a model (a copy of its parameters, the number of its trees) for :meth:`shrink`, with the
        scores that it gives to the rows; without scores, those of the last step are meant."""
        self._player.snapshot(None if scores is None else _columns.numbers(scores, "scores"))
        self._snapshots.append(snapshot)

    @property
    def snapshots(self) -> list[Any]:
        """The snapshots so far."""
        return list(self._snapshots)

    def shrink(self) -> Mixture:
        """The best mixture of the snapshots: of the best objective among those that miss the constraints by
        the least."""
        members, objective, violation = self._player.shrink()
        components = [(self._snapshots[place], probability) for place, probability in members]
        return Mixture(components, objective, violation)
