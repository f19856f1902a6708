"""Estimators of texts."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import pairity

FILLERS = ["the", "of", "and", "to", "in", "is", "it's", "was"]


def comments(rows: int) -> tuple[dict[str, Any], np.ndarray, list[str]]:
    """Comments, of which every third has the word that decides; every fourth is about something else."""
    texts = []
    for row in range(rows):
        words = [FILLERS[(row * 5 + i * i) % 8] for i in range(4 + row % 7)]
        if row % 3 == 0:
            words.insert(row % 5, "Nonsense,")
        texts.append(" ".join(words))
    labels = np.array([float(row % 3 == 0) for row in range(rows)])
    groups = ["cats" if row % 4 == 0 else "other" for row in range(rows)]
    return {"comment": texts, "length": np.array([float(len(text)) for text in texts])}, labels, groups


def fitted(X: Any, y: Any, groups: Any, **settings: Any) -> pairity.FairRanker:
    settings = {"subject_to": "cross_group <= 0.1", "solver": "columns", **settings}
    return pairity.FairRanker(text="comment", **settings).fit(X, y, groups=groups)


@pytest.mark.parametrize("ngrams", [None, "words", "chars", "both"])
def test_a_word_that_decides_is_found(ngrams: str | None) -> None:
    X, y, groups = comments(90)
    ranker = fitted({"comment": X["comment"]}, y, groups, ngrams=ngrams)
    assert ranker.score({"comment": X["comment"]}, y, groups=groups) == 1.0
    new = {"comment": ["it was NONSENSE", "it was", None]}
    scores = ranker.predict(new)
    assert scores[0] > scores[1]
    assert np.array_equal(pickle.loads(pickle.dumps(ranker)).predict(new), scores)


def test_other_columns_are_features_too_and_texts_may_look_like_numbers() -> None:
    X, y, groups = comments(60)
    ranker = fitted(X, y, groups, ngrams="words", vocabulary=5)
    assert ranker.report_["features"] == ["length", "5 words of comment"]
    numbers = {"comment": [7, 8] * 30}
    labels = np.array([0.0, 1.0] * 30)
    ranker = fitted(numbers, labels, ["a", "a", "b", "b"] * 15, ngrams="words")
    assert ranker.predict({"comment": [8, 7]})[0] > ranker.predict({"comment": [8, 7]})[1]


def test_what_does_not_fit_is_refused() -> None:
    X, y, groups = comments(30)
    with pytest.raises(ValueError, match="X has no column"):
        pairity.FairRanker(text="coment").fit(X, y, groups=groups)
    with pytest.raises(ValueError, match='it has to be one of "words", "chars", "both"'):
        fitted(X, y, groups, ngrams="letters")
    with pytest.raises(ValueError, match="use a linear scorer"):
        fitted(X, y, groups, model="mlp", solver="paper")
