"""Audits by Spark and Ray, on one worker and two, beside a self join in Spark SQL.

    python benches/scale_clusters.py --rows 10000000

prints lines `work | rows | rows per second | peak MB`. The table is made first, piece by piece: binary labels, two groups,
queries of 20 rows. Each work has a process of its own, and its time is that from the table to the result, without the
start of the cluster. Peak memory is that of all of its processes together, what they share counted once. It needs the
built package and the contents of python/requirements-test.txt.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WORKS = ("spark 1", "spark 2", "spark-sql 1", "spark-sql 2", "ray 1", "ray 2")
QUERY = 20
PIECE = 1_000_000
COLUMNS = {"label": "label", "query": "query", "groups": "group"}


def make(path: Path, rows: int) -> None:
    """A scored table in which the second group scores lower."""
    import pyarrow
    from pyarrow import parquet

    writer = None
    for start in range(0, rows, PIECE):
        random = np.random.default_rng(start)
        count = min(PIECE, rows - start)
        label, group = random.integers(0, 2, count), random.integers(0, 2, count)
        score = random.normal(size=count) + label - 0.3 * group
        columns = {"score": score, "label": label, "group": group, "query": (start + np.arange(count)) // QUERY}
        table = pyarrow.table(columns)
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer:
        writer.close()


def spark(path: str, workers: int, sql: bool) -> float:
    from pyspark.sql import SparkSession

    import pairity

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.executor.memory": "1536m",
        "spark.executorEnv.PYTHONPATH": str(Path(pairity.__file__).parents[1]),
    }
    builder = SparkSession.builder.master(f"local-cluster[{workers},1,2048]")
    session = builder.config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.range(1000).count()
    start = time.perf_counter()
    df = session.read.parquet(path)
    if sql:
        df.createOrReplaceTempView("rows")
        wins = "case when a.score > b.score then 1.0 when a.score = b.score then 0.5 else 0.0 end"
        session.sql(
            f"select a.group, b.group, sum({wins}) / count(*) from rows a join rows b on a.query = b.query "
            "where a.label > b.label group by a.group, b.group"
        ).collect()
    else:
        pairity.spark.audit(df, "score", **COLUMNS)
    return time.perf_counter() - start


def ray(path: str, workers: int) -> float:
    os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    import ray as package
    import ray.data

    import pairity

    store = 2 << 30
    package.init(
        "local", num_cpus=workers, object_store_memory=store, include_dashboard=False, log_to_driver=False, logging_level="error"
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    ray.data.range(1000).count()
    start = time.perf_counter()
    dataset = ray.data.read_parquet(path)
    # A million rows for each task.
    pairity.ray.audit(dataset, "score", **COLUMNS, buckets=max(4 * workers, -(-dataset.count() // PIECE)))
    return time.perf_counter() - start


def memory(root: int) -> int:
    """Bytes of a process and all that it started, what they share counted once."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, ValueError):
                pass
    family = {root}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    total = 0
    for pid in family:
        try:
            line = next(line for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() if line.startswith("Pss:"))
            total += 1024 * int(line.split()[1])
        except (OSError, StopIteration):
            pass
    return total


def measured(work: str, path: Path, rows: int) -> str:
    command = [sys.executable, __file__, "--one", work, "--table", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    peak = 0
    while process.poll() is None:
        peak = max(peak, memory(process.pid))
        time.sleep(0.2)
    out, problem = process.communicate()
    if process.returncode:
        return f"{work} | {rows:,} | failed: {problem.strip().splitlines()[-1:]} | {peak / 1e6:,.0f}"
    seconds = float(out.split()[-1])
    return f"{work} | {rows:,} | {rows / seconds:,.0f} | {peak / 1e6:,.0f}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=10_000_000)
    options.add_argument("--works", nargs="*", default=WORKS)
    options.add_argument("--table")
    options.add_argument("--one")
    asked = options.parse_args()
    if asked.one:
        kind, workers = asked.one.split()
        found = ray(asked.table, int(workers)) if kind == "ray" else spark(asked.table, int(workers), kind == "spark-sql")
        print(found)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(asked.table or folder) / ("" if asked.table else "rows.parquet")
        if not asked.table:
            make(path, asked.rows)
        print("work | rows | rows per second | peak MB")
        for work in asked.works:
            print(measured(work, path, asked.rows), flush=True)


if __name__ == "__main__":
    main()
