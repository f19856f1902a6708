"""Datasets of Ray: the bits of the command line, on a cluster of two nodes, also with a worker killed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import pairity
import tables
from needs import need


@pytest.fixture(scope="module")
def awkward(tmp_path_factory):
    need("pyarrow", "ray")
    return tables.awkward(tmp_path_factory.mktemp("tables") / "awkward.parquet")


@pytest.fixture(scope="module")
def dataset(ray, awkward):
    return ray.data.read_parquet(str(awkward)).repartition(3).materialize()


@pytest.mark.parametrize("asked", [tables.AUDITS[0], tables.AUDITS[2]])
def test_an_audit_has_the_bits_of_the_command_line(dataset, awkward, command, asked):
    document = command("audit", awkward, "--score", "score", *tables.options(asked))
    own = pairity.ray.audit(dataset, "score", **asked, order="row", rows=60, buckets=3)
    assert own.to_dict() == tables.without_tables(document)


def test_scores_have_the_bits_of_the_command_line(dataset, awkward, command):
    from pyarrow import parquet

    folder = awkward.parent
    for model, query in tables.models(folder, command):
        named = [part for name in query for part in ("--query", name)]
        expected = [] if "ranked" in model.name else ["--expected"]
        command("score", model, awkward, "--score", "fair", *named, *expected, "-o", folder / "scored.parquet")
        own = pairity.ray.score(model, dataset, "fair", query=query, expected=bool(expected), order="row", buckets=3)
        found = {row["row"]: row for row in own.iter_rows()}
        document = parquet.read_table(folder / "scored.parquet").to_pylist()
        assert [found[row["row"]] for row in document] == document, model.name


def test_queries_are_needed(dataset):
    with pytest.raises(ValueError, match="query is missing: .* every row is compared with every other one"):
        pairity.ray.audit(dataset, "score", label="label")


def test_a_killed_worker_changes_nothing(dataset, awkward, command, tmp_path):
    asked = tables.AUDITS[1]
    document = command("audit", awkward, "--score", "score", *tables.options(asked))
    killed = str(tmp_path / "killed")

    class Rows(int):
        """A number of rows, at the sight of which one worker dies."""

        def __gt__(self, other):
            try:
                Path(killed).touch(exist_ok=False)
            except FileExistsError:
                return int(self) > other
            os.kill(os.getpid(), 9)

    own = pairity.ray.audit(dataset, "score", **asked, order="row", rows=Rows(60), buckets=3)
    assert own.to_dict() == tables.without_tables(document)
    assert Path(killed).exists()
