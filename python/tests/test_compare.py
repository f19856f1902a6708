"""Comparing methods."""

from __future__ import annotations

import html
import pickle

import pytest

import pairity
from needs import need

QUICK = {"iterations": 200, "step_sizes": [0.1]}


def test_methods_that_do_not_apply_are_listed_with_the_reason(rows, page):
    methods = ["constrained", "unconstrained", "kallus-zhou"]
    found = pairity.compare(
        rows.X, rows.y, rows.groups, methods=methods, minimize="mse", subject_to="cross_group <= 0.1", **QUICK
    )
    last = found.results[-1]
    assert last["method"] == "kallus-zhou" and not last["applies"]
    assert "its scores lie between 0 and 1" in last["reason"]
    assert last["reason"] in html.unescape(page(found._repr_html_())) and "kallus-zhou" in repr(found)
    assert pickle.loads(pickle.dumps(found)) == found
    need("pandas")
    frame = found.to_frame()
    assert frame.loc["unconstrained", "violation"] > 0 and frame.loc["kallus-zhou", "reason"] == last["reason"]


def test_what_fair_means_has_to_be_said(rows):
    with pytest.raises(ValueError, match="say what fair means"):
        pairity.compare(rows.X, rows.y, rows.groups, subject_to=(), queries=rows.queries, **QUICK)
    with pytest.raises(ValueError, match='method is "magic"'):
        pairity.compare(rows.X, rows.y, rows.groups, methods="magic", queries=rows.queries, **QUICK)


def test_the_command_line_compares_in_the_same_way(command, table, rows):
    arguments = ["--label", "label", "--group", "group", "--query", "query", "--features", "x0,x1", "--seed", 5]
    expected = command(
        "compare", table, *arguments, "--subject-to", "cross_group <= 0.05", "--iterations", 200, "--step-size", 0.1
    )
    found = pairity.compare(
        rows.X, rows.y, rows.groups, queries=rows.queries, subject_to="cross_group <= 0.05", random_state=5, **QUICK
    )
    assert len(found.results) == 13
    for document in (expected, found):
        document.pop("tables")
        for result in document["results"]:
            result.pop("seconds")
    assert dict(found) == expected
