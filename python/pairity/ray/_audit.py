"""Audits and scores of datasets of Ray Data.

Queries are dealt out to buckets by a hash of their names, and Ray's own shuffle brings the rows of a bucket together. A
task sorts its bucket and goes through it some queries at a time; it returns the sums over them, which the driver merges.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _columns, _engine
from .._audit import Audit
from .._scoring import Scoring
from .._tables import Asked, Names, Plan, parquet

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Columns that are added on the way: the name of the query, and its bucket.
QUERY, BUCKET = "pairity query", "pairity bucket"


def audit(dataset: Any, score: str, *, buckets: int | None = None, **asked: Unpack[Asked]) -> Audit:
    """Measures a scored dataset: all metrics with confidence intervals, as :func:`pairity.audit` does.

    Parameters
    ----------
    dataset
        A dataset of Ray Data.
    score
        Column of the scores; like all columns, it is given by its name.
    buckets
        How many tasks the queries are dealt out to, each of which holds its rows; four for each CPU if it is not given.
    asked
        What else is asked for, as of :func:`pairity.spark.audit`.
    """
    import pyarrow

    def run(plan: Plan) -> Iterator[str]:
        def task(table: Any) -> Any:
            ordered = _sorted(table, [QUERY, *plan.sorted_by])
            parts = plan.parts(ordered.to_batches(), [QUERY])
            return pyarrow.table({"part": pyarrow.array([part.to_json() for part in parts], pyarrow.string())})

        rows = dataset.select_columns(plan.columns)
        parts = _together(rows, plan.of_role("query"), buckets, spread=True).map_groups(task, batch_format="pyarrow")
        yield from (row["part"] for row in parts.iter_rows())

    return Plan.of(score, **asked).audit(run)


def score(
    model: Any,
    dataset: Any,
    column: str = "score",
    *,
    query: Names = None,
    seed: int | None = None,
    expected: bool = False,
    order: Names = None,
    buckets: int | None = None,
) -> Any:
    """The dataset with its scores in a new column, as ``pairity score`` writes it.

    Parameters are those of :func:`pairity.spark.score`. A model that draws rankings needs a shuffle, into so many
    ``buckets``; others score the rows where they are.
    """
    present = dataset.schema().names
    scoring = Scoring.of(model, present, column, query, seed, expected, order)
    if not scoring.model.ranks:
        return dataset.map_batches(scoring.scored, batch_format="pyarrow")

    def task(table: Any) -> Any:
        return scoring.scored(_sorted(table, [QUERY, *scoring.sorted_by]).select(present))

    return _together(dataset, scoring.query, buckets, spread=False).map_groups(task, batch_format="pyarrow")


def _together(dataset: Any, query: list[str], buckets: int | None, *, spread: bool) -> Any:
    """The dataset by buckets of whole queries; rows without one are spread over all, or are one."""
    import pyarrow
    import ray

    resources: Any = ray.cluster_resources
    count = int(buckets or 4 * resources().get("CPU", 1))

    def dealt(table: Any) -> Any:
        if not table.num_rows:
            return table.append_column(QUERY, pyarrow.array([], pyarrow.string())).append_column(
                BUCKET, pyarrow.array([], pyarrow.int64())
            )
        # As the engine reads them: cells that mean the same are the same query.
        codes, names = _engine.cross(_engine.read_table(parquet(table.select(query)), [], query, [])[1])
        lacking = codes == _columns.MISSING
        codes = np.where(lacking, len(names), codes)
        own = np.array([zlib.crc32(name.encode()) % count for name in [*names, ""]])[codes]
        if spread:
            own[lacking] = np.flatnonzero(lacking) % count
        texts = pyarrow.array([*names, None if spread else ""], pyarrow.string()).take(pyarrow.array(codes))
        return table.append_column(QUERY, texts).append_column(BUCKET, pyarrow.array(own))

    return dataset.map_batches(dealt, batch_format="pyarrow").groupby(BUCKET, num_partitions=count)


def _sorted(table: Any, columns: list[str]) -> Any:
    return table.sort_by([(name, "ascending") for name in dict.fromkeys(columns)])
