"""Training with Ray: the result of one machine, also where a worker is killed."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest
from needs import need

import pairity

# Ray has warnings of its own, and leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore")

SETTINGS: dict[str, Any] = {
    "subject_to": ["cross_group <= 0.05"],
    "iterations": 60,
    "snapshots": 10,
    "step_sizes": [0.01, 0.1],
    "validation_fraction": 0.3,
    "random_state": 3,
}


@pytest.fixture(scope="module")
def cluster(ray: Any) -> Any:
    return ray


def same(mine: Any, expected: Any) -> None:
    """Parameters, mixture and reported values agree."""
    assert mine.status_ == expected.status_
    assert len(mine.components_) == len(expected.components_)
    for own, other in zip(mine.components_, expected.components_, strict=True):
        assert own.snapshot == other.snapshot
        assert own.probability == pytest.approx(other.probability, abs=1e-9)
        np.testing.assert_allclose(own.parameters, other.parameters, rtol=1e-9, atol=1e-9)
    numbers(mine.report_, expected.report_)


def numbers(own: Any, other: Any, path: str = "") -> None:
    """All numbers of two documents agree, but for the time it took."""
    if isinstance(other, dict):
        assert own.keys() == other.keys(), path
        for key in other:
            if "seconds" not in key:
                numbers(own[key], other[key], f"{path}.{key}")
    elif isinstance(other, list):
        assert len(own) == len(other), path
        for at, (mine, expected) in enumerate(zip(own, other, strict=True)):
            numbers(mine, expected, f"{path}[{at}]")
    elif isinstance(other, float):
        assert own == pytest.approx(other, abs=1e-9, rel=1e-9), path
    else:
        assert own == other, path


def ranking() -> Any:
    return pairity.datasets.simulated(120, seed=5)


@pytest.mark.parametrize("changes", [{}, {"batch": 20}, {"group_aware": "weights"}, {"model": "mlp", "hidden": [3]}])
def test_a_ranker_is_that_of_one_machine(cluster: Any, changes: dict[str, Any]) -> None:
    from pairity.ray import FairRanker

    rows = ranking()
    settings = {**SETTINGS, **changes}
    mine = FairRanker(**settings).fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries, workers=3)
    expected = pairity.FairRanker(**settings).fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries)
    same(mine, expected)
    scores = mine.predict(rows.X, queries=rows.queries, groups=rows.groups if "group_aware" in changes else None)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("changes", [{}, {"l2": 0.1}, {"select": "validation", "validation_fraction": 0.3}])
def test_column_generation_is_that_of_one_machine(cluster: Any, changes: dict[str, Any]) -> None:
    from pairity.ray import FairRanker

    rows = ranking()
    settings = {"subject_to": ["cross_group <= 0.05"], "random_state": 3, **changes}
    # With a third feature not all scorers lie in one plane, and are looked for step by step.
    X = np.column_stack([rows.X, np.sin(np.arange(len(rows.X)))]) if changes else rows.X
    mine = FairRanker(**settings).fit(X, rows.y, groups=rows.groups, queries=rows.queries)
    expected = pairity.FairRanker(**settings).fit(X, rows.y, groups=rows.groups, queries=rows.queries)
    assert mine.report_["solver"] == expected.report_["solver"] == "columns"
    same(mine, expected)


def regression() -> Any:
    random = np.random.default_rng(2)
    X = random.normal(size=(400, 3))
    groups = np.where(random.random(400) < 0.4, "a", "b")
    return X, X @ [1.0, -0.5, 0.2] + (groups == "a") + random.normal(size=400), groups


def test_a_regressor_sees_the_pairs_of_all_workers(cluster: Any) -> None:
    from pairity.ray import FairRegressor

    X, y, groups = regression()
    mine = FairRegressor(**SETTINGS).fit(X, y, groups=groups, workers=2)
    same(mine, pairity.FairRegressor(**SETTINGS).fit(X, y, groups=groups))


@pytest.mark.parametrize("changes", [{}, {"group_aware": "weights"}, {"model": "mlp", "hidden": [3]}])
def test_pairs_within_a_single_worker_are_all_pairs(cluster: Any, changes: dict[str, Any]) -> None:
    from pairity.ray import FairRegressor

    X, y, groups = regression()
    settings = {**SETTINGS, **changes}
    mine = FairRegressor(**settings).fit(X, y, groups=groups, workers=1, pairs="within", repartition=20)
    same(mine, pairity.FairRegressor(**settings).fit(X, y, groups=groups))


class Recording:
    """Answers for workers in one process, and remembers the parts that they were given and what they were asked."""

    def __init__(self, features: Any) -> None:
        self.features = features
        self.partitions: list[list[Any]] = []
        self.steps: list[Any] = []

    def names(self) -> list[str]:
        return [name for name, _ in self.features]

    def column(self, at: int) -> Any:
        return self.features[at]

    def connect(self, encoder: str, codes: Any) -> None:
        self.rows = pairity._engine.FeaturePart(self.features, encoder, codes)

    def scores(self, scorer: str, parameters: Any, rows: Any) -> Any:
        return self.rows.select(rows).scores(scorer, parameters)

    def parts(self, task: str, parts: Any) -> Any:
        self.partitions.append([rows for _, rows in parts])
        here = [pairity._engine.PartPairs(examples, self.rows.select(rows), task) for examples, rows in parts]
        steps = self.steps

        class Parts:
            def totals(self) -> Any:
                return [part.totals() for part in here]

            def losses(self, scorer: str, parameters: Any, weights: Any) -> Any:
                steps.append(parameters)
                return [part.loss(scorer, parameters, own) for part, own in zip(here, weights, strict=True)]

        return Parts()


def test_workers_count_the_pairs_of_the_rows_that_they_are_dealt(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pairity.ray import FairRegressor, _training

    X, y, groups = regression()
    # Columns of texts and of numbers, and pairs of rows that agree on another, by which the engine sorts rows; three workers,
    # one of which is killed between two steps.
    table = {"a": X[:, 0], "color": np.where(X[:, 1] > 0.3, "red", "blue"), "b": X[:, 2]}
    within = np.arange(len(y)) % 3 % 2
    settings = {**SETTINGS, "group_aware": "offsets", "step_sizes": [0.1]}
    steps: list[Any] = []
    killed = []
    losses = _training._Parts.losses

    def killing(self: Any, scorer: str, parameters: Any, weights: Any) -> Any:
        steps.append(parameters)
        if len(steps) == 25:
            pid = cluster.get(self._loads[1][0].pid.remote())
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
        return losses(self, scorer, parameters, weights)

    monkeypatch.setattr(_training._Parts, "losses", killing)
    mine = FairRegressor(**settings).fit(
        table, y, groups=groups, within=within, workers=3, pairs="within", repartition=7
    )

    def here(parts: int) -> tuple[Any, Recording]:
        driver = Recording(pairity.FairRegressor()._features(table, reset=True))
        found = pairity.FairRegressor(**settings)
        examples, _, asked = found._prepared(table, y, groups, None, None, None, within=within)
        found._learn(pairity._engine.train_elsewhere, examples, driver, {**asked, "within": (parts, 7)})
        return found, driver

    expected, driver = here(parts=3)
    same(mine, expected)
    # A game with the constraint, and one without it.
    assert len(killed) == 1 and len(steps) == len(driver.steps) == 2 * SETTINGS["iterations"]
    np.testing.assert_allclose(steps, driver.steps, rtol=1e-9, atol=1e-9)
    # In each game nine partitions of the same rows, the last of four steps.
    assert len(driver.partitions) == 2 * 9
    parts = [np.sort(np.concatenate(own)) for own in driver.partitions]
    assert all(np.array_equal(own, parts[0]) for own in parts) and len(np.unique(parts[0])) == 280
    assert not np.array_equal(driver.partitions[0][0], driver.partitions[1][0])
    # Steps over all pairs are others.
    assert np.abs(np.subtract(steps, here(parts=1)[1].steps)).max() > 1e-4


def test_pairs_within_workers_are_those_of_rows_without_queries(cluster: Any) -> None:
    from pairity.ray import FairRanker, FairRegressor

    rows = ranking()
    with pytest.raises(ValueError, match="without queries"):
        FairRanker(**SETTINGS).fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries, pairs="within")
    X, y, groups = regression()
    with pytest.raises(ValueError, match="'all' or 'within'"):
        FairRegressor(**SETTINGS).fit(X, y, groups=groups, pairs="some")
    with pytest.raises(ValueError, match="steps with the same parts is 0"):
        FairRegressor(**SETTINGS).fit(X, y, groups=groups, pairs="within", repartition=0)
    with pytest.raises(ValueError, match="a batch"):
        FairRegressor(**SETTINGS, batch=10).fit(X, y, groups=groups, pairs="within")


def test_a_worker_that_is_killed_changes_nothing(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pairity.ray import FairRanker, _training

    rows = ranking()
    calls, killed = [0], []
    gradient = _training._Driver.gradient

    def killing(self: Any, *question: Any) -> Any:
        calls[0] += 1
        if calls[0] == 30:
            pid = cluster.get(self._workers[1].pid.remote())
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
        return gradient(self, *question)

    monkeypatch.setattr(_training._Driver, "gradient", killing)
    mine = FairRanker(**SETTINGS).fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries, workers=2)
    assert len(killed) == 1 and calls[0] > 60
    same(mine, pairity.FairRanker(**SETTINGS).fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries))


def test_a_dataset_is_trained_on_by_the_names_of_its_columns(cluster: Any) -> None:
    from pairity.ray import FairRanker

    data = need("ray.data", "ray")
    import pandas as pd

    rows = ranking()
    table = pd.DataFrame({"a": rows.X[:, 0], "b": rows.X[:, 1], "color": np.where(rows.X[:, 0] > 0.3, "red", "blue")})
    both = table.assign(label=rows.y, group=rows.groups, query=rows.queries)
    dataset = data.from_pandas([both[:200], both[200:201], both[201:]])
    mine = FairRanker(**SETTINGS).fit(dataset, "label", groups="group", queries="query")
    expected = pairity.FairRanker(**SETTINGS).fit(table, rows.y, groups={"group": rows.groups}, queries=rows.queries)
    same(mine, expected)
    np.testing.assert_allclose(mine.predict(table, queries=rows.queries), expected.predict(table, queries=rows.queries))


def test_what_goes_wrong_with_a_worker_is_told(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pairity.ray import FairRanker, _training

    def wrong(self: Any, *question: Any) -> Any:
        raise RuntimeError("the network is down")

    monkeypatch.setattr(_training._Driver, "gradient", wrong)
    rows = ranking()
    with pytest.raises(ValueError, match="the network is down"):
        FairRanker(**SETTINGS).fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries)
