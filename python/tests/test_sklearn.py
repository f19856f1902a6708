"""The conventions of scikit-learn and fairlearn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pairity
from needs import need

sklearn = need("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import PolynomialFeatures, StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

QUICK = {"iterations": 100, "snapshots": 10, "step_sizes": (0.1,)}


@pytest.mark.parametrize(
    "estimator",
    [
        pairity.FairRanker(iterations=20, snapshots=5, step_sizes=(0.1,)),
        pairity.FairRegressor(iterations=400, snapshots=10, step_sizes=(0.1,)),
        pairity.FairRegressor(iterations=400, snapshots=10, step_sizes=(0.1,), model="mlp"),
    ],
    ids=["ranker", "regressor", "network"],
)
def test_the_checks_of_scikit_learn_pass(estimator):
    with warnings.catch_warnings():
        # Fitting without groups warns, and the checks know no groups.
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_skip=None)
    assert all(result["status"] != "failed" for result in results)
    assert sum(result["status"] == "passed" for result in results) > 30


@pytest.fixture()
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_clones_have_the_same_parameters(rows):
    ranker = pairity.FairRanker(subject_to=["cross_group <= 0.05"], **QUICK)
    other = clone(ranker)
    assert other.get_params() == ranker.get_params()
    assert not hasattr(other, "model_")


def test_a_pipeline_routes_groups_and_queries(rows, routing):
    ranker = pairity.FairRanker(subject_to=["cross_group <= 0.05"], **QUICK)
    ranker.set_fit_request(groups=True, queries=True).set_predict_request(queries=True)
    ranker.set_score_request(groups=True, queries=True)
    pipeline = make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False), ranker)
    pipeline.fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries)
    assert pipeline[-1].report_["goal"]["subject_to"] == ["cross_group <= 0.05"]
    assert pipeline[-1].n_features_in_ == 5
    assert pipeline.score(rows.X, rows.y, groups=rows.groups, queries=rows.queries) > 0.7
    scores = pipeline.predict(rows.X, queries=rows.queries)
    np.testing.assert_array_equal(scores, pipeline.predict(rows.X, queries=rows.queries))


def test_a_grid_search_splits_by_query(rows, routing):
    ranker = pairity.FairRanker(**QUICK)
    ranker.set_fit_request(groups=True, queries=True).set_score_request(groups=True, queries=True)
    gap = pairity.make_scorer("cross_group").set_score_request(groups=True, queries=True)
    auc = pairity.make_scorer("auc").set_score_request(queries=True)
    search = GridSearchCV(
        ranker,
        {"subject_to": [["cross_group <= 0.01"], ["cross_group <= 0.9"]]},
        # The splitter's own groups are our queries.
        cv=GroupKFold(3).set_split_request(groups="queries"),
        scoring={"auc": auc, "gap": gap},
        refit="auc",
    )
    search.fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries)
    strict, loose = search.cv_results_["mean_test_gap"]
    assert loose < -0.2 < strict <= 0
    assert search.best_params_ == {"subject_to": ["cross_group <= 0.9"]}


def test_cross_validation_uses_the_objective(rows, routing):
    ranker = pairity.FairRanker(subject_to=(), **QUICK)
    ranker.set_fit_request(groups=True, queries=True).set_score_request(groups=True, queries=True)
    found = cross_validate(
        ranker,
        rows.X,
        rows.y,
        cv=GroupKFold(2).set_split_request(groups="queries"),
        params={"groups": rows.groups, "queries": rows.queries},
        return_estimator=True,
    )
    assert (found["test_score"] > 0.85).all()
    seconds = [estimator.report_["train"]["rows"] for estimator in found["estimator"]]
    assert seconds == [2200, 2200]


def test_metrics_of_frames(rows, scores):
    fairlearn = need("fairlearn.metrics")
    frame = fairlearn.MetricFrame(
        metrics={"accuracy": pairity.metrics.pairwise_accuracy, "mse": pairity.metrics.metric("mse")},
        y_true=rows.y,
        y_pred=scores,
        sensitive_features=rows.groups,
        sample_params={"accuracy": {"queries": rows.queries}},
    )
    audit = pairity.audit(scores, rows.y, rows.groups, queries=rows.queries)
    assert frame.overall["accuracy"] == audit.auc.value
    for group in (0, 1):
        assert frame.by_group["accuracy"][group] == audit.accuracy[group][group].value
    gap = abs(audit.accuracy[0][0].value - audit.accuracy[1][1].value)
    assert frame.difference()["accuracy"] == pytest.approx(gap)


def test_metrics_that_can_not_be_estimated_are_no_numbers():
    assert np.isnan(pairity.metrics.pairwise_accuracy([1, 1], [0.1, 0.2]))
