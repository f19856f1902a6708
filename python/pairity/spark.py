"""Audits and scores of PySpark data frames, with the bits of the command line.

Spark brings the rows of each query together with its own shuffle. Every task streams its rows through the engine, some
queries at a time, and returns the sums over its queries, a few kilobytes; the driver merges them. pairity has to be
installed where the tasks run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from math import isqrt
from operator import and_
from typing import TYPE_CHECKING, Any

from ._audit import Audit
from ._scoring import Scoring
from ._tables import MISSING, SPACE, Asked, Names, Part, Plan, whole_queries

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["audit", "score"]

#: The most tasks whose sums the driver merges: those of more are merged by other tasks first, as sums over pairs of ten
#: groups take a third of a megabyte.
MANY = 256


def audit(df: Any, score: str, **asked: Unpack[Asked]) -> Audit:
    """Measures a scored data frame: all metrics with confidence intervals, as :func:`pairity.audit` does.

    Rows that lack a score, a label, a weight or a query are left out, and ``to_dict()["notes"]`` counts them.

    Parameters
    ----------
    df
        A PySpark data frame.
    score
        Column of the scores; like all columns, it is given by its name.
    label
        Column of the labels: higher ones should score higher. Without it only statistical parity is measured.
    query
        Column of the queries, inside of which pairs are formed; of several, each combination is a query.
    groups
        Column of a categorical protected attribute; several are intersected. A row without a value is of no group.
    protected
        Column of a continuous protected attribute, instead of groups.
    weights
        Column of the rows' weights.
    average, checks, ties, confidence, min_pairs, seed
        As of :func:`pairity.audit`.
    pair_weight
        Column whose product at the two rows is what a pair counts, or ``"label-gap"``.
    within
        Only pairs of rows that agree on this column, or on several, count.
    pairs_where
        Only pairs in which the better row has the higher value of a column count, ``(">", "shown")``, or the lower one.
    order
        Columns that the rows of a query are sorted by, such as one that numbers the rows of a table: sums of weights that
        are no whole numbers have the last bits of the command line only in the order of its table. Without them the order
        is one of the cells, the same in every run.
    rows
        How many rows a task holds at once, about: it goes on to the end of a query.
    where
        Only rows for which this holds, such as ``'age >= 18 and city != "x"'``, as the command line's ``--where``.
    only_groups
        Groups that are compared, by name, as ``--groups``; rows of others belong to no group.
    min_rows
        Groups of fewer queries are not compared, as ``--min-rows``. Where there are some, the table is read a second time.
    """
    from pyspark.sql import functions

    def run(plan: Plan) -> Iterator[str]:
        query = plan.of_role("query")
        present = [functions.col(_quoted(name)) if name not in query else _query(df, name) for name in plan.columns]
        together = _together(df.select(*present), query, plan.sorted_by)

        def task(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow

            for part in plan.parts(batches, query):
                yield pyarrow.RecordBatch.from_pydict({"part": [part.to_json()]})

        def join(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow

            part = Part.of(text for batch in batches for text in batch.column("part").to_pylist())
            yield pyarrow.RecordBatch.from_pydict({"part": [part.to_json()]})

        parts = together.mapInArrow(task, "part string")
        tasks = int(df.sparkSession.conf.get("spark.sql.shuffle.partitions"))
        if tasks > MANY:
            parts = parts.repartition(isqrt(tasks)).mapInArrow(join, "part string")
        yield from (row["part"] for row in parts.collect())

    return Plan.of(score, **asked).audit(run)


def score(
    model: Any,
    df: Any,
    column: str = "score",
    *,
    query: Names = None,
    seed: int | None = None,
    expected: bool = False,
    order: Names = None,
) -> Any:
    """The data frame with its scores in a new column, as ``pairity score`` writes it.

    A model of several scorers draws one of them for each query, by a hash of the seed and the query itself: whatever
    task a row is in, it draws the same. Only a model that draws rankings needs a shuffle, which brings its queries
    together.

    Parameters
    ----------
    model
        The file of a model, or a fitted estimator.
    df
        A PySpark data frame with the columns that the model was trained with.
    column
        Name of the new column.
    query
        Columns of the queries; those of the training if none are given.
    seed
        Of the draws; that of the training if none is given.
    expected
        Whether a column ``expected_…`` is added, with the scores on average over all draws.
    order
        Columns that the rows of a query are sorted by, for models that draw rankings: where several rankings are equally
        good, the command line goes by the order of its table.
    """
    from pyspark.sql import functions
    from pyspark.sql.types import DoubleType, StructField, StructType

    scoring = Scoring.of(model, df.columns, column, query, seed, expected, order)
    schema = StructType([*df.schema.fields, *(StructField(name, DoubleType()) for name in scoring.added)])
    key = ["pairity query"] if scoring.model.ranks else []
    if key:
        cells = [_query(df, name) for name in scoring.query]
        complete = reduce(and_, [cell.isNotNull() for cell in cells])
        # Rows without a query are one ranking.
        whole = functions.struct(*(functions.when(complete, cell) for cell in cells))
        df = _together(df.select("*", whole.alias(*key)), key, [*key, *scoring.sorted_by])

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        # Rows at a time are as many as Spark sends, unless a query goes on.
        for table in whole_queries(batches, key, 1):
            yield from scoring.scored(table.select(schema.names[: -len(scoring.added)])).to_batches()

    return df.mapInArrow(task, schema)


def _quoted(name: str) -> str:
    """A name as Spark takes it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def _together(df: Any, query: list[str], sorted_by: list[str]) -> Any:
    """The rows of a query in one task, one after the other."""
    together = df.repartition(*map(_quoted, query))
    return together.sortWithinPartitions(*map(_quoted, sorted_by))


def _query(df: Any, name: str) -> Any:
    """The column of a query, with one value for all that the engine takes for the same."""
    from pyspark.sql import functions
    from pyspark.sql.types import DoubleType, FloatType, StringType

    column = functions.col(_quoted(name))
    kind = df.select(column).schema[0].dataType
    if isinstance(kind, StringType):
        cell = functions.btrim(column, functions.lit(SPACE))
        return functions.when(~cell.isin(*MISSING), cell).alias(name)
    if isinstance(kind, (DoubleType, FloatType)):
        # The two zeros are equal.
        return functions.when(column == 0, functions.lit(0.0).cast(kind)).otherwise(column).alias(name)
    return column
