"""Simulated data."""

from __future__ import annotations

import numpy as np
import pytest

import pairity
from needs import need


def test_rows_are_those_of_the_engine():
    rows = pairity.datasets.simulated(2, seed=1)
    assert rows.features.shape == (22, 2)
    np.testing.assert_allclose(rows.features[0], [-1.5217177335177268, -0.5506651410595282], atol=1e-12)
    assert rows.groups.tolist() == [0, 0, 0, 1, 0, 1] + 15 * [0] + [1]
    assert int(np.argmax(rows.labels)) == 6
    assert set(pairity.datasets.simulated(50, groups=3).groups.tolist()) == {0, 1, 2}
    with pytest.raises(ValueError, match="no simulated task with 4 groups"):
        pairity.datasets.simulated(2, groups=4)


def test_a_split_is_by_query():
    first, second = pairity.datasets.simulated(40, seed=2).split(0.25)
    assert (len(first), len(second)) == (110, 330)
    assert not set(first.queries.tolist()) & set(second.queries.tolist())
    assert first.with_group().shape == (110, 3)


def test_a_frame_has_named_columns():
    need("pandas")
    frame = pairity.datasets.simulated(3).to_frame()
    assert list(frame.columns) == ["x1", "x2", "label", "group", "query"]
