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


def test_a_regressor_sees_the_pairs_of_all_workers(cluster: Any) -> None:
    from pairity.ray import FairRegressor

    random = np.random.default_rng(2)
    X = random.normal(size=(400, 3))
    groups = np.where(random.random(400) < 0.4, "a", "b")
    y = X @ [1.0, -0.5, 0.2] + (groups == "a") + random.normal(size=400)
    mine = FairRegressor(**SETTINGS).fit(X, y, groups=groups, workers=2)
    same(mine, pairity.FairRegressor(**SETTINGS).fit(X, y, groups=groups))


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
