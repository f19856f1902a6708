"""Rows on many machines, with Ray: ``pip install 'pairity[ray]'``."""

from ._training import FairRanker, FairRegressor

__all__ = ["FairRanker", "FairRegressor"]
