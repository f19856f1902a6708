"""Unconstrained linear scorers beside scikit-learn's regularized ones, on rows that neither has seen.

    python benches/linear_peers.py path/to/pairity [--splits 6] [--only NAME…] [--json]

Both are trained on three quarters of the rows of a table with their default settings: pairity by `pairity train`, the peer as
logistic or ridge regression on standardized features, its regularization chosen by five-fold cross-validation among 25 values.
Tables come with scikit-learn, are drawn here, or are those of $PAIRITY_DATA. A gap is what pairity is behind: of AUC, or as a
share of the peer's squared error.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import polars
from sklearn import datasets
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import mean_squared_error, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

STRENGTHS = np.logspace(-4, 4, 25)


def drawn(rows, width, informative, noise, classes, seed, correlated=False, heavy=False, positives=0.5):
    """A table whose label is linear in some of its features, with noise; of two classes or a number."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, width))
    if correlated:
        x = x @ (rng.normal(size=(width, width)) / np.sqrt(width)) + 0.3 * rng.normal(size=(rows, width))
    signal = x[:, :informative] @ rng.normal(size=informative)
    if heavy:
        x = np.exp(x)
    y = signal / signal.std() + noise * rng.normal(size=rows)
    return x, (y > np.quantile(y, 1 - positives)).astype(float) if classes else y


def tables():
    """Name, kind of the label, and how the table of a seed is made."""
    of = lambda load, label: lambda seed: (load.data, label(load.target))
    yield "breast cancer", True, of(datasets.load_breast_cancer(), lambda y: y.astype(float))
    yield "digits, even", True, of(datasets.load_digits(), lambda y: (y % 2 == 0).astype(float))
    yield "diabetes", False, of(datasets.load_diabetes(), lambda y: y)
    yield "650 × 60, dense", True, lambda seed: drawn(654, 60, 60, 1.0, True, seed)
    yield "650 × 60, dense", False, lambda seed: drawn(654, 60, 60, 1.0, False, seed)
    yield "650 × 60, correlated", True, lambda seed: drawn(654, 60, 60, 1.0, True, seed, correlated=True)
    yield "650 × 60, correlated", False, lambda seed: drawn(654, 60, 60, 1.0, False, seed, correlated=True)
    yield "650 × 60, sparse weights", True, lambda seed: drawn(654, 60, 5, 2.0, True, seed)
    yield "650 × 60, sparse weights", False, lambda seed: drawn(654, 60, 5, 2.0, False, seed)
    yield "2,000 × 100, much noise", True, lambda seed: drawn(2_000, 100, 100, 3.0, True, seed)
    yield "2,000 × 100, much noise", False, lambda seed: drawn(2_000, 100, 100, 3.0, False, seed)
    yield "3,000 × 20, heavy tails", True, lambda seed: drawn(3_000, 20, 10, 1.0, True, seed, heavy=True)
    yield "3,000 × 20, heavy tails", False, lambda seed: drawn(3_000, 20, 10, 1.0, False, seed, heavy=True)
    yield "10,000 × 30, 3 % positive", True, lambda seed: drawn(10_000, 30, 10, 1.0, True, seed, positives=0.03)
    yield "50,000 × 20", True, lambda seed: drawn(50_000, 20, 20, 1.0, True, seed)
    yield "50,000 × 20", False, lambda seed: drawn(50_000, 20, 20, 1.0, False, seed)
    folder = os.environ.get("PAIRITY_DATA")
    if folder is None:
        return
    crime = polars.read_csv(pathlib.Path(folder) / "crime/communities.data", has_header=False, null_values="?")
    x = crime.select(crime.columns[5:127]).to_numpy().astype(float)
    missing = np.isnan(x)
    x = np.hstack([np.nan_to_num(x), missing[:, missing.any(axis=0)]])
    y = crime[crime.columns[127]].to_numpy()
    yield "crime", True, lambda seed: (x, (y >= 0.28).astype(float))
    yield "crime", False, lambda seed: (x, y)


def peer(x, y, classes, train):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if classes:
            model = LogisticRegressionCV(Cs=STRENGTHS, cv=5, scoring="roc_auc", max_iter=2_000)
        else:
            model = RidgeCV(alphas=len(train) * np.logspace(-6, 3, 25), cv=5)
        model = make_pipeline(StandardScaler(), model).fit(x[train], y[train])
        return model.decision_function(x) if classes else model.predict(x)


def ours(binary, x, y, classes, train, folder):
    """Scores of all rows, and seconds of the processor."""
    names = [f"x{at}" for at in range(x.shape[1])]
    table = polars.DataFrame(dict(zip(names, x.T)) | {"y": y})
    table.write_parquet(folder / "all.parquet")
    table[train].write_parquet(folder / "train.parquet")
    goal = ["--maximize", "auc"] if classes else ["--minimize", "mse"]
    command = [binary, "train", "train.parquet", "--label", "y", *goal, "--split", "1,0,0", "-o", "model.json", "--quiet"]
    before = os.times()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    after = os.times()
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    command = [binary, "score", "model.json", "all.parquet", "--score", "score", "-o", "out.parquet", "--quiet"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    seconds = sum(after[2:4]) - sum(before[2:4])
    return polars.read_parquet(folder / "out.parquet")["score"].to_numpy(), seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pairity", type=pathlib.Path)
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args()
    found = []
    for name, classes, made in tables():
        if wanted.only and name not in wanted.only:
            continue
        values, seconds = [], []
        for seed in range(wanted.splits):
            x, y = made(seed)
            order = np.random.default_rng(seed).permutation(len(x))
            train, test = order[: 3 * len(x) // 4], order[3 * len(x) // 4 :]
            with tempfile.TemporaryDirectory() as folder:
                own, took = ours(wanted.pairity.resolve(), x, y, classes, train, pathlib.Path(folder))
            before = time.process_time()
            other = peer(x, y, classes, train)
            seconds.append((took, time.process_time() - before))
            quality = roc_auc_score if classes else mean_squared_error
            values.append((quality(y[test], own[test]), quality(y[test], other[test])))
        own, other = np.array(values).T
        gaps = other - own if classes else (own - other) / other
        line = {
            "table": name, "rows": len(x), "features": x.shape[1], "objective": "auc" if classes else "mse",
            "pairity": own.mean(), "peer": other.mean(), "gap": gaps.mean(),
            "error": gaps.std(ddof=1) / np.sqrt(len(gaps)), "seconds": np.mean(seconds, axis=0).tolist(),
        }
        found.append(line)
        if not wanted.json:
            print("{table:28} {objective} {pairity:9.4f} {peer:9.4f}  behind {gap:+.4f} ± {error:.4f}".format(**line), line["seconds"], flush=True)
    if wanted.json:
        json.dump(found, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
