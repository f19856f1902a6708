"""Audits by Spark and Ray, on one worker and two, beside a self join in Spark SQL.

    python benches/scale_clusters.py --rows 1000000 10000000

prints rows of the table in docs/scaling.md. Tables are made first, piece by piece: binary labels, two groups, queries of
10 rows. Each work has a process of its own. Its time, and the CPU time of all of its processes together, are those from the
table to the result, without the start of the cluster; peak memory is that of all of them, what they share counted once. It
needs the built package and the contents of python/requirements-test.txt.
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

QUERY = 10
NAMES = {
    "spark 1": "Spark, 1 worker",
    "spark 2": "Spark, 2 workers",
    "spark-sql 1": "Spark SQL, rates alone, 1 worker",
    "spark-sql 2": "Spark SQL, rates alone, 2 workers",
    "ray 1": "Ray, 1 worker",
    "ray 2": "Ray, 2 workers",
}
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


def spark(path: str, workers: int, sql: bool) -> tuple[float, float]:
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
    start = clocks()
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
    return since(start)


def ray(path: str, workers: int) -> tuple[float, float]:
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
    start = clocks()
    dataset = ray.data.read_parquet(path)
    # A million rows for each task.
    pairity.ray.audit(dataset, "score", **COLUMNS, buckets=max(4 * workers, -(-dataset.count() // PIECE)))
    return since(start)


def family(root: int) -> list[tuple[int, list[str]]]:
    """A process and all that it started: their numbers, and what /proc/…/stat tells of each."""
    stats: dict[int, list[str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stats[int(entry.name)] = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                pass
    found = {root}
    while more := {pid for pid, stat in stats.items() if int(stat[1]) in found} - found:
        found |= more
    return [(pid, stats[pid]) for pid in found if pid in stats]


def clocks() -> tuple[float, float]:
    """The time, and the CPU time of this process and all that it started, those that ended included."""
    ticks = sum(int(number) for _, stat in family(os.getpid()) for number in stat[11:15])
    return time.perf_counter(), ticks / os.sysconf("SC_CLK_TCK")


def since(start: tuple[float, float]) -> tuple[float, float]:
    now = clocks()
    return now[0] - start[0], now[1] - start[1]


def memory(root: int) -> int:
    """Bytes of a process and all that it started, what they share counted once."""
    total = 0
    for pid, _ in family(root):
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
        return f"| {NAMES[work]} | {rows:,} | failed: {problem.strip().splitlines()[-1:]} |"
    seconds, cpu = (float(number) for number in out.split()[-2:])
    cells = [NAMES[work], *(f"{number:,.0f}" for number in (rows, rows / seconds, rows / cpu)), f"{cpu:,.1f}"]
    return f"| {' | '.join(cells)} | {peak / 1e6:,.0f} |"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    options.add_argument("--works", nargs="*", default=list(NAMES))
    options.add_argument("--table")
    options.add_argument("--one")
    asked = options.parse_args()
    if asked.one:
        kind, workers = asked.one.split()
        found = ray(asked.table, int(workers)) if kind == "ray" else spark(asked.table, int(workers), kind == "spark-sql")
        print(*found)
        return
    print("| audit | rows | rows/s | rows/CPU s | CPU s | peak MB |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for rows in asked.rows:
            path = Path(folder) / f"{rows}.parquet"
            make(path, rows)
            for work in asked.works:
                print(measured(work, path, rows), flush=True)


if __name__ == "__main__":
    main()
