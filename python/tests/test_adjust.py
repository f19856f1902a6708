"""Adjusting scores group by group, or by a continuous attribute."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import pairity


@pytest.mark.parametrize("method", ["group-offset", "quantile-match", "x-order", "kallus-zhou"])
def test_a_map_keeps_the_order_inside_groups(rows, scores, method, page):
    adjusted = pairity.adjust(scores, rows.labels, rows.groups, rows.queries, method=method)
    assert adjusted.document["method"] == method
    before, after = (adjusted.document["parts"]["test"][when] for when in ("before", "after"))
    gap = [part["constraints"][0]["metric"]["value"] for part in (before, after)]
    assert gap[1] < gap[0]
    for group in (0, 1):
        own = rows.groups == group
        order = np.argsort(scores[own], kind="stable")
        assert (np.diff(adjusted.scores[own][order]) >= 0).all()
    np.testing.assert_array_equal(adjusted.apply(scores, rows.groups), adjusted.scores)
    again = pickle.loads(pickle.dumps(adjusted))
    np.testing.assert_array_equal(again.apply(scores, rows.groups), adjusted.scores)
    assert method in page(adjusted._repr_html_())


def test_an_offset_by_hand(rows, scores):
    adjusted = pairity.adjust(scores, rows.labels, rows.groups, rows.queries, tune=1.0)
    assert adjusted.status == "feasible" and adjusted.violations[0] <= 1e-9
    offsets = {entry["name"]: entry["offset"] for entry in adjusted.document["adjustment"]["groups"]}
    expected = scores + np.where(rows.groups == 1, offsets["1"], offsets["0"])
    np.testing.assert_array_equal(adjusted.scores, expected)
    assert "test" not in adjusted.document["parts"]
    # Groups that were not seen keep their scores.
    np.testing.assert_array_equal(adjusted.apply([1.0, 2.0], ["x", None]), [1.0, 2.0])


def test_what_does_not_apply_is_told(rows, scores):
    with pytest.raises(ValueError, match="strength belongs to method quantile-match"):
        pairity.adjust(scores, rows.labels, rows.groups, rows.queries, strength=0.5)
    with pytest.raises(ValueError, match="tune is 0"):
        pairity.adjust(scores, rows.labels, rows.groups, rows.queries, tune=0)
    with pytest.raises(ValueError, match='method is "magic"'):
        pairity.adjust(scores, rows.labels, rows.groups, rows.queries, method="magic")
    three = pairity.datasets.simulated(100, groups=3)
    with pytest.raises(ValueError, match="it merges two groups, and there are 3"):
        pairity.adjust(three.X[:, 0], three.y, three.groups, three.queries, method="x-order")


@pytest.mark.parametrize("method", ["group-offset", "quantile-match"])
def test_the_command_line_adjusts_in_the_same_way(command, table, rows, scores, method):
    arguments = ["--score", "score", "--label", "label", "--group", "group", "--query", "query", "--seed", 5]
    expected = command("adjust", table, *arguments, "--method", method, "--subject-to", "cross_group <= 0.02")
    found = pairity.adjust(
        scores, rows.labels, rows.groups, rows.queries, method=method, subject_to="cross_group <= 0.02", seed=5
    )
    assert found.document == expected


def test_a_multiple_of_a_continuous_attribute_is_subtracted(command, table, rows, scores):
    arguments = ["--score", "score", "--label", "label", "--protected", "x0", "--query", "query", "--seed", 5]
    goal = "continuous <= 0.05"
    expected = command("adjust", table, *arguments, "--method", "attribute-slope", "--subject-to", goal)
    z = rows.features[:, 0]
    found = pairity.adjust(
        scores, rows.labels, queries=rows.queries, protected=z, method="attribute-slope", subject_to=goal, seed=5
    )
    assert found.document == expected
    slope = found.document["adjustment"]["slope"]
    assert slope > 0
    np.testing.assert_array_equal(found.scores, scores - slope * z)
    # Rows without the attribute keep their scores.
    np.testing.assert_array_equal(found.apply([1.0, 2.0], protected=[np.nan, 1.0]), [1.0, 2.0 - slope])
    with pytest.raises(ValueError, match="give its values"):
        found.apply([1.0, 2.0], ["a", "b"])
    with pytest.raises(ValueError, match="there is none"):
        pairity.adjust(scores, rows.labels, rows.groups, rows.queries, method="attribute-slope")


def test_a_monotone_function_of_a_continuous_attribute_is_subtracted(command, table, rows, scores):
    arguments = ["--score", "score", "--label", "label", "--protected", "x0", "--query", "query", "--seed", 5]
    goal = "continuous <= 0.05"
    expected = command("adjust", table, *arguments, "--method", "attribute-curve", "--subject-to", goal)
    z = rows.features[:, 0]
    found = pairity.adjust(
        scores, rows.labels, queries=rows.queries, protected=z, method="attribute-curve", subject_to=goal, seed=5
    )
    assert found.document == expected
    curve = found.document["adjustment"]
    assert np.all(np.diff(curve["x"]) > 0) and np.all(np.diff(curve["y"]) >= 0)
    np.testing.assert_allclose(found.scores, scores - np.interp(z, curve["x"], curve["y"]), atol=1e-12)
