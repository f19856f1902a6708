"""A table that Spark and Ray have to read as the command line does, what is asked of it, and models that score it."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

import pairity

#: What audits are asked for.
AUDITS: list[dict[str, Any]] = [
    {
        "label": "label",
        "query": ["job", "day"],
        "groups": ["region", "old"],
        "average": "queries",
        "ties": "strict",
        "checks": ["cross_group <= 0.1", "auc >= 0.5"],
        "confidence": 0.9,
    },
    {"label": "label", "query": "price", "groups": "grade", "weights": "weight", "min_pairs": 20, "seed": 3},
    {"label": "label", "query": "real", "protected": "weight", "pair_weight": "label-gap", "within": ["old", "day"]},
    {"label": "label", "query": ["old", "grade"], "groups": "day", "pairs_where": ("<", "weight"), "pair_weight": "weight"},
    {
        "label": "label",
        "query": "price",
        "groups": ["region", "old"],
        "where": 'grade != 30 and weight >= 0.1 and region != "x"',
        "only_groups": ["south & false", "north & true"],
    },
    {"label": "label", "query": "price", "groups": ["region", "day"], "min_rows": 24, "average": "queries"},
]

_NAMES = {"groups": "group", "only_groups": "groups", "weights": "weight", "checks": "check"}


def options(asked: dict[str, Any]) -> list[str]:
    """The same as options of the command line."""
    found = []
    for name, value in asked.items():
        if name == "pairs_where":
            value = f"{value[1]} {value[0]} {value[1]}'"
        option = "--" + _NAMES.get(name, name).replace("_", "-")
        found += [part for each in (value if isinstance(value, list) else [value]) for part in (option, str(each))]
    return found


def awkward(path: Path) -> Path:
    """A Parquet file with cells that are missing in every way, and columns of many kinds."""
    import pyarrow
    from pyarrow import parquet

    random = np.random.default_rng(11)
    rows = 1200

    def some(values: list[Any]) -> list[Any]:
        return [values[at] for at in random.integers(0, len(values), rows)]

    columns = {
        "score": pyarrow.array(np.round(random.normal(size=rows), 1), mask=random.random(rows) < 0.03),
        "label": pyarrow.array(random.integers(0, 3, rows), mask=random.random(rows) < 0.03),
        "job": pyarrow.array(some(["cook", " cook", "maid\t", "maid", "", "?", " NA ", None, "naïve", "7"])),
        "day": pyarrow.array(some([None, *(datetime.date(2024, 1, day) for day in range(1, 9))])),
        "region": pyarrow.array(some(["north", "south ", "south", "?", None])),
        "old": pyarrow.array(some([True, False, None])),
        "price": pyarrow.array(some([None, *(Decimal(n) / 4 for n in range(-9, 30))]), pyarrow.decimal128(12, 2)),
        "grade": pyarrow.array(some([None, 1, 2, 30]), pyarrow.int8()),
        "weight": pyarrow.array(some([0.0, 0.1, 1.0, 2.5, None])),
        "real": pyarrow.array(some([0.0, -0.0, 0.5, 1e21, 1e-7, -3.0, None]), pyarrow.float32()),
        "row": pyarrow.array(np.arange(rows)),
        "x0": pyarrow.array(random.normal(size=rows)),
        "x1": pyarrow.array(random.normal(size=rows), mask=random.random(rows) < 0.05),
    }
    parquet.write_table(pyarrow.table(columns), path)
    return path


def models(folder: Path, command: Any) -> list[tuple[Path, list[str]]]:
    """A mixture, a map of scores by group and one that draws rankings, with the columns of their queries."""
    rows = pairity.datasets.simulated(200, seed=4)
    goal = {"subject_to": ["cross_group <= 0.05"], "iterations": 200, "step_sizes": [0.1]}
    mixture = pairity.FairRanker(**goal).fit(rows.X, rows.y, groups={"region": rows.groups}, queries=rows.queries)
    assert len(mixture.components_) > 1
    ranked = pairity.FairRanker(method="singh-joachims", **goal)
    ranked.fit(rows.X, rows.y, groups={"grade": 1 + rows.groups}, queries=rows.queries)
    found = [(folder / "mixture.json", ["job", "day"]), (folder / "map.json", []), (folder / "ranked.json", ["price"])]
    found[0][0].write_text(mixture.to_json())
    found[2][0].write_text(ranked.to_json())
    columns = ["--score", "score", "--label", "label", "--query", "price", "--group", "region", "--group", "old"]
    table = folder / "awkward.parquet"
    goal_of_map = ["--subject-to", "cross_group <= 0.3", "--method", "quantile-match"]
    command("adjust", table, *columns, *goal_of_map, "--model-out", found[1][0])
    return found


def without_tables(document: dict[str, Any]) -> dict[str, Any]:
    """A document without the names of files."""
    return document | {"notes": document["notes"] | {"tables": []}}
