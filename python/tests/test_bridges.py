"""Bridges to other libraries."""

from __future__ import annotations

import numpy as np
import pytest

import pairity
from needs import need


@pytest.fixture(scope="module")
def parts():
    return pairity.datasets.simulated(5000, seed=0).split(0.5)


def measured(scores, rows):
    audit = pairity.audit(scores, rows.y, rows.groups, queries=rows.queries)
    return audit.auc.value, audit.gaps["cross_group"].value


def columns(rows):
    return {"groups": rows.groups, "queries": rows.queries}


TREES = {"num_leaves": 8, "learning_rate": 0.1, "min_data_in_leaf": 200, "verbose": -1, "seed": 0, "num_threads": 1}


def test_lightgbm_with_the_group_as_a_feature_is_fair_and_accurate(parts):
    lightgbm = need("lightgbm")
    train, test = parts
    fair = pairity.lightgbm.objective(train.y, **columns(train), subject_to=["cross_group <= 0.01"])
    data = lightgbm.Dataset(train.with_group(), train.y)
    booster = lightgbm.train(TREES | {"objective": fair}, data, num_boost_round=100)
    auc, gap = measured(booster.predict(test.with_group()), test)
    assert auc >= 0.92 and gap <= 0.03


def test_lightgbm_without_the_group_has_to_be_told(parts):
    lightgbm = need("lightgbm")
    train, test = parts
    plain = lightgbm.train(
        TREES | {"objective": "binary"}, lightgbm.Dataset(train.X, train.y > 0), num_boost_round=100
    )
    fair = pairity.lightgbm.objective(train.y, **columns(train), subject_to=["cross_group <= 0.01"])
    history: dict[str, dict[str, list[float]]] = {}
    valid = lightgbm.Dataset(test.X, test.y)
    booster = lightgbm.train(
        TREES | {"objective": fair, "metric": "none"},
        lightgbm.Dataset(train.X, train.y),
        num_boost_round=100,
        valid_sets=[valid],
        feval=pairity.lightgbm.metrics(["auc", "cross_group"], **columns(test)),
        callbacks=[lightgbm.record_evaluation(history)],
    )
    before, after = measured(plain.predict(test.X), test), measured(booster.predict(test.X), test)
    assert before[1] > 0.15
    # The limit of all functions of these features is an AUC of .910 at a gap of .01; the test rows have a
    # standard error of .01 in the gap.
    assert after[1] < 0.05 and after[0] > 0.89
    assert history["valid_0"]["auc"][-1] == pytest.approx(after[0])
    assert history["valid_0"]["cross_group"][-1] == pytest.approx(after[1])
    assert fair.status().steps == 100 and len(fair.loss.snapshots) == 9
    mixture = fair.shrink()
    scores = mixture.scores(lambda trees: booster.predict(test.X, num_iteration=trees), test.queries)
    assert measured(scores, test)[1] < 0.06
    # Snapshots are numbers of trees: what the game saw is what the booster predicts.
    again = pairity.PairwiseLoss(train.y, **columns(train), subject_to=["cross_group <= 0.01"])
    again.look(booster.predict(train.X, num_iteration=99))
    assert again.rates == pytest.approx(fair.rates)


def test_estimators_of_lightgbm_take_the_objective(rows):
    lightgbm = need("lightgbm")
    need("sklearn")
    fair = pairity.lightgbm.objective(rows.y, **columns(rows), subject_to=["cross_group <= 0.05"])
    estimator = lightgbm.LGBMRegressor(n_estimators=30, objective=fair, verbose=-1, n_jobs=1)
    estimator.fit(rows.with_group(), rows.y)
    assert fair.calls == 30
    assert measured(estimator.predict(rows.with_group()), rows)[0] > 0.9


def test_xgboost_has_the_same_bridge(rows):
    xgboost = need("xgboost")
    fair = pairity.xgboost.objective(rows.y, **columns(rows), subject_to=["cross_group <= 0.02"])
    data = xgboost.DMatrix(rows.X, rows.y)
    history: dict[str, dict[str, list[float]]] = {}
    booster = xgboost.train(
        {"max_depth": 3, "eta": 0.1, "base_score": 0.0, "nthread": 1, "disable_default_eval_metric": 1},
        data,
        num_boost_round=120,
        obj=fair,
        evals=[(data, "train")],
        custom_metric=pairity.xgboost.metrics(["auc", "cross_group"], **columns(rows)),
        evals_result=history,
        verbose_eval=False,
    )
    plain = xgboost.train({"max_depth": 3, "eta": 0.1, "nthread": 1}, data, num_boost_round=30)
    mixture = fair.shrink()
    scores = mixture.scores(lambda trees: booster.predict(data, iteration_range=(0, trees)), rows.queries)
    assert measured(plain.predict(data), rows)[1] > 0.1
    # What is expected meets the goal; which trees a query draws adds chance to it.
    assert mixture.violation <= 1e-6 and measured(scores, rows)[1] < 0.1
    last = measured(booster.predict(data), rows)
    assert history["train"]["auc"][-1] == pytest.approx(last[0], abs=1e-6)


def test_estimators_of_xgboost_take_the_objective(rows):
    xgboost = need("xgboost")
    need("sklearn")
    fair = pairity.xgboost.objective(rows.y, **columns(rows), subject_to=["cross_group <= 0.05"])
    estimator = xgboost.XGBRegressor(n_estimators=30, objective=fair, n_jobs=1, base_score=0.0)
    estimator.fit(rows.with_group(), rows.y)
    assert fair.calls == 30
    assert measured(estimator.predict(rows.with_group()), rows)[0] > 0.9


def test_rows_have_to_be_those_of_the_training_data(rows):
    need("lightgbm")
    fair = pairity.lightgbm.objective(rows.y, **columns(rows))
    with pytest.raises(ValueError, match="the booster scores 3 rows, but the objective was made for 4400"):
        fair(np.zeros(3), np.zeros(3))


def test_slopes_are_of_the_size_of_one_a_row(rows):
    need("lightgbm")
    fair = pairity.lightgbm.objective(rows.y, **columns(rows), subject_to=["cross_group <= 0.05"])
    gradient, hessian = fair(rows.y, np.zeros(len(rows)))
    assert (hessian > 0).all()
    # One positive and ten negatives in each query: the mean absolute slope is 2 · 4400 / (11 · 400 · 10) · 10.
    assert np.abs(gradient).mean() == pytest.approx(2.0, rel=0.01)
    np.testing.assert_allclose(hessian.sum(), 2.0 * len(rows), rtol=0.01)


def test_torch_has_gradients(rows):
    torch = need("torch")
    loss = pairity.torch.PairwiseLoss(rows.y, **columns(rows), subject_to=["cross_group <= 0.05"])
    plain = pairity.PairwiseLoss(rows.y, **columns(rows), subject_to=["cross_group <= 0.05"])
    scores = torch.from_numpy(rows.X[:, :1].copy()).requires_grad_()
    value = loss(scores)
    (3 * value).backward()
    expected, gradient, _ = plain.step(rows.X[:, 0])
    assert value.item() == expected
    np.testing.assert_allclose(scores.grad[:, 0].numpy(), 3 * gradient)
    with torch.no_grad():
        loss(scores)
    assert loss.status().steps == 1
