"""Tables that many machines hold, without a cluster: what a task does with its rows."""

from __future__ import annotations

import numpy as np
import pytest

import tables
from needs import need
from pairity._tables import Part, Plan, whole_queries


@pytest.mark.parametrize("seed", range(30))
def test_queries_stay_whole_and_rows_keep_their_order(seed):
    pyarrow = need("pyarrow")
    random = np.random.default_rng(seed)
    sizes = random.integers(1, random.choice([3, 20]), random.integers(1, 30))
    names = [None if random.random() < 0.1 else (f"{query}", query % 3) for query in range(len(sizes))]
    rows = [name for name, size in zip(names, sizes, strict=True) for _ in range(size)]
    table = pyarrow.table(
        {
            "day": [name and name[0] for name in rows],
            "job": [name and name[1] for name in rows],
            "row": range(len(rows)),
        }
    )
    cuts = np.sort(random.integers(0, len(rows) + 1, random.integers(0, 12)))
    edges = [0, *cuts, len(rows)]
    batches = [
        batch
        for start, end in zip(edges[:-1], edges[1:], strict=True)
        for batch in table.slice(start, end - start).combine_chunks().to_batches()
    ]
    limit = int(random.choice([1, 5, 1000]))
    found = list(whole_queries(batches, ["day", "job"], limit))
    assert [row for part in found for row in part["row"].to_pylist()] == list(range(len(rows)))
    queries = [{name for name in part["day"].to_pylist() if name} for part in found]
    assert sum(map(len, queries)) == len(set().union(*queries)), "a query is torn"
    # No more is held than asked for, a batch, and a query.
    most = limit + max((batch.num_rows for batch in batches), default=0) + max(sizes)
    assert all(part.num_rows <= most for part in found)


@pytest.mark.parametrize("asked", tables.AUDITS)
def test_cells_mean_what_they_mean_to_the_command_line(tmp_path, command, asked):
    need("pyarrow")
    from pyarrow import parquet

    path = tables.awkward(tmp_path / "awkward.parquet")
    document = tables.without_tables(command("audit", path, "--score", "score", *tables.options(asked)))
    table = parquet.read_table(path)
    plan = Plan.of("score", **asked, order="row", rows=40)
    assert plan.audit(lambda plan: [plan.audited(table).to_json()]).to_dict() == document
    query = plan.of_role("query")
    if {"job", "real"} & set(query):
        # Of queries that differ in spaces or in the sign of 0, Spark and Ray make one before.
        return
    ordered = table.sort_by([(name, "ascending") for name in plan.sorted_by])

    def run(plan):
        return (part.to_json() for part in plan.parts(ordered.to_batches(max_chunksize=17), query))

    assert plan.audit(run).to_dict() == document


def test_a_task_without_rows_returns_nothing():
    need("pyarrow")
    plan = Plan.of("score", label="label", query="query")
    assert list(plan.parts([], ["query"])) == []
    with pytest.raises(ValueError, match="no row is left of the 0"):
        plan.audit(lambda plan: [])
    assert Part.merged([]) == Part()


def test_what_no_row_or_group_meets_is_said():
    pyarrow = need("pyarrow")
    columns = {"label": "label", "query": "query", "groups": "group"}
    table = pyarrow.table({"score": [0.1, 0.2], "label": [0, 1], "query": ["a", "a"], "group": ["f", "m"]})

    def audit(**asked):
        return Plan.of("score", **(columns | asked)).audit(lambda plan: [plan.audited(table).to_json()])

    assert audit(where="label >= 0", only_groups="f", min_rows=1).to_dict()["groups"] == ["f"]
    for words, asked in (
        ("no row meets where", {"where": "label > 1"}),
        ("where \"label\": one of < <= > >= = != has to follow", {"where": "label"}),
        ("no row is of the group 'x'; the groups are 'f', 'm'", {"only_groups": ["x"]}),
        ("no group has the 2 queries that min_rows asks for", {"min_rows": 2}),
        ("choose among groups", {"min_rows": 2, "groups": None}),
    ):
        with pytest.raises(ValueError, match=words):
            audit(**asked)


def test_labels_that_would_be_rounded_are_refused():
    pyarrow = need("pyarrow")
    plan = Plan.of("score", label="label", query="query")
    table = pyarrow.table({"score": [0.1, 0.2], "label": [2**53, 2**53 + 1], "query": ["a", "a"]})
    with pytest.raises(ValueError, match="whole numbers beyond 2.53"):
        plan.audited(table)
    table = pyarrow.table({"score": ["high", "low"], "label": [0, 1], "query": ["a", "a"]})
    with pytest.raises(ValueError, match='column "score": expected a number, found "high"'):
        plan.audited(table)
