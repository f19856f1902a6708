"""Data frames of Spark: the bits of the command line, in one process, on a little cluster, and with a worker killed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import pairity
import tables
from needs import need, need_spark

LOOPBACK = "127.0.0.1"


@pytest.fixture(scope="module")
def spark_package():
    return need_spark()


def started(package, master):
    """A session whose processes talk over the loopback address alone."""
    settings = {
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        # Else all parts of a small table are one task.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50",
        "spark.executor.memory": "512m",
        "spark.executorEnv.PYTHONPATH": str(Path(pairity.__file__).parents[1]),
    }
    session = package.SparkSession.builder.master(master).config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="module")
def local(spark_package):
    session = started(spark_package, "local[2]")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def awkward(tmp_path_factory):
    need("pyarrow", "spark")
    return tables.awkward(tmp_path_factory.mktemp("tables") / "awkward.parquet")


@pytest.mark.parametrize("asked, many", [(tables.AUDITS[0], 1), *((asked, 256) for asked in tables.AUDITS)])
def test_an_audit_has_the_bits_of_the_command_line(local, awkward, command, asked, many, monkeypatch):
    # Four tasks: their sums are merged by two others, or by the driver.
    monkeypatch.setattr(pairity.spark, "MANY", many)
    document = command("audit", awkward, "--score", "score", *tables.options(asked))
    df = local.read.parquet(str(awkward)).repartition(3)
    own = pairity.spark.audit(df, "score", **asked, order="row", rows=60)
    assert own.to_dict() == tables.without_tables(document)


def test_scores_have_the_bits_of_the_command_line(local, awkward, command):
    from pyarrow import parquet

    folder = awkward.parent
    for model, query in tables.models(folder, command):
        named = [part for name in query for part in ("--query", name)]
        expected = [] if "ranked" in model.name else ["--expected"]
        command("score", model, awkward, "--score", "fair", *named, *expected, "-o", folder / "scored.parquet")
        df = local.read.parquet(str(awkward)).repartition(3)
        scored = pairity.spark.score(model, df, "fair", query=query, expected=bool(expected), order="row")
        own = scored.orderBy("row").toArrow()
        document = parquet.read_table(folder / "scored.parquet")
        assert own.column_names == document.column_names
        for name in document.column_names:
            assert own[name].to_pylist() == document[name].to_pylist(), (model.name, name)


def test_a_fitted_estimator_scores_with_its_own_seed(local, rows):
    ranker = pairity.FairRanker(subject_to=["cross_group <= 0.05"], iterations=200, step_sizes=[0.1], random_state=7)
    ranker.fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries)
    columns = [[*map(float, rows.X[row]), int(rows.queries[row]), row] for row in range(100)]
    df = local.createDataFrame(columns, ["x0", "x1", "query", "row"])
    own = [row.score for row in pairity.spark.score(ranker, df, query="query").orderBy("row").collect()]
    assert own == ranker.predict(rows.X[:100], queries=rows.queries[:100]).tolist()


def test_what_can_not_be_done_is_said(local):
    df = local.createDataFrame([(0.1, 1, "a", 0.0), (0.2, 0, "a", 0.0)], ["score", "label", "query", "weight"])
    with pytest.raises(ValueError, match="query is missing: .* every row is compared with every other one"):
        pairity.spark.audit(df, "score", label="label")
    with pytest.raises(ValueError, match="nothing to compare"):
        pairity.spark.audit(df, "score", query="query")
    with pytest.raises(ValueError, match="every weight in column 'weight' is 0"):
        pairity.spark.audit(df, "score", label="label", query="query", weights="weight")
    empty = df.selectExpr("score", "query", "cast(null as int) as label", "'?' as gender")
    with pytest.raises(ValueError, match="no row is left of the 2 that were read: label is missing in 2"):
        pairity.spark.audit(empty, "score", label="label", query="query")
    with pytest.raises(ValueError, match="no row belongs to a group: 'gender' has no value"):
        pairity.spark.audit(empty, "score", groups="gender", query="query")
    ranker = pairity.FairRanker(subject_to=(), iterations=10).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="needs the column 'x0'"):
        pairity.spark.score(ranker, df, "fair")
    with pytest.raises(ValueError, match="a column 'score' already"):
        pairity.spark.score(ranker, df)


def test_a_cluster_gives_the_same_bits_when_workers_are_killed(spark_package, awkward, command, tmp_path):
    if active := spark_package.SparkSession.getActiveSession():
        active.stop()
    session = started(spark_package, "local-cluster[2,1,1024]")
    try:
        asked = tables.AUDITS[0]
        document = command("audit", awkward, "--score", "score", *tables.options(asked))
        df = session.read.parquet(str(awkward)).repartition(3)
        folder = str(tmp_path)

        class Rows(int):
            """A number of rows, at the sight of which one Python worker dies, and then one executor."""

            def __gt__(self, other):
                for killed in ("python3", "java"):
                    pid = os.getpid()
                    while killed == "java" and Path(f"/proc/{pid}/comm").read_text().strip() != "java":
                        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
                    try:
                        Path(folder, killed).touch(exist_ok=False)
                    except FileExistsError:
                        continue
                    os.kill(pid, 9)
                return int(self) > other

        own = pairity.spark.audit(df, "score", **asked, order="row", rows=Rows(60))
        assert own.to_dict() == tables.without_tables(document)
        assert {path.name for path in tmp_path.iterdir()} == {"python3", "java"}
    finally:
        session.stop()
