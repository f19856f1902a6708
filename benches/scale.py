"""Audits of 10⁷ and 10⁸ rows: rows per second, peak memory and growth, beside what one would write instead.

    python benches/scale.py path/to/pairity [--rows 10000000 100000000] [--memory 600MB] [--only NAME …]

Tables are written as Parquet, row group by row group, and removed at the end. Each line is a process of its own, whose
CPU time and peak memory the system tells: the elapsed time of a busy machine says little. Growth is the exponent of the
CPU time between the two sizes. DuckDB and polars count the same rates (binary labels with queries), without intervals;
their values are compared with those of pairity. benches/scale_clusters.py, where it is there, adds Spark and Ray.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
GROUP_ROWS = 1_000_000
QUERY_ROWS = 10

SQL = """
select p.g as better, n.g as worse, avg(case when p.s > n.s then 1.0 when p.s = n.s then 0.5 else 0.0 end) as rate
from read_parquet('{table}') p join read_parquet('{table}') n on p.q = n.q
where p.y = 1 and n.y = 0 group by all
"""

DUCKDB = """
import duckdb, json, sys
duckdb.sql("set threads = 2; set memory_limit = '{limit}'; set temp_directory = '{folder}'")
rows = duckdb.sql('''{sql}''').fetchall()
print(json.dumps({{a + b: rate for a, b, rate in rows}}))
"""

POLARS = """
import json, polars as pl
table = pl.scan_parquet('{table}').select('q', 'g', 'y', 's')
pairs = table.filter(pl.col('y') == 1).join(table.filter(pl.col('y') == 0), on='q')
won = (pl.col('s') > pl.col('s_right')) + 0.5 * (pl.col('s') == pl.col('s_right'))
rates = pairs.group_by('g', 'g_right').agg(won.mean()).collect(engine='streaming')
print(json.dumps({{a + b: rate for a, b, rate in rates.rows()}}))
"""


def write_table(path, rows, scattered):
    """Ten rows a query, two groups, binary and real labels; scores follow both, with more noise in one group."""
    rng = np.random.default_rng(rows)
    queries = rows // QUERY_ROWS
    schema = pa.schema([("q", pa.int64()), ("g", pa.string()), ("y", pa.float64()), ("real", pa.float64()), ("s", pa.float64())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, GROUP_ROWS):
            number = np.arange(start, min(start + GROUP_ROWS, rows))
            n = len(number)
            # Rows of a query that are scattered stand a tenth of the table apart.
            query = number % queries * 7919 % queries if scattered else number // QUERY_ROWS
            group = rng.integers(0, 2, size=n)
            label = rng.random(n) < 0.3
            real = label + rng.normal(size=n)
            score = real + rng.normal(size=n) * (1 + group)
            names = pa.array(np.where(group == 0, "a", "b"))
            columns = [pa.array(query), names, pa.array(label.astype(float)), pa.array(real), pa.array(score)]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def measured(command):
    """Runs a command: its output, elapsed seconds, CPU seconds and peak memory in MB."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([str(part) for part in command], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        elapsed = time.perf_counter() - start
        out.seek(0)
        text = out.read().decode()
    if process.returncode != 0:
        return None
    return json.loads(text), elapsed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def works(pairity, folder, memory):
    """Name, table, and the command for a path."""

    def audit(*more):
        return lambda path: [pairity, "audit", path, "--score", "s", "--group", "g", "--format", "json", *more]

    with_queries = ["--label", "y", "--query", "q"]
    small = ["--memory", memory]
    yield "in memory, 2 threads", "sorted", audit(*with_queries, "--memory", "100GB", "--threads", "2")
    for threads in "1", "2":
        more = [*small, "--threads", threads]
        word = "thread" if threads == "1" else "threads"
        yield f"streamed, {threads} {word}", "sorted", audit(*with_queries, *more)
        yield f"streamed, real labels, {threads} {word}", "sorted", audit("--label", "real", "--query", "q", *more)
        yield f"streamed, scattered queries, {threads} {word}", "scattered", audit(*with_queries, *more)
        yield f"streamed, no queries, {threads} {word}", "sorted", audit("--label", "y", *more)
    limit = memory if memory[-2:] == "GB" or memory[-2:] == "MB" else "1GB"
    code = lambda text: lambda path: [sys.executable, "-c", text.format(table=path, sql=SQL.format(table=path), limit=limit, folder=folder)]
    yield "DuckDB SQL, rates alone, 2 threads", "sorted", code(DUCKDB)
    yield "polars, rates alone, 2 threads", "sorted", code(POLARS)


def check(name, output, rates):
    """Peers count the rates that pairity counts."""
    if "schema" in output:
        found = {a + b: output["accuracy"][i][j]["value"] for i, a in enumerate("ab") for j, b in enumerate("ab")}
        if "no queries" not in name and "real" not in name and "scattered" not in name:
            rates.update(found)
        return
    worst = max(abs(output[pair] - rate) for pair, rate in rates.items())
    assert worst < 1e-9, (name, output, rates)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("pairity")
    options.add_argument("--rows", type=int, nargs="+", default=[10_000_000, 100_000_000])
    options.add_argument("--memory", default="600MB")
    options.add_argument("--only", nargs="+", default=[""], help="lines whose name has one of these words")
    options = options.parse_args()
    os.environ["POLARS_MAX_THREADS"] = "2"
    print("| audit | rows | rows/s | CPU s | elapsed s | peak MB | growth |\n|---|---|---|---|---|---|---|")
    before = {}
    for rows in sorted(options.rows):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TMPDIR"] = folder
            tables, rates = set(), {}
            for name, kind, command in works(options.pairity, folder, options.memory):
                if not any(word in name for word in options.only):
                    continue
                path = pathlib.Path(folder) / f"{kind}.parquet"
                if kind not in tables:
                    write_table(path, rows, kind == "scattered")
                    tables.add(kind)
                found = measured(command(path))
                if found is None:
                    print(f"| {name} | {rows:,} | failed | | | | |", flush=True)
                    continue
                output, elapsed, cpu, peak = found
                check(name, output, rates)
                growth = ""
                if name in before:
                    old_rows, old_cpu = before[name]
                    growth = f"{math.log(cpu / old_cpu) / math.log(rows / old_rows):.2f}"
                before[name] = rows, cpu
                print(f"| {name} | {rows:,} | {rows / elapsed:,.0f} | {cpu:.1f} | {elapsed:.1f} | {peak:,.0f} | {growth} |", flush=True)
    clusters = HERE / "scale_clusters.py"
    if clusters.exists():
        subprocess.run([sys.executable, clusters, options.pairity], check=True)


if __name__ == "__main__":
    main()
