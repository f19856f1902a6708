"""Times pairity beside its peers on the same arrays, in one run, and prints ratios.

    python benches/run.py path/to/pairity-bench [--update]

`pairity` itself is to stand in the same folder.

Peers run in the same process as this script, pairity in its own; each time is the best of several, the
two alternating, so that a busy machine slows both. Instruction counts come from callgrind: they do not
depend on the machine's load, and are compared with benches/instructions.json (`--update` rewrites it).
"""

import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import pyarrow.csv
import pyarrow.parquet
from scipy.stats import kendalltau
from sklearn.metrics import roc_auc_score

HERE = pathlib.Path(__file__).parent
SIZES = [10_000, 100_000, 1_000_000]
WORKS = ["matrix", "continuous", "audit", "gradient", "gradient-continuous"]
COUNTED = WORKS + ["matrix-queries", "audit-queries", "gradient-weights", "gradient-few", "gradient-gap", "gradient-squared"]
VARIANTS = {"weights": "weights", "few": "five distinct labels", "gap": "pairs weighted by the gap of labels"}


def write_arrays(folder, n):
    """Real labels, scores that follow them with noise, four groups, a continuous attribute."""
    rng = np.random.default_rng(n)
    labels = rng.normal(size=n)
    arrays = {
        "labels": labels,
        "scores": 0.7 * labels + rng.normal(size=n),
        "attribute": rng.normal(size=n),
        "groups": rng.integers(0, 4, size=n).astype(np.uint8),
    }
    for name, array in arrays.items():
        array.tofile(folder / name)
    table = {name: arrays[name + "s"] for name in ["label", "score"]}
    table["group"] = np.array(["a", "b", "c", "d"])[arrays["groups"]]
    table = pyarrow.table(table)
    pyarrow.csv.write_csv(table, folder / "table.csv")
    pyarrow.parquet.write_table(table, folder / "table.parquet")
    return arrays


def write_simulated(folder, queries=2_500):
    """The paper's simulated task: one of eleven candidates is positive, a tenth is of group 1."""
    rng = np.random.default_rng(queries)
    positive = np.zeros((queries, 11), bool)
    positive[np.arange(queries), rng.integers(0, 11, queries)] = True
    positive, group = positive.ravel(), (rng.random(11 * queries) < 0.1).astype(np.uint8)
    means = np.array([[[-1, -1], [-2, -1]], [[1, 0], [-1.5, 0.75]]])
    scale = np.where(positive & (group == 1), np.sqrt(0.5), 1.0)
    arrays = {
        "labels": np.where(positive, 1.0, -1.0),
        "features": means[positive.astype(int), group] + scale[:, None] * rng.normal(size=(11 * queries, 2)),
        "queries": np.repeat(np.arange(queries, dtype=float), 11),
        "groups": group,
    }
    for name, array in arrays.items():
        array.tofile(folder / name)
    return arrays


def explicit_pairs(arrays, iterations):
    """The same game with a list of all pairs in numpy: hinge, Adam, multipliers of low swap regret."""
    x, group, y = arrays["features"], arrays["groups"], arrays["labels"].reshape(-1, 11)
    rows = np.arange(len(x)).reshape(-1, 11)
    better, worse = np.repeat(rows[y > 0], 10), rows[y < 0]
    a, b = group[better] * 2 + group[worse] == 1, group[better] * 2 + group[worse] == 2
    share = [np.full(len(better), 1 / len(better)), a / a.sum(), b / b.sum()]
    difference = x[better] - x[worse]
    w, first, second = np.ones(2), np.zeros(2), np.zeros(2)
    small = 1e-3 / 3
    log = np.log(np.array([[1 - 2 * small] * 3, [small] * 3, [small] * 3]))
    log_first, log_second = np.zeros((3, 3)), np.zeros((3, 3))

    def step(value, gradient, one, two, t):
        one += 0.1 * (gradient - one)
        two += 0.001 * (gradient**2 - two)
        value -= 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * one / (np.sqrt(two) + 1e-8)

    for t in range(1, iterations + 1):
        matrix, weights = np.exp(log), np.full(3, 1 / 3)
        for _ in range(100):
            before, weights = weights, matrix @ weights
            weights /= weights.sum()
            if np.linalg.norm(weights - before) <= 1e-6:
                break
        margin = difference @ w
        right = (margin > 0) + 0.5 * (margin == 0)
        gap = share[1] @ right - share[2] @ right
        up = weights[0] * share[0] + weights[1] * share[2] + weights[2] * share[1]
        down = weights[1] * share[1] + weights[2] * share[2]
        slope = np.where(margin > -1, down, 0) - np.where(margin < 1, up, 0)
        violations = np.array([0, gap - 0.01, -gap - 0.01])
        step(w, slope @ difference, first, second, t)
        step(log, -np.outer(violations, weights), log_first, log_second, t)
        log -= np.log(np.exp(log).sum(axis=0))
        np.maximum(log, np.log(small), out=log)
    return w


def write_communities(folder, rows=1_000, width=145):
    """The size of the paper's data of communities: a continuous attribute, and many features that go with it."""
    rng = np.random.default_rng(rows)
    features, attribute = rng.normal(size=(rows, width)), rng.normal(size=rows)
    features[:, :40] += 0.5 * attribute[:, None]
    labels = features @ rng.normal(size=width) / np.sqrt(width) + rng.normal(size=rows)
    arrays = {"labels": labels, "features": features, "attribute": attribute}
    for name, array in arrays.items():
        array.tofile(folder / name)
    return arrays


def all_pairs(arrays, steps):
    """Hinge slopes of all pairs by the order of the attribute, as matrices in numpy, and a step along them."""
    x, z, y = arrays["features"], arrays["attribute"], arrays["labels"]
    ordered = y[:, None] > y[None, :]
    greater = ordered & (z[:, None] > z[None, :])
    less = ordered & (z[:, None] < z[None, :])
    up = ordered / ordered.sum() + 0.3 * less / less.sum()
    down = 0.3 * greater / greater.sum()
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        scores = x @ w
        margin = scores[:, None] - scores[None, :]
        (greater & (margin > 0)).mean(), (less & (margin > 0)).mean(), (ordered & (margin > 0)).mean()
        slope = np.where(margin > -1, down, 0) - np.where(margin < 1, up, 0)
        w -= 0.1 * (slope.sum(axis=1) - slope.sum(axis=0)) @ x
    return w


def ours(binary, work, folder, threads=1, repeats=3):
    command = [binary, work, folder, str(threads), str(repeats)]
    out = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, memory = out.stdout.split()
    return float(seconds), int(memory)


def peer(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def command(*words):
    """CPU seconds of a whole command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def audit_command(binary, table, threads=1):
    """CPU seconds of `pairity audit` of a file."""
    columns = ["--score", "score", "--label", "label", "--group", "group"]
    return command(binary, "audit", table, *columns, "--threads", threads)


def best(rounds, *tasks):
    """Best seconds of each task, the tasks taking turns."""
    times = [[task() for task in tasks] for _ in range(rounds)]
    return [min(column) for column in zip(*times)]


def row(what, n, ours, peer, peer_name, target):
    print(f"| {what} | {n:>9,} | {ours:9.4f} | {peer:9.4f} | {peer_name} | {ours / peer:6.2f} | {target} |")


def instructions(binary, work, folder):
    with tempfile.TemporaryDirectory() as scratch:
        out = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out", binary, work, folder, "1", "1"],
            check=True, capture_output=True, text=True,
        )
    return int(re.search(r"Collected : (\d+)", out.stderr).group(1))


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    print("| work | rows | pairity, s | peer, s | peer | ratio | target |")
    print("|---|---|---|---|---|---|---|")
    seconds, counted = {}, {}
    for n in SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            arrays = write_arrays(folder, n)
            s, y = arrays["scores"], arrays["labels"]
            one = lambda work, threads=1: lambda: ours(binary, work, folder, threads)[0]
            matrix, two, tau, auc = best(
                3, one("matrix"), one("matrix", 2),
                lambda: peer(lambda: kendalltau(s, y)),
                lambda: peer(lambda: roc_auc_score(y > 0, s)),
            )
            continuous, audit = best(2, one("continuous"), one("audit"))
            count, gradient, up = best(3, one("count"), one("gradient"), one("gradient-up"))
            ordered, ordered_gradient = best(2, one("count-continuous"), one("gradient-continuous"))
            row("4 × 4 matrix, one thread", n, matrix, tau, "scipy kendalltau, one number", "≤ .5")
            row("4 × 4 matrix, one thread", n, matrix, auc, "scikit-learn roc_auc_score, one number", "")
            row("4 × 4 matrix, two threads", n, two, matrix, "one thread", "≤ .58")
            row("continuous attribute", n, continuous, matrix, "4 × 4 matrix", "≤ 4")
            row("exact surrogate gradient, every rate held up", n, up, count, "4 × 4 matrix, pairs prepared", "≤ 2")
            row("exact surrogate gradient, every rate held both ways", n, gradient, count, "4 × 4 matrix, pairs prepared", "≤ 2")
            row("exact surrogate gradient, continuous attribute, both ways", n, ordered_gradient, ordered, "continuous attribute, pairs prepared", "≤ 2")
            row("whole audit with intervals", n, audit, matrix, "4 × 4 matrix", "≤ 2.5")
            queries, in_queries = best(2, one("audit-queries"), one("matrix-queries"))
            row("whole audit, queries of 10 rows", n, queries, in_queries, "4 × 4 matrix of the same", "≤ 2.5")
            cli = pathlib.Path(binary).with_name("pairity")
            reading = f"import pyarrow.parquet; pyarrow.parquet.read_table({str(folder / 'table.parquet')!r})"
            from_csv, from_parquet, read = best(
                3, lambda: audit_command(cli, folder / "table.csv"), lambda: audit_command(cli, folder / "table.parquet"),
                lambda: command(sys.executable, "-c", reading),
            )
            row("`pairity audit` of a CSV file, CPU", n, from_csv, tau, "scipy kendalltau of arrays in memory", "≤ 2.5")
            row("`pairity audit` of a Parquet file, CPU", n, from_parquet, read, "python and pyarrow, which read it", "≤ 3")
            audit_two, gradient_two = best(2, one("audit", 2), one("gradient", 2))
            row("whole audit, two threads", n, audit_two, audit, "one thread", "≤ .58")
            row("exact surrogate gradient, both ways, two threads", n, gradient_two, gradient, "one thread", "≤ .58")
            for variant, words in VARIANTS.items():
                sloped, counts = best(2, one(f"gradient-{variant}"), one(f"count-{variant}"))
                row(f"exact surrogate gradient, both ways, {words}", n, sloped, counts, "count of the same", "≤ 1.5")
            squared, = best(2, one("gradient-squared"))
            row("exact surrogate gradient, both ways, squared hinge", n, squared, count, "count of the same", "≤ 1.5")
            seconds[n] = matrix
            if n == SIZES[-1]:
                for work in WORKS[:3] + ["audit-queries"]:
                    memory = ours(binary, work, folder, repeats=1)[1] / n
                    print(f"| memory beyond the columns, {work} | {n:>9,} | {memory:.0f} bytes a row | | | | ≤ 64 |")
            if n == 100_000 and shutil.which("valgrind"):
                counted = {work: instructions(binary, work, folder) for work in COUNTED}
    print(f"| growth from 10⁵ to 10⁶ rows | | {seconds[SIZES[2]]:.4f} | {seconds[SIZES[1]]:.4f} | | {seconds[SIZES[2]] / seconds[SIZES[1]]:6.2f} | ≤ 14 |")

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        arrays = write_simulated(folder)
        train, tenth = best(
            3, lambda: ours(binary, "train", folder, repeats=1)[0], lambda: peer(lambda: explicit_pairs(arrays, 250))
        )
        row("training to cross_group ≤ .01, 2,500 iterations, one thread", len(arrays["labels"]), train, 10 * tenth,
            "numpy on a list of 25,000 pairs (250 iterations, times 10)", "≤ .3")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        arrays = write_communities(folder)
        train, few = best(
            3, lambda: ours(binary, "train-continuous", folder, repeats=1)[0], lambda: peer(lambda: all_pairs(arrays, 25))
        )
        row("a step of training, continuous attribute, 145 features (of 2,500, one thread)", len(arrays["labels"]),
            train / 2_500, few / 25, "numpy on matrices of all pairs", "≤ .00012 s")

    stored = HERE / "instructions.json"
    if "--update" in sys.argv:
        stored.write_text(json.dumps(counted, indent=2) + "\n")
    before = json.loads(stored.read_text())
    print("\nInstructions at 100,000 rows, one thread" + ("" if counted else ": valgrind is not installed"))
    for work, count in counted.items():
        print(f"  {work:<20} {count:>15,}  {count / before.get(work, count) - 1:+7.2%} against the stored count")


if __name__ == "__main__":
    main()
