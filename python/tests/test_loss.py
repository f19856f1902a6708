"""The game in score space."""

from __future__ import annotations

import numpy as np
import pytest

import pairity


def loss_of(rows, **settings):
    return pairity.PairwiseLoss(rows.y, groups=rows.groups, queries=rows.queries, **settings)


def test_one_pair_by_hand():
    loss = pairity.PairwiseLoss([1.0, 0.0])
    value, gradient, hessian = loss.step([0.5, 0.25])
    # One pair at a distance of 0.25: the hinge is 1 − 0.25, and the objective has all the weight.
    assert value == 0.75
    assert gradient.tolist() == [-1.0, 1.0] and hessian.tolist() == [1.0, 1.0]
    value, gradient, hessian = loss.step([2.0, 0.5])
    assert (value, gradient.tolist(), hessian.tolist()) == (0.0, [0.0, 0.0], [0.0, 0.0])
    assert loss.rates == {"auc": 1.0}
    squared = pairity.PairwiseLoss([1.0, 0.0], surrogate="squared-hinge")
    value, gradient, hessian = squared.step([0.5, 0.25])
    assert (value, gradient.tolist(), hessian.tolist()) == (0.5625, [-1.5, 1.5], [2.0, 2.0])


@pytest.mark.parametrize("surrogate", ["hinge", "squared-hinge", "ramp"])
def test_gradients_are_limits_of_differences(rows, surrogate):
    loss = loss_of(rows, subject_to=["cross_group <= 0.01", "auc >= 0.9"], surrogate=surrogate)
    random = np.random.default_rng(2)
    scores = random.normal(size=len(rows))
    for _ in range(50):
        loss.step(scores)
    weights = loss.status().weights
    assert len(weights) == 3 and min(weights[1:]) > 1e-4
    value, gradient, hessian = loss.look(scores)
    assert loss.status().weights == weights
    direction = random.normal(size=len(rows))
    step = 1e-6
    above, below = (loss.look(scores + sign * step * direction)[0] for sign in (1, -1))
    assert (above - below) / (2 * step) == pytest.approx(gradient @ direction, rel=1e-4, abs=1e-7)
    assert (hessian >= 0).all() and hessian.max() > 0
    if surrogate == "squared-hinge":
        place = int(np.argmax(hessian))
        aside = np.zeros(len(rows))
        aside[place] = step
        slopes = [loss.look(scores + sign * aside)[1][place] for sign in (1, -1)]
        assert (slopes[0] - slopes[1]) / (2 * step) == pytest.approx(hessian[place], rel=1e-4)


def test_a_violated_constraint_gains_weight(rows, scores):
    loss = loss_of(rows, subject_to=["cross_group <= 0.01"])
    before = loss.status()
    assert before.steps == 0 and np.isnan(before.objective)
    loss.step(scores)
    first = loss.status()
    audit = pairity.audit(scores, rows.y, rows.groups, queries=rows.queries)
    assert first.objective == pytest.approx(audit.auc.value, abs=1e-12)
    assert first.violations[0] == pytest.approx(audit.gaps["cross_group"].value - 0.01, abs=1e-12)
    assert loss.rates["A[0 > 1]"] == pytest.approx(audit["A[0 > 1]"].value, abs=1e-12)
    assert not first.meets_goal
    for _ in range(100):
        loss.step(scores)
    assert max(loss.status().weights[1:]) > 100 * max(first.weights[1:])


@pytest.mark.parametrize(
    "goal",
    [
        {"maximize": "auc", "subject_to": ["cross_group <= 0.05"]},
        {"maximize": "min(auc, A[0 > 1], A[1 > 0])", "subject_to": ()},
        {"maximize": "auc", "subject_to": ["cross_group <= 0.05"], "player": "lagrangian", "average": "queries"},
    ],
)
def test_a_linear_model_is_trained_as_the_engine_does(rows, goal):
    """The same game as `FairRanker` plays, with Adam by hand."""
    ranker = pairity.FairRanker(iterations=100, snapshots=10, step_sizes=[0.1], **goal)
    ranker.fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries)
    X = (rows.X - rows.X.mean(axis=0)) / rows.X.std(axis=0)
    loss = loss_of(rows, step_size=0.1, **goal)
    w, m, v = np.ones(2), np.zeros(2), np.zeros(2)
    for step in range(1, 101):
        _, slopes, _ = loss.step(X @ w)
        gradient = X.T @ slopes
        m += 0.1 * (gradient - m)
        v += 0.001 * (gradient**2 - v)
        rate = 0.1 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        w -= rate * m / (np.sqrt(v) + 1e-8)
        if step % 10 == 0:
            loss.snapshot(w.copy(), X @ w)
    mixture = loss.shrink()
    assert mixture.objective == pytest.approx(ranker.report_["train"]["objective"], abs=1e-3)
    assert len(mixture.components) == len(ranker.components_)
    for (found, share), component in zip(mixture.components, ranker.components_, strict=True):
        np.testing.assert_allclose(found, component.parameters, rtol=1e-6)
        assert share == pytest.approx(component.probability, abs=1e-3)
    assert loss.snapshots[0].shape == (2,)


def test_the_mean_squared_error_has_a_loss_too():
    labels = np.array([1.0, 2.0, 4.0])
    loss = pairity.PairwiseLoss(labels, minimize="mse")
    value, gradient, hessian = loss.step(np.zeros(3))
    assert value == pytest.approx(7.0)
    np.testing.assert_allclose(gradient, -2 * labels / 3)
    np.testing.assert_allclose(hessian, 2 / 3)


def test_what_does_not_fit_is_refused(rows):
    loss = loss_of(rows)
    with pytest.raises(ValueError, match="scores has 3 rows, but 4400 were expected"):
        loss.step([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="is NaN"):
        loss.step(np.full(len(rows), np.nan))
    with pytest.raises(ValueError, match="exclude each other"):
        loss_of(rows, maximize="auc", minimize="mse")
    with pytest.raises(ValueError, match="the margin is 0"):
        loss_of(rows, margin=0)
    with pytest.raises(ValueError, match="the step size is -1"):
        loss_of(rows, step_size=-1)
    with pytest.raises(ValueError, match="has no pairs"):
        pairity.PairwiseLoss([1, 0], groups=["a", "a"], subject_to=["A[a > a] >= 0.5"], queries=[0, 1])
    with pytest.raises(ValueError):
        loss_of(rows).shrink()


def test_mixtures_draw_one_component_a_query():
    mixture = pairity.Mixture([(1.0, 0.25), (2.0, 0.75)], 0.0, 0.0)
    queries = np.repeat(np.arange(4000), 2)
    scores = mixture.scores(lambda snapshot: np.full(8000, snapshot), queries)
    assert (scores[::2] == scores[1::2]).all()
    # Four standard deviations of a share of 0.25 among 4,000.
    assert abs((scores == 1.0).mean() - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 4000)
    whole = mixture.scores(lambda snapshot: np.full(5, snapshot))
    assert len(set(whole)) == 1
    with pytest.raises(ValueError, match="say how many rows"):
        mixture.draw()


@pytest.mark.parametrize("queries", [None, 3])
def test_slopes_and_curvatures_are_sums_over_all_pairs(queries):
    random = np.random.default_rng(4)
    n = 240
    labels, scores = random.integers(5, size=n).astype(float), 2 * random.normal(size=n)
    groups, weights = random.integers(2, size=n), random.random(n)
    asked = None if queries is None else np.arange(n) % queries
    # What cross_group <= 0.01 is, one side at a time, so that the weight of each is known.
    sides = ["A[0 > 1] - A[1 > 0] <= 0.01", "A[1 > 0] - A[0 > 1] <= 0.01"]
    loss = pairity.PairwiseLoss(labels, groups, queries=asked, weights=weights, subject_to=sides)
    for _ in range(40):
        loss.step(scores)
    _, gradient, hessian = loss.look(scores)
    objective, first, second = loss.status().weights
    better, worse = np.nonzero((labels[:, None] > labels) & (True if asked is None else asked[:, None] == asked))
    mass = weights[better] * weights[worse]
    apart = scores[better] - scores[worse]
    up, down = np.zeros(len(mass)), np.zeros(len(mass))
    up += objective * mass / mass.sum()
    assert first != second
    # Each side holds one rate down and the other one up, each by its own bound.
    for a, b, lower, upper in ((0, 1, first, second), (1, 0, second, first)):
        cell = (groups[better] == a) & (groups[worse] == b)
        down[cell] += lower * mass[cell] / mass[cell].sum()
        up[cell] += upper * mass[cell] / mass[cell].sum()
    pull = up * (1 - apart > 0)
    push = down * (1 + apart > 0)
    slopes, bends = np.zeros(n), np.zeros(n)
    np.add.at(slopes, better, push - pull)
    np.add.at(slopes, worse, pull - push)
    np.add.at(bends, better, push + pull)
    np.add.at(bends, worse, push + pull)
    np.testing.assert_allclose(slopes, gradient, atol=1e-12)
    np.testing.assert_allclose(bends, hessian, atol=1e-12)
