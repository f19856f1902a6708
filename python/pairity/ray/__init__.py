"""Ray: audits and scores of datasets, with the bits of the command line.

pairity has to be installed where the tasks run.
"""

from __future__ import annotations

from ._audit import audit, score

__all__ = ["audit", "score"]
