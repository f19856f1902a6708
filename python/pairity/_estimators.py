"""Estimators in the manner of scikit-learn, which they work without."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _columns, _engine, _progress
from ._sklearn import BaseEstimator, RegressorMixin, check_fitted, labels, matrix, table

Features = list[tuple[str, Any]]


@dataclass(frozen=True)
class Component:
    """One scorer of a model."""

    probability: float
    """How likely it is drawn."""
    snapshot: int
    """The iteration of the training that it was taken at."""
    parameters: NDArray[np.float64]
    """Its parameters."""


class Document(dict[str, Any]):
    """A document of the engine, which notebooks show as a page."""

    def __init__(self, document: dict[str, Any], view: _engine.View) -> None:
        super().__init__(document)
        self._view = view

    @property
    def text(self) -> str:
        """The document for reading."""
        return self._view.text()

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self._view.html()

    def __reduce__(self) -> Any:
        return type(self), (dict(self), self._view)


class Report(Document):
    """A training run: the document ``pairity.train/1``."""


class _FairEstimator(BaseEstimator):
    """What rankers and regressors share."""

    # Parameters of the constructors, which have to stand there.
    subject_to: str | Iterable[str] | None
    model: str
    method: str
    group_aware: bool | str
    deterministic: bool
    random_state: Any

    model_: _engine.Model
    """The trained model."""
    components_: list[Component]
    """Its scorers and the probabilities that they are drawn with."""
    status_: str
    """How training ended: ``feasible``, ``feasible_as_mixture``, ``infeasible``, ``time_limit`` or
    ``not_converged``."""
    report_: Report
    """The document ``pairity.train/1``."""
    seed_: int
    """The seed of every random choice, also of the draws in ``predict``."""

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        protected: Any = None,
        queries: Any = None,
        weights: Any = None,
        within: Any = None,
        pairs_where: tuple[str, Any] | None = None,
    ) -> Any:
        """Trains the model.

        Parameters
        ----------
        X
            Features: a matrix, or a table (pandas, polars, pyarrow, a dictionary of columns), whose columns of
            text become one feature for each value, but for that of ``text``. Missing numbers get an indicator.
        y
            Labels: higher ones should score higher.
        groups
            Categorical protected attribute; several columns are intersected.
        protected
            Continuous protected attribute, instead of groups.
        queries
            Pairs are formed inside a query; without queries all rows are one. Of several columns each
            combination is a query.
        weights
            Weight of each row.
        within
            Only pairs of rows that agree on this column, or on several, count. Queries, or rows without them,
            stay what is independent.
        pairs_where
            Only pairs in which the better row has the higher value of a column count, ``(">", shown)``, or the
            lower one, ``("<", shown)``.
        """
        examples, features, settings = self._prepared(X, y, groups, protected, queries, weights, within=within, pairs_where=pairs_where)
        self._learn(_engine.train, examples, features, settings)
        return self

    def _learn(self, train: Any, examples: _engine.Examples, features: Any, settings: dict[str, Any]) -> None:
        """Trains with a function of the engine, and keeps what comes out."""
        with _progress.bar(bool(self.verbose)) as progress:
            model, (document, view) = train(examples, features, settings, progress)
        self.model_ = model
        self.seed_ = settings["seed"]
        self.components_ = [Component(*component) for component in model.components()]
        self.report_ = Report(document, view)
        self.status_ = self.report_["status"]

    def predict(self, X: Any, *, queries: Any = None, groups: Any = None, protected: Any = None) -> Any:
        """The score of each row; higher ranks higher.

        A model of several scorers draws one of them for each query, by a hash of the seed and the query
        itself: the same at every call, whatever other rows are there. Without queries all rows see one
        scorer. A group-aware model needs the groups.
        """
        check_fitted(self)
        features = self._features(X, reset=False, protected=protected)
        scores, notes = self.model_.score(
            features, _columns.group_columns(groups), _columns.queries(queries), self.seed_
        )
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=2)
        return scores

    def expected_scores(self, X: Any, *, groups: Any = None, protected: Any = None) -> Any:
        """What the score of each row is on average over the draws of a mixture."""
        check_fitted(self)
        features = self._features(X, reset=False, protected=protected)
        return self.model_.expected_scores(features, _columns.group_columns(groups))

    def measure(
        self,
        expression: str,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        protected: Any = None,
        queries: Any = None,
        weights: Any = None,
    ) -> float:
        """The value of any expression of rates that is expected of the model, such as ``cross_group``."""
        check_fitted(self)
        features = self._features(X, reset=False, protected=protected)
        target = labels(self, y, _length(features))
        examples = _columns.examples(target, groups, protected, queries, weights)
        how = _columns.measuring(average=self.average, seed=self.seed_)
        found = self.model_.measure(examples, features, _columns.group_columns(groups), expression, how)
        if found["value"] is None:
            raise ValueError(found["reason"])
        return float(found["value"])

    def to_json(self) -> str:
        """The model as a document ``pairity.model/1``, which ``pairity score`` reads."""
        check_fitted(self)
        return self.model_.to_json()

    def _aware(self) -> str | None:
        if isinstance(self.group_aware, str):
            return self.group_aware
        return "weights" if self.group_aware else None

    def _prepared(
        self,
        X: Any,
        y: Any,
        groups: Any,
        protected: Any,
        queries: Any,
        weights: Any,
        test: float = 0.0,
        confidence: float = 0.95,
        within: Any = None,
        pairs_where: tuple[str, Any] | None = None,
        rows: int | None = None,
    ) -> tuple[_engine.Examples, Features, dict[str, Any]]:
        """Rows, features and settings for the engine; features that are elsewhere are of so many rows."""
        features = [] if rows is not None else self._features(X, reset=True, protected=protected)
        target = labels(self, y, _length(features) if rows is None else rows)
        examples = _columns.examples(
            target, groups, protected, queries, weights, within=within, pairs_where=pairs_where
        )
        measuring = _columns.measuring(average=self.average, confidence=confidence, seed=_seed(self.random_state))
        settings = {
            **measuring,
            # A ranker has the one, a regressor the other.
            "maximize": getattr(self, "maximize", None),
            "minimize": getattr(self, "minimize", None),
            "subject_to": self._constraints(groups, protected),
            "method": self.method,
            "model": self.model,
            "hidden": [int(units) for units in np.atleast_1d(np.asarray(self.hidden))],
            "text": self.text,
            "ngrams": self.ngrams,
            "vocabulary": None if self.vocabulary is None else int(self.vocabulary),
            "group_aware": self._aware(),
            "group_columns": [name for name, _ in _columns.named_groups(groups)]
            + ["protected"] * (protected is not None),
            "validation": float(self.validation_fraction),
            "test": float(test),
            "multiplier_share": float(self.multiplier_fraction),
            "standardize": bool(self.standardize),
            "answer": "deterministic" if self.deterministic else "auto",
            "solver": self.solver,
            "select": self.select,
            "l2": None if self.l2 is None else float(self.l2),
            "player": self.player,
            "surrogate": self.surrogate,
            "iterations": int(self.iterations),
            "snapshots": int(self.snapshots),
            "step_sizes": []
            if self.step_sizes is None
            else [float(size) for size in np.atleast_1d(np.asarray(self.step_sizes, dtype=float))],
            "batch": None if self.batch is None else int(self.batch),
            "patience": None if self.patience is None else int(self.patience),
            "within": None,
            "time_limit": None if self.time_limit is None else float(self.time_limit),
            "guarantee": None if self.guarantee is None else float(self.guarantee),
            "no_harm": None if self.no_harm is None else float(self.no_harm),
        }
        return examples, features, settings

    def _constraints(self, groups: Any, protected: Any) -> list[str]:
        if self.subject_to is not None:
            return _columns.texts(self.subject_to)
        if groups is not None:
            return ["cross_group <= 0.01"]
        if protected is not None:
            return ["continuous <= 0.01"]
        warnings.warn(
            "no groups are given, so that the model is trained without constraints: give groups to fit, or "
            "subject_to=() to do without them",
            UserWarning,
            stacklevel=3,
        )
        return []

    def _features(self, X: Any, reset: bool, protected: Any = None) -> Features:
        """Named columns for the engine."""
        if _columns.is_table(X):
            named = _columns.table_columns(X)
            table(self, X, [name for name, _ in named], reset)
            features: Features = [
                (name, _columns.category(column, name) if name == self.text else _feature(column, name))
                for name, column in named
            ]
        else:
            values = matrix(self, X, reset)
            features = [(f"x{place}", values[:, place]) for place in range(values.shape[1])]
        if not features:
            raise ValueError("there are no features: a scorer needs at least one (0 feature(s))")
        if protected is not None and (self._aware() or not reset and self.model_.needs_attribute):
            features.append(("protected", _columns.numbers(protected, "protected")))
        return features

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


def _feature(column: Any, name: str) -> Any:
    found = _columns.array(column)
    if found.dtype.kind in "iufb" and found.ndim == 1:
        # Features of single precision stay so, in half of the memory.
        small = found.dtype.kind == "f" and found.dtype.itemsize <= 4
        return np.ascontiguousarray(found, dtype=np.float32 if small else np.float64)
    return _columns.category(column, name)


def _length(features: Features) -> int:
    first = features[0][1]
    return len(first[0]) if isinstance(first, tuple) else len(first)


def _seed(state: Any) -> int:
    """The seed that a random state stands for; None is 0, as on the command line."""
    if state is None:
        return 0
    if isinstance(state, (int, np.integer)):
        if state < 0:
            raise ValueError(f"random_state is {state}; a seed is a number of at least 0")
        return int(state)
    if isinstance(state, np.random.Generator):
        return int(state.integers(2**32))
    return int(state.randint(2**31 - 1))


class FairRanker(_FairEstimator):
    """A scorer for ranking, trained to a goal: maximize a rate subject to bounds on others.

    Parameters
    ----------
    maximize
        What is to be large, such as ``auc`` or ``min(auc, A[0 > 1], A[1 > 0])``.
    subject_to
        Bounds that have to hold, such as ``["cross_group <= 0.01"]``. ``None`` stands for that one where
        groups are given, and for ``continuous <= 0.01`` with a continuous attribute; ``()`` for no bounds.
    model
        ``linear`` or ``mlp``.
    method
        ``constrained``, or one to compare it with: ``unconstrained``, ``robust``, ``debiased``, ``beutel``,
        ``kallus-zhou``, ``singh-joachims``, ``group-offset``, ``quantile-match``, ``x-order``,
        ``score-minus-attribute``.
    group_aware
        Whether the scorer may use the protected attribute: ``weights`` (or ``True``) for each group, or
        ``offsets`` only.
    deterministic
        One scorer instead of a mixture, if one meets the goal. Without queries, where one draw would serve the
        whole table, it is one scorer in any case.
    random_state
        Seed of every random choice; ``None`` is 0.
    hidden
        Units of the hidden layers of ``mlp``.
    text
        The column of ``X`` that holds texts, for ``linear``: their words and n-grams of characters are features, weighted by
        how rare they are.
    ngrams
        What of a text is seen: ``words``, ``chars`` (n-grams of 2 to 5 characters) or ``both`` (``None``).
    vocabulary
        Words, and n-grams of characters, that are told apart: the most frequent ones; ``None`` is 200,000 of each.
    validation_fraction
        Share of the queries (or rows) that the model is chosen on; 0 chooses on all that it is fit to.
    multiplier_fraction
        Share of the training queries that only the constraints look at.
    standardize
        Whether numbers are brought to mean 0 and deviation 1.
    iterations, snapshots, step_sizes, solver, select, l2, player, surrogate, batch, patience, average,
    time_limit
        As on the command line: steps of each game, scorers kept on the way, step sizes to try, ``paper`` or ``columns``
        (``columns`` by default, and ``paper`` where one of the game's own settings is given),
        ``validation`` or ``cross-fit`` (what suits the solver), weight decay, ``swap``, ``external``, ``lagrangian``,
        ``nupi`` or ``augmented``, ``hinge``, ``squared-hinge`` or ``ramp``, queries of a step,
        snapshots that are no better after which a game ends, ``pairs`` or ``queries``, seconds.
    guarantee
        Confidence, such as 0.95, with which every bound is to be kept on new data: half of the queries (or rows) are
        kept for a test of that, and ``report_["guarantee"]`` says whether it is given.
    no_harm
        By how much, such as 0.02, no accuracy that the bounds compare may fall below that of an unconstrained scorer.
    verbose
        Whether a progress bar is shown, if tqdm is installed.

    >>> import pairity
    >>> rows = pairity.datasets.simulated(300, seed=1)
    >>> ranker = pairity.FairRanker(subject_to=["cross_group <= 0.05"], iterations=300, step_sizes=[0.1])
    >>> _ = ranker.fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries)
    >>> ranker.status_
    'feasible_as_mixture'
    >>> round(sum(component.probability for component in ranker.components_), 9)
    1.0
    >>> scores = ranker.predict(rows.X, queries=rows.queries)
    >>> bool((scores == ranker.predict(rows.X, queries=rows.queries)).all())
    True
    >>> gap = ranker.measure("cross_group", rows.X, rows.y, groups=rows.groups, queries=rows.queries)
    >>> gap <= 0.05 + 1e-6
    True
    """

    def __init__(
        self,
        maximize: str = "auc",
        subject_to: str | Iterable[str] | None = None,
        model: str = "linear",
        method: str = "constrained",
        group_aware: bool | str = False,
        deterministic: bool = False,
        random_state: Any = None,
        *,
        hidden: Iterable[int] = (10,),
        text: str | None = None,
        ngrams: str | None = None,
        vocabulary: int | None = None,
        validation_fraction: float = 0.0,
        multiplier_fraction: float = 0.0,
        standardize: bool = True,
        iterations: int = 2500,
        snapshots: int = 100,
        step_sizes: Iterable[float] | None = None,
        solver: str | None = None,
        select: str | None = None,
        l2: float | None = None,
        player: str = "swap",
        surrogate: str = "hinge",
        average: str = "pairs",
        batch: int | None = None,
        patience: int | None = None,
        time_limit: float | None = None,
        guarantee: float | None = None,
        no_harm: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.maximize = maximize
        self.subject_to = subject_to
        self.model = model
        self.method = method
        self.group_aware = group_aware
        self.deterministic = deterministic
        self.random_state = random_state
        self.hidden = hidden
        self.text = text
        self.ngrams = ngrams
        self.vocabulary = vocabulary
        self.validation_fraction = validation_fraction
        self.multiplier_fraction = multiplier_fraction
        self.standardize = standardize
        self.iterations = iterations
        self.snapshots = snapshots
        self.step_sizes = step_sizes
        self.solver = solver
        self.select = select
        self.l2 = l2
        self.player = player
        self.surrogate = surrogate
        self.average = average
        self.batch = batch
        self.patience = patience
        self.time_limit = time_limit
        self.guarantee = guarantee
        self.no_harm = no_harm
        self.verbose = verbose

    def score(
        self,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        protected: Any = None,
        queries: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """The stated objective, such as the AUC, that is expected of the model."""
        columns = {"groups": groups, "protected": protected, "queries": queries, "weights": sample_weight}
        return self.measure(self.maximize, X, y, **columns)


class FairRegressor(RegressorMixin, _FairEstimator):
    """A regression with bounds on pairwise rates: minimize the squared error subject to them.

    All pairs of rows count, so that there are no queries as a rule. Parameters are those of
    :class:`FairRanker`, with ``minimize`` in place of ``maximize``.

    >>> import numpy as np, pairity
    >>> random = np.random.default_rng(0)
    >>> groups = random.integers(2, size=300)
    >>> X = np.column_stack([random.normal(size=300) + groups, random.normal(size=300)])
    >>> y = X @ [1.0, 0.5] + 0.1 * random.normal(size=300)
    >>> regressor = pairity.FairRegressor(subject_to="cross_group <= 0.05", iterations=500, step_sizes=[0.1])
    >>> _ = regressor.fit(X, y, groups=groups)
    >>> regressor.status_ in ("feasible", "feasible_as_mixture")
    True
    """

    def __init__(
        self,
        minimize: str = "mse",
        subject_to: str | Iterable[str] | None = None,
        model: str = "linear",
        method: str = "constrained",
        group_aware: bool | str = False,
        deterministic: bool = False,
        random_state: Any = None,
        *,
        hidden: Iterable[int] = (10,),
        text: str | None = None,
        ngrams: str | None = None,
        vocabulary: int | None = None,
        validation_fraction: float = 0.0,
        multiplier_fraction: float = 0.0,
        standardize: bool = True,
        iterations: int = 2500,
        snapshots: int = 100,
        step_sizes: Iterable[float] | None = None,
        solver: str | None = None,
        select: str | None = None,
        l2: float | None = None,
        player: str = "swap",
        surrogate: str = "hinge",
        average: str = "pairs",
        batch: int | None = None,
        patience: int | None = None,
        time_limit: float | None = None,
        guarantee: float | None = None,
        no_harm: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.minimize = minimize
        self.subject_to = subject_to
        self.model = model
        self.method = method
        self.group_aware = group_aware
        self.deterministic = deterministic
        self.random_state = random_state
        self.hidden = hidden
        self.text = text
        self.ngrams = ngrams
        self.vocabulary = vocabulary
        self.validation_fraction = validation_fraction
        self.multiplier_fraction = multiplier_fraction
        self.standardize = standardize
        self.iterations = iterations
        self.snapshots = snapshots
        self.step_sizes = step_sizes
        self.solver = solver
        self.select = select
        self.l2 = l2
        self.player = player
        self.surrogate = surrogate
        self.average = average
        self.batch = batch
        self.patience = patience
        self.time_limit = time_limit
        self.guarantee = guarantee
        self.no_harm = no_harm
        self.verbose = verbose

    def score(
        self,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        protected: Any = None,
        queries: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """The coefficient of determination of the predictions, as regressors of scikit-learn have it."""
        found = self.predict(X, queries=queries, groups=groups, protected=protected)
        target = labels(self, y, len(found))
        share = np.ones(len(found)) if sample_weight is None else _columns.numbers(sample_weight, "weights")
        mean = np.average(target, weights=share)
        rest = float(np.sum(share * (target - found) ** 2))
        return 1.0 - rest / float(np.sum(share * (target - mean) ** 2))
