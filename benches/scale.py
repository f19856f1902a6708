"""Audits of 10⁷ and 10⁸ rows: rows per second, peak memory and growth, beside what one would write instead.

    python benches/scale.py path/to/pairity [--rows 10000000 100000000] [--memory 600MB] [--limit 300]

Tables are written as Parquet, row group by row group, and removed at the end. Each line is a process of its own, whose
CPU time and peak memory the system tells: the elapsed time of a busy machine says little. Growth is the exponent of the
CPU time between the two sizes. DuckDB and polars count the same rates (binary labels with queries), without intervals;
their values are compared with those of pairity. What would take more than --limit seconds at the larger size, or more
than half of the memory that is free, judged by the smaller one, is left out there. benches/scale_clusters.py
measures Spark and Ray.
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

GROUP_ROWS = 1_000_000
QUERY_ROWS = 10

SQL = """
select p.g as better, n.g as worse, avg(case when p.s > n.s then 1.0 when p.s = n.s then 0.5 else 0.0 end) as rate
from read_parquet('{table}') p join read_parquet('{table}') n on p.q = n.q
where p.y = 1 and n.y = 0 group by all
"""

DUCKDB = """
import duckdb, json, sys
duckdb.sql("set threads = 2; set enable_progress_bar = false; set memory_limit = '{limit}'; set temp_directory = '{folder}'")
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
    kinds = {"q": pa.int64(), "g": pa.string(), "y": pa.float64(), "real": pa.float64(), "s": pa.float64()}
    schema = pa.schema(list(kinds.items()))
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
    # Peers may show their progress before.
    return json.loads(text[text.index("{") :]), elapsed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def works(pairity, folder, memory):
    """Name, table, and the command for a path."""

    def audit(*more):
        return lambda path: [pairity, "audit", path, "--score", "s", "--group", "g", "--format", "json", *more]

    with_queries = ["--label", "y", "--query", "q"]
    yield "in memory, 2 threads", "sorted", audit(*with_queries, "--memory", "100GB", "--threads", "2")

    def streamed(threads):
        more = ["--memory", memory, "--threads", str(threads)]
        word = "1 thread" if threads == 1 else f"{threads} threads"
        yield f"streamed, {word}", "sorted", audit(*with_queries, *more)
        yield f"streamed, no queries, {word}", "sorted", audit("--label", "y", *more)
        yield f"streamed, scattered queries, {word}", "scattered", audit(*with_queries, *more)

    def peer(text):
        filled = lambda path: text.format(table=path, sql=SQL.format(table=path), limit=memory, folder=folder)
        return lambda path: [sys.executable, "-c", filled(path)]

    yield from streamed(2)
    yield "DuckDB SQL, rates alone, 2 threads", "sorted", peer(DUCKDB)
    yield "polars, rates alone, 2 threads", "sorted", peer(POLARS)
    real = ["--label", "real", "--query", "q", "--memory", memory, "--threads", "2"]
    yield "streamed, real labels, 2 threads", "sorted", audit(*real)
    yield from streamed(1)


def merged(pairity, count=10_000):
    """Seconds, CPU seconds and bytes of merging so many partial audits of two groups."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_table(folder / "rows.parquet", 100_000, scattered=False)
        columns = ["--score", "s", "--group", "g", "--label", "y", "--query", "q", "--format", "json"]
        subprocess.run(
            [pairity, "audit", folder / "rows.parquet", *columns, "--partial", folder / "part.json"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        text = (folder / "part.json").read_text()
        parts = [folder / f"{number}.json" for number in range(count)]
        for part in parts:
            part.write_text(text)
        _, elapsed, cpu, _ = measured([pairity, "merge", *parts, "--format", "json"])
        return f"merging {count:,} partial audits of {len(text):,} bytes: {elapsed:.2f} s, {cpu:.2f} CPU s"


def free_memory():
    """In MB."""
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")) / 1000


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
    options.add_argument("--limit", type=float, default=300)
    options = options.parse_args()
    os.environ["POLARS_MAX_THREADS"] = "2"
    print(merged(options.pairity), end="\n\n", flush=True)
    print("| audit | rows | rows/s | rows/CPU s | CPU s | peak MB | growth |\n|---|---|---|---|---|---|---|")
    before = {}
    for rows in sorted(options.rows):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TMPDIR"] = folder
            tables, rates = set(), {}
            for name, kind, command in works(options.pairity, folder, options.memory):
                if name in before:
                    old_rows, _, old_elapsed, old_peak = before[name]
                    more = rows / old_rows
                    if old_elapsed * more > options.limit or old_peak * more > free_memory() / 2:
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
                    old_rows, old_cpu, *_ = before[name]
                    growth = f"{math.log(cpu / old_cpu) / math.log(rows / old_rows):.2f}"
                before[name] = rows, cpu, elapsed, peak
                speed = f"{rows / elapsed:,.0f} | {rows / cpu:,.0f}"
                print(f"| {name} | {rows:,} | {speed} | {cpu:.1f} | {peak:,.0f} | {growth} |", flush=True)


if __name__ == "__main__":
    main()
