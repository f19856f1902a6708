"""Training with features on many machines.

The driver holds what is small, labels, groups and queries, and runs the solver and the selection of one machine. Workers,
which are actors, hold the features. In a step of training each worker is sent the parameters and gives one score a row; the
driver finds the exact rates and slopes, of all pairs, and each worker turns its slopes into a gradient by the parameters. The
gradients are added in the order of the workers.

Where pairs inside workers are enough, rows are dealt out to the workers at random, anew every few steps: a worker counts the
pairs of its rows, and no score leaves it.

What a worker is asked follows from the question alone, so that one that died is started again, loads its rows from the object
store and answers: the result is the same.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import threading
from collections import OrderedDict
from typing import Any

import numpy as np
import ray
from numpy.typing import NDArray

from .. import _columns, _engine, _estimators

#: Selections of rows that are remembered: those of the parts of the rows, of folds and what is not in them, and of the last
#: batches.
_REMEMBERED = 16

#: Parts of the rows whose pairs a worker is ready to count; runs of several step sizes may be at different ones.
_PARTS = 2


class _Holder:
    """Holds the features of some rows; an actor."""

    def __init__(self, *parts: Any) -> None:
        lists = [part if isinstance(part, list) else _table_features(part) for part in parts]
        self._features = [(name, _joined([part[at][1] for part in lists])) for at, (name, _) in enumerate(lists[0])]
        self._encoded: tuple[str, _engine.FeaturePart] | None = None
        self._selected: OrderedDict[str, _engine.FeaturePart] = OrderedDict()
        self._parts: OrderedDict[int, _engine.PartPairs] = OrderedDict()

    def pid(self) -> int:
        return os.getpid()

    def names(self) -> list[str]:
        return [name for name, _ in self._features]

    def column(self, at: int) -> Any:
        return self._features[at][1]

    def scores(self, setup: Any, key: str, rows: Any, scorer: str, parameters: Any) -> Any:
        return self._part(setup, key, rows).scores(scorer, parameters)

    def gradient(self, setup: Any, key: str, rows: Any, scorer: str, parameters: Any, slopes: Any) -> Any:
        return self._part(setup, key, rows).gradient(scorer, parameters, slopes)

    def deal(self, rows: list[Any]) -> Any:
        """The features of each of some lists of rows; in a thread of its own, as others may wait for them."""

        def of_rows(cells: Any, own: Any) -> Any:
            return (cells[0][own], cells[1]) if isinstance(cells, tuple) else cells[own]

        dealt = tuple([(name, of_rows(cells, own)) for name, cells in self._features] for own in rows)
        return dealt if len(rows) > 1 else dealt[0]

    def load(self, key: int, encoder: str, codes: Any, order: Any, examples: str, task: str, *pieces: Any) -> Any:
        """Takes the rows of a part, which are in this order in the pieces; what their pairs could earn."""

        def part() -> _engine.PartPairs:
            features = [(name, _joined([piece[at][1] for piece in pieces])) for at, (name, _) in enumerate(pieces[0])]
            return _engine.PartPairs(examples, _engine.FeaturePart(features, encoder, codes).select(order), task)

        return _remembered(self._parts, key, part, _PARTS).totals()

    def loss(self, key: int, scorer: str, parameters: Any, weights: str) -> Any:
        """None if the rows of the part are not here: an actor that was started again has none."""
        part = self._parts.get(key)
        return part and part.loss(scorer, parameters, weights)

    def _part(self, setup: Any, key: str, rows: Any) -> _engine.FeaturePart:
        """The features of some rows. An actor that was started again has none yet."""
        encoder, codes = setup
        if self._encoded is None or self._encoded[0] != encoder:
            self._encoded = (encoder, _engine.FeaturePart(self._features, encoder, codes))
            self._selected.clear()
        all_rows = self._encoded[1]
        found: _engine.FeaturePart = _remembered(self._selected, key, lambda: all_rows.select(rows))
        return found


class _Driver:
    """Knows which worker holds which rows; the engine asks it for scores and gradients."""

    def __init__(self, workers: list[Any], counts: list[int]) -> None:
        self._workers = workers
        self._numbers = itertools.count()
        self._ends = np.cumsum(counts)
        self._starts = self._ends - np.asarray(counts)
        self._setups: list[Any] = []
        self._shares: OrderedDict[str, list[tuple[int, Any, Any]]] = OrderedDict()
        # Runs of several step sizes ask side by side.
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        found: list[str] = ray.get(self._workers[0].names.remote())
        return found

    def column(self, at: int) -> tuple[str, Any]:
        parts = ray.get([worker.column.remote(at) for worker in self._workers])
        return self.names()[at], _joined(parts)

    def connect(self, encoder: str, codes: NDArray[np.uint16] | None) -> None:
        self._encoder, self._codes = encoder, codes
        bounds = zip(self._starts, self._ends, strict=True)
        self._setups = [ray.put((encoder, None if codes is None else codes[start:end])) for start, end in bounds]

    def scores(self, scorer: str, parameters: list[Any], rows: NDArray[np.uint32]) -> list[Any]:
        key, shares = self._split(rows)
        sent = ray.put(parameters)
        asked = [
            self._workers[at].scores.remote(self._setups[at], key, local, scorer, sent) for at, _, local in shares
        ]
        found = [np.empty(len(rows)) for _ in parameters]
        for (_, places, _), scores in zip(shares, ray.get(asked), strict=True):
            for all_rows, own in zip(found, scores, strict=True):
                all_rows[places] = own
        return found

    def gradient(self, scorer: str, parameters: Any, rows: NDArray[np.uint32], slopes: Any) -> Any:
        key, shares = self._split(rows)
        asked = [
            self._workers[at].gradient.remote(
                self._setups[at], key, local, scorer, parameters, np.ascontiguousarray(slopes[places])
            )
            for at, places, local in shares
        ]
        # In the order of the workers, whoever was ready first.
        total = np.zeros(len(parameters))
        for own in ray.get(asked):
            total += own
        return total

    def parts(self, task: str, parts: list[tuple[str, NDArray[np.uint32]]]) -> _Parts:
        """Deals the rows of the parts out, one part to each worker."""
        places = [
            [np.flatnonzero((rows >= start) & (rows < end)) for _, rows in parts]
            for start, end in zip(self._starts, self._ends, strict=True)
        ]
        dealt = []
        for worker, start, own in zip(self._workers, self._starts, places, strict=True):
            local = [(rows[at] - start).astype(np.uint32) for (_, rows), at in zip(parts, own, strict=True)]
            pieces = worker.deal.options(concurrency_group="deal", num_returns=len(parts)).remote(local)
            dealt.append(pieces if len(parts) > 1 else [pieces])
        loads = []
        for at, (examples, rows) in enumerate(parts):
            before = np.concatenate([own[at] for own in places])
            order = np.empty(len(rows), dtype=np.uint32)
            order[before] = np.arange(len(rows), dtype=np.uint32)
            codes = None if self._codes is None else self._codes[rows[before]]
            pieces = [own[at] for own in dealt]
            loads.append((self._workers[at], (self._encoder, codes, order, examples, task, *pieces)))
        with self._lock:
            return _Parts(next(self._numbers), loads)

    def _split(self, rows: NDArray[np.uint32]) -> tuple[str, list[tuple[int, Any, Any]]]:
        """A name for these rows; and for each worker that has some: its number, their places, and their own numbers."""
        key = hashlib.blake2b(rows.tobytes(), digest_size=16).hexdigest()

        def shares() -> list[tuple[int, Any, Any]]:
            owner = np.searchsorted(self._ends, rows, side="right")
            found = []
            for at, start in enumerate(self._starts):
                places = np.flatnonzero(owner == at)
                if len(places):
                    found.append((at, places, ray.put((rows[places] - start).astype(np.uint32))))
            return found

        with self._lock:
            return key, _remembered(self._shares, key, shares)


class _Parts:
    """A partition of the rows, a part with each worker; for as long as it is used, its rows are in the object store."""

    def __init__(self, number: int, loads: list[tuple[Any, tuple[Any, ...]]]) -> None:
        self._number = number
        self._loads = loads

    def totals(self) -> list[Any]:
        found: list[Any] = ray.get([worker.load.remote(self._number, *load) for worker, load in self._loads])
        return found

    def losses(self, scorer: str, parameters: Any, weights: list[str]) -> list[Any]:
        asked = [
            worker.loss.remote(self._number, scorer, parameters, own)
            for (worker, _), own in zip(self._loads, weights, strict=True)
        ]
        found: list[Any] = ray.get(asked)
        for at, (worker, load) in enumerate(self._loads):
            while found[at] is None:
                ray.get(worker.load.remote(self._number, *load))
                found[at] = ray.get(worker.loss.remote(self._number, scorer, parameters, weights[at]))
        return found


def _remembered(known: OrderedDict[Any, Any], key: Any, make: Any, most: int = _REMEMBERED) -> Any:
    if key not in known:
        known[key] = make()
        if len(known) > most:
            known.popitem(last=False)
    known.move_to_end(key)
    return known[key]


def _table_features(block: Any) -> _estimators.Features:
    return [(name, _estimators._feature(column, name)) for name, column in _columns.table_columns(block)]


def _joined(parts: list[Any]) -> Any:
    """A column of several parts, each numbers or codes with their texts."""
    if not isinstance(parts[0], tuple):
        return np.concatenate(parts)
    texts: dict[str, int] = {}
    codes = []
    for own, names in parts:
        new = np.array([texts.setdefault(name, len(texts)) for name in names] + [_columns.MISSING], dtype=np.uint32)
        codes.append(new[np.minimum(own, len(names))])
    return np.concatenate(codes), list(texts)


class _OnRay(_estimators._FairEstimator):
    """What rankers and regressors on Ray share."""

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
        workers: int = 2,
        options: dict[str, Any] | None = None,
        pairs: str = "all",
        repartition: int = 10,
    ) -> Any:
        """Trains the model, as :meth:`pairity.FairRanker.fit` does, with the features held by workers.

        Parameters
        ----------
        X
            A dataset of Ray, or a table or a matrix in the driver's memory. All columns of a dataset that are not named
            below are features.
        y, groups, protected, queries, weights, within, pairs_where
            As for :meth:`pairity.FairRanker.fit`; names of columns of a dataset.
        workers
            How many actors hold the features.
        options
            Options of the actors, such as ``{"num_cpus": 1}``; see ``ray.remote``.
        pairs
            Which pairs count in a step of training without queries: ``all``, or those ``within`` workers, to which rows
            are dealt out at random. Models are chosen, and reported on, by all pairs either way.
        repartition
            After how many steps rows are dealt out anew, where pairs are those within workers.
        """
        if pairs not in ("all", "within"):
            raise ValueError(f"pairs is {pairs!r}; it has to be 'all' or 'within'")
        if pairs == "within" and queries is not None:
            raise ValueError("pairs='within' is for rows without queries: those of a query are compared in any case")
        if type(X).__module__.startswith("ray.data"):
            sign, side = pairs_where or ("", None)
            given = [y, groups, protected, queries, weights, within, side]
            parts, counts, roles, first = _dataset_parts(X, given, workers)
            y, groups, protected, queries, weights, within, side = roles
            pairs_where = pairs_where and (sign, side)
            self._features(first, reset=True)
            if protected is not None and self._aware():
                raise ValueError("a continuous attribute as a feature has to be another column of the dataset")
        else:
            parts, counts = _matrix_parts(self._features(X, reset=True, protected=protected), workers)
        examples, _, settings = self._prepared(
            X, y, groups, protected, queries, weights, within=within, pairs_where=pairs_where, rows=sum(counts)
        )
        if pairs == "within":
            settings["within"] = (len(counts), int(repartition))
        # Its annotations know nothing of threads.
        remote: Any = ray.remote
        holder = remote(concurrency_groups={"deal": 1})(_Holder).options(
            **{"max_restarts": -1, "max_task_retries": -1, "num_cpus": 1, **(options or {})}
        )
        actors: list[Any] = [holder.remote(*refs) for refs in parts]
        try:
            self._learn(_engine.train_elsewhere, examples, _Driver(actors, counts), settings)
        finally:
            for actor in actors:
                ray.kill(actor)
        return self


def _matrix_parts(features: _estimators.Features, workers: int) -> tuple[list[list[Any]], list[int]]:
    """Rows of columns in the object store, about as many for each worker."""
    rows = _estimators._length(features)
    bounds = np.linspace(0, rows, max(1, min(workers, rows)) + 1).astype(int)
    parts, counts = [], []
    for start, end in zip(bounds[:-1], bounds[1:], strict=True):
        own = [
            (name, (np.ascontiguousarray(cells[0][start:end]), cells[1]) if isinstance(cells, tuple) else np.ascontiguousarray(cells[start:end]))
            for name, cells in features
        ]
        parts.append([ray.put(own)])
        counts.append(int(end - start))
    return parts, counts


def _dataset_parts(
    dataset: Any, roles: list[Any], workers: int
) -> tuple[list[list[Any]], list[int], list[Any], Any]:
    """The blocks of a dataset for each worker, the columns of roles, and an empty block of features."""
    names = [[] if role is None else [role] if isinstance(role, str) else list(role) for role in roles]
    used = [name for own in names for name in own]
    blocks = dataset.materialize().to_arrow_refs()
    split = ray.remote(num_returns=2)(_split_block)
    halves: list[Any] = [split.remote(block, used) for block in blocks]
    small = ray.get([own for own, _ in halves])
    kept = [(len(own[used[0]]), features) for own, (_, features) in zip(small, halves, strict=True) if len(own[used[0]])]
    columns = {name: np.concatenate([own[name] for own in small if len(own[name])]) for name in used}
    share = np.array_split(np.arange(len(kept)), max(1, min(workers, len(kept))))
    parts = [[kept[at][1] for at in own] for own in share]
    counts = [sum(kept[at][0] for at in own) for own in share]
    values: list[Any] = []
    for role, own in zip(roles, names, strict=True):
        several = {name: columns[name] for name in own}
        values.append(None if role is None else columns[role] if isinstance(role, str) else several)
    return parts, counts, values, ray.get(ray.remote(_empty).remote(parts[0][0]))


def _split_block(block: Any, names: list[str]) -> tuple[dict[str, Any], Any]:
    small = {name: _columns.array(block.column(name)) for name in names}
    return small, block.drop_columns(list(set(names)))


def _empty(block: Any) -> Any:
    return block.slice(0, 0)


class FairRanker(_OnRay, _estimators.FairRanker):
    """A :class:`pairity.FairRanker` whose features are held by workers of a Ray cluster."""


class FairRegressor(_OnRay, _estimators.FairRegressor):
    """A :class:`pairity.FairRegressor` whose features are held by workers of a Ray cluster.

    Pairs are those of all rows, whichever workers hold them, or with ``fit(…, pairs="within")`` those inside of workers.
    """
