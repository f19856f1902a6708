"""Ray: audits and scores of datasets, and training with features that workers hold.

pairity has to be installed where the tasks run.
"""

from __future__ import annotations

from ._audit import audit, score
from ._training import FairRanker, FairRegressor

__all__ = ["FairRanker", "FairRegressor", "audit", "score"]
