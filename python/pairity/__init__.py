"""Pairwise fairness for ranking and regression.

When the better of two candidates comes from group A and the worse from group B, how often does the model
get it right, and is that equal for all groups?

>>> import pairity
>>> audit = pairity.audit([0.1, 0.9, 0.2, 0.15], [0, 1, 0, 1], groups=["a", "a", "b", "b"])
>>> audit.accuracy[0][1].value                    # A[a > b]: the better one is an a, the worse one a b
1.0
>>> audit.accuracy[1][0].value                    # A[b > a]
1.0
>>> round(audit.gaps["within_group"].value, 3)    # A[a > a] and A[b > b] differ
1.0
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import datasets, metrics
from ._adjust import Adjusted, adjust
from ._audit import Audit, Check, Metric, audit, merge, partial_audit
from ._compare import Comparison, compare
from ._engine import __version__
from ._estimators import Component, FairRanker, FairRegressor
from ._loss import Mixture, PairwiseLoss, Status
from .metrics import make_scorer

if TYPE_CHECKING:
    from . import lightgbm, ray, spark, torch, xgboost

__all__ = [
    "Adjusted",
    "Audit",
    "Check",
    "Comparison",
    "Component",
    "FairRanker",
    "FairRegressor",
    "Metric",
    "Mixture",
    "PairwiseLoss",
    "Status",
    "__version__",
    "adjust",
    "audit",
    "compare",
    "datasets",
    "make_scorer",
    "merge",
    "metrics",
    "partial_audit",
]

_BRIDGES = ("lightgbm", "ray", "spark", "torch", "xgboost")


def __getattr__(name: str) -> Any:
    # Bridges import the package they lead to, so that they are imported when they are asked for.
    if name in _BRIDGES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_BRIDGES])
