"""Audits from arrays, data frames and lists."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import pairity
from needs import need

LABELS = [0, 1, 0, 1, 1, 0]
SCORES = [0.1, 0.9, 0.2, 0.15, 0.2, 0.3]
GROUPS = ["a", "a", "b", "b", "a", "b"]


def test_a_table_by_hand():
    # Better ones: rows 1 and 4 of a, row 3 of b; worse ones: row 0 of a, rows 2 and 5 of b.
    audit = pairity.audit(SCORES, LABELS, groups=GROUPS)
    values = [[cell.value for cell in row] for row in audit.accuracy]
    # A[a > b]: 0.9 beats 0.2 and 0.3; 0.2 ties with 0.2 and loses to 0.3.
    assert values == [[1.0, 2.5 / 4], [1.0, 0.0]]
    assert audit.auc.value == (2 + 2.5 + 1 + 0) / 9
    assert audit.auc.pairs == 9
    assert audit.gaps["cross_group"].value == pytest.approx(1.0 - 2.5 / 4)
    assert audit.groups == ["a", "b"]
    assert audit["A[a > b]"] is audit.accuracy[0][1]
    assert audit.queries == 1 and audit.rows == 6


def test_equal_scores_earn_nothing_if_ties_are_strict():
    audit = pairity.audit(SCORES, LABELS, groups=GROUPS, ties="strict")
    assert audit["A[a > b]"].value == 0.5


def test_queries_part_the_pairs_whatever_their_order():
    audit = pairity.audit(SCORES, LABELS, groups=GROUPS, queries=["q", "q", "r", "r", "r", "q"])
    assert audit.auc.pairs == 4 and audit.queries == 2
    shuffled = [3, 0, 5, 1, 4, 2]
    other = pairity.audit(
        *([column[place] for place in shuffled] for column in (SCORES, LABELS, GROUPS)),
        queries=[["q", "q", "r", "r", "r", "q"][place] for place in shuffled],
    )
    assert other.auc == audit.auc


def test_several_columns_of_queries_are_combined_and_pairs_stay_within_a_column():
    days = ["mon", "mon", "tue", "tue", "mon", "tue"]
    jobs = ["cook", "cook", "maid", "cook", "maid", "cook"]
    several = pairity.audit(SCORES, LABELS, groups=GROUPS, queries=[days, jobs])
    joined = [f"{day} & {job}" for day, job in zip(days, jobs)]
    one = pairity.audit(SCORES, LABELS, groups=GROUPS, queries=joined)
    assert (several.queries, several.auc.value) == (one.queries, one.auc.value) == (4, 0.5)
    # Row 1 and row 4 win over row 0, row 3 loses to rows 2 and 5; all rows stay one query.
    within = pairity.audit(SCORES, LABELS, groups=GROUPS, within=days)
    assert (within.auc.value, within.auc.pairs, within.queries) == (0.5, 4, 1)


def test_weights_of_zero_leave_rows_out():
    audit = pairity.audit(SCORES, LABELS, groups=GROUPS, weights=[1, 1, 1, 1, 0, 1])
    assert audit.rows == 5
    assert audit["A[a > b]"].value == 1.0


def test_a_continuous_attribute():
    audit = pairity.audit(SCORES, LABELS, protected=[3.0, 1.0, 2.0, 2.5, 0.5, np.nan])
    assert audit.continuous is not None
    # Pairs by hand: (1,0) (1,2) (3,0) less, (3,2) greater, (4,0) (4,2) less.
    assert audit.continuous["greater"].pairs == 1
    assert audit.continuous["less"].pairs == 5
    assert audit["A[z > z']"].value == 0.0
    assert audit["A[z < z']"].value == (1 + 1 + 1 + 1 + 0.5) / 5


def test_parity_of_a_continuous_attribute():
    # The one with the higher attribute scores higher three times, lower once and equal once.
    z = [1.0, 2.0, 3.0, 2.0, np.nan]
    audit = pairity.audit([0.1, 0.4, 0.4, 0.9, 0.5], protected=z, checks=["continuous_parity <= 1"])
    assert audit.continuous is not None and audit.continuous["greater"].value is None
    assert (audit["P[z > z']"].value, audit["P[z < z']"].value) == (0.7, 0.3)
    assert audit.continuous["parity_less"].pairs == 5
    assert audit["continuous_parity"].value == pytest.approx(0.4)
    assert audit.checks[0].verdict == "pass"
    assert pairity.metrics.metric("P[z > z']")([0, 1, 0, 1, 0], [0.1, 0.4, 0.4, 0.9, 0.5], protected=z) == 0.7
    need("pandas")
    assert audit.to_frame().loc["P[z > z']", "value"] == 0.7


def test_a_group_of_few_rows_is_marked_where_it_decides():
    groups = ["c" if i < 2 else "ab"[i % 2] for i in range(80)]
    audit = pairity.audit([float(i) for i in range(80)], groups=groups)
    few = audit["statistical_parity"].few
    assert few is not None and few.endswith('decides it, and the group "c" has 2 rows only')
    assert audit["P[a > b]"].few is None


def test_without_labels_there_is_parity_alone():
    audit = pairity.audit(SCORES, groups=GROUPS)
    assert audit.auc.value is None and audit.auc.reason == "auc needs labels"
    assert audit.parity[0][0] is None
    assert audit["P[a > b]"].value is not None
    assert np.isnan(float(audit.auc))


def test_several_columns_of_groups_are_intersected():
    other = ["x", "y", "x", "y", None, "x"]
    audit = pairity.audit(SCORES, LABELS, groups=[GROUPS, other])
    assert audit.groups == ["a & x", "a & y", "b & x", "b & y"]
    both = {"group": GROUPS, "other": other}
    assert pairity.audit(SCORES, LABELS, groups=both).groups == audit.groups
    assert audit['A["a & y" > "b & x"]'].value == 1.0


def test_checks_have_verdicts(rows, scores):
    audit = pairity.audit(
        scores,
        rows.labels,
        rows.groups,
        queries=rows.queries,
        checks=["cross_group <= 0.01", "auc >= 0.5", "A[0 > 1] >= 0.9 * A[1 > 0]"],
    )
    assert [check.verdict for check in audit.checks] == ["fail", "pass", "pass"]
    assert not audit.passed
    assert audit.checks[0].bound == 0.01


def same(first: pairity.Audit, second: pairity.Audit) -> None:
    assert first.to_dict() == second.to_dict()


def test_every_library_gives_the_same_numbers(rows, scores):
    expected = pairity.audit(scores, rows.labels, rows.groups, queries=rows.queries)
    names = np.array(["zero", "one"])[rows.groups]
    named = pairity.audit(scores, rows.labels, names, queries=rows.queries)
    columns = {"s": scores, "y": rows.labels.astype(int), "g": rows.groups, "n": names, "q": rows.queries}
    listed = {name: column.tolist() for name, column in columns.items()}
    same(pairity.audit(listed["s"], listed["y"], listed["g"], queries=listed["q"]), expected)
    same(pairity.audit(listed["s"], listed["y"], listed["n"], queries=listed["q"]), named)
    same(pairity.audit(scores[::-1][::-1], rows.labels, rows.groups, queries=rows.queries.astype(float)), expected)

    pandas = need("pandas")
    frame = pandas.DataFrame(listed)
    same(pairity.audit(frame.s, frame.y, frame.g, queries=frame.q), expected)
    same(pairity.audit(frame.s, frame.y, frame.n.astype("category"), queries=frame.q), named)
    same(pairity.audit(frame.s.astype("Float64"), frame.y.astype("Int64"), frame[["n"]], queries=frame.q), named)

    polars = need("polars")
    frame = polars.DataFrame(listed)
    same(pairity.audit(frame["s"], frame["y"], frame["g"], queries=frame["q"]), expected)
    same(pairity.audit(frame["s"], frame["y"], frame["n"].cast(polars.Categorical), queries=frame["q"]), named)
    same(pairity.audit(frame["s"], frame["y"], frame.select("n"), queries=frame["q"].cast(str)), named)

    pyarrow = need("pyarrow")
    frame = pyarrow.table(listed)
    same(pairity.audit(frame["s"], frame["y"], frame["g"], queries=frame["q"]), expected)
    same(pairity.audit(frame["s"], frame["y"], frame["n"].dictionary_encode(), queries=frame["q"]), named)
    same(pairity.audit(frame["s"].combine_chunks(), frame["y"], frame.select(["n"]), queries=frame["q"]), named)


def test_missing_groups_are_no_group():
    expected = pairity.audit(SCORES, LABELS, groups=["a", "", "b", "b", "a", "b"]).to_dict()
    for missing in (None, float("nan"), np.nan):
        groups = ["a", missing, "b", "b", "a", "b"]
        assert pairity.audit(SCORES, LABELS, groups=groups).to_dict() == expected
        assert pairity.audit(SCORES, LABELS, groups=np.array(groups, dtype=object)).to_dict() == expected
    assert expected["notes"]["rows_without_attribute"] == 1
    numbers = np.array([1.0, np.nan, 2.0, 2.0, 1.0, 2.0])
    assert pairity.audit(SCORES, LABELS, groups=numbers).groups == ["1", "2"]
    for library in ("pandas", "polars", "pyarrow"):
        module = need(library)
        make = module.array if library == "pyarrow" else module.Series
        column = make(["a", None, "b", "b", "a", "b"])
        assert pairity.audit(SCORES, LABELS, groups=column).to_dict() == expected
        column = make([1, None, 2, 2, 1, 2])
        assert pairity.audit(SCORES, LABELS, groups=column).groups == ["1", "2"]


def test_arrays_are_not_copied(rows, scores):
    from pairity import _columns

    assert _columns.numbers(scores, "scores") is scores
    assert _columns.query_codes(rows.queries) is rows.queries
    polars = need("polars")
    series = polars.Series(scores)
    assert np.shares_memory(_columns.numbers(series, "scores"), series.to_numpy())
    pyarrow = need("pyarrow")
    column = pyarrow.array(scores)
    assert np.shares_memory(_columns.numbers(column, "scores"), column.to_numpy())


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: pairity.audit([0.1, np.nan], [0, 1]), ValueError, "scores in row 2 is NaN; finite numbers are needed"),
        (lambda: pairity.audit([0.1], [0, 1]), ValueError, "scores has 1 rows, but 2 were expected"),
        (lambda: pairity.audit([0.1, 0.2], [0, 1], groups=["a"]), ValueError, "groups has 1 rows, but 2 were expected"),
        (lambda: pairity.audit(["x", "y"], [0, 1]), TypeError, "scores is text, such as 'x'; numbers are needed"),
        (lambda: pairity.audit([[0.1], [0.2]], [0, 1]), ValueError, "scores has the shape (2, 1)"),
        (lambda: pairity.audit([0.1, 0.2]), ValueError, "there is nothing to compare scores with"),
        (lambda: pairity.audit([0.1, 0.2], [0, 1], queries=["a", None]), ValueError, "queries in row 2 is missing"),
        (lambda: pairity.audit([0.1, 0.2], [0, 1], weights=[1, -1]), ValueError, "weights in row 2 is -1"),
        (lambda: pairity.audit([0.1, 0.2], [0, 1], average="all"), ValueError, 'average is "all"'),
        (lambda: pairity.audit([0.1, 0.2], [0, 1], confidence=1), ValueError, "confidence is 1; a number between 0 and 1"),
        (lambda: pairity.audit([0.1, 0.2], [0, 1], checks="auk >= 0.8"), ValueError, "did you mean `auc`?"),
        (lambda: pairity.audit([], []), ValueError, "there are no examples"),
        (lambda: pairity.audit([0.1, 0.2], [0, 1], ["a", "b"], [1, 2]), ValueError, "exclude each other"),
    ],
)
def test_errors_say_what_is_wrong(call, kind, words):
    with pytest.raises(kind) as error:
        call()
    assert words in str(error.value)


def test_an_audit_can_be_read(rows, scores, page):
    audit = pairity.audit(scores, rows.labels, rows.groups, queries=rows.queries, checks="auc >= 0.5")
    assert "cross_group" in repr(audit)
    shown = page(audit._repr_html_())
    assert "<table>" in shown and f"{audit.auc.value:.3f}" in shown and "auc &gt;= 0.5" in shown
    wild = pairity.audit(SCORES, LABELS, groups=["<i>", "<i>", "b", "b", "<i>", "b"])
    assert "<i>" not in page(wild._repr_html_()) and "&lt;i&gt;" in page(wild._repr_html_())
    again = pickle.loads(pickle.dumps(audit))
    assert (repr(again), again._repr_html_()) == (repr(audit), audit._repr_html_())
    unlabeled = repr(pairity.audit(SCORES, groups=["a", "a", "b", "b", "a", "b"]))
    assert "pass labels" in unlabeled and "--" not in unlabeled


def test_an_audit_as_a_frame(rows, scores):
    audit = pairity.audit(scores, rows.labels, rows.groups, queries=rows.queries)
    need("pandas")
    frame = audit.to_frame()
    assert frame.loc["A[0 > 1]", "value"] == audit.accuracy[0][1].value
    assert frame.loc["continuous", "reason"]
    need("polars")
    other = audit.to_frame("polars")
    assert other.filter(other["metric"] == "auc")["value"][0] == audit.auc.value
    with pytest.raises(ValueError, match="library is 'excel'"):
        audit.to_frame("excel")


def test_an_audit_as_a_picture(rows, scores):
    matplotlib = need("matplotlib")
    matplotlib.use("agg")
    audit = pairity.audit(scores, rows.labels, rows.groups, queries=rows.queries)
    matrix, gaps = audit.plot()
    texts = [text.get_text() for text in matrix.texts]
    assert texts == [f"{cell.value:.3f}" for row in audit.accuracy for cell in row]
    assert "cross_group" in [label.get_text() for label in gaps.get_yticklabels()]
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("average", ["pairs", "queries"])
def test_the_command_line_gives_the_same_audit(command, table, rows, scores, average):
    arguments = ["--score", "score", "--label", "label", "--group", "group", "--query", "query"]
    expected = command("audit", table, *arguments, "--average", average, "--check", "cross_group <= 0.1", "--seed", 4)
    found = pairity.audit(
        scores, rows.labels, rows.groups, queries=rows.queries, average=average, checks="cross_group <= 0.1", seed=4
    ).to_dict()
    expected.pop("notes"), found.pop("notes")
    assert found == expected


def test_the_command_line_sees_text_queries_in_the_same_order(command, rows, scores, tmp_path):
    order = np.random.default_rng(1).permutation(len(rows))
    queries = [f"query {number % 37}" for number in rows.queries[order]]
    path = tmp_path / "mixed.csv"
    lines = [
        f"{float(score)!r},{label},{query},{group}"
        for score, label, query, group in zip(
            scores[order], rows.labels[order], queries, rows.groups[order], strict=True
        )
    ]
    path.write_text("s,y,q,g\n" + "\n".join(lines) + "\n")
    expected = command("audit", path, "--score", "s", "--label", "y", "--query", "q", "--group", "g")
    found = pairity.audit(scores[order], rows.labels[order], rows.groups[order], queries=queries).to_dict()
    expected.pop("notes"), found.pop("notes")
    assert found == expected


def test_nothing_optional_is_imported():
    script = "import sys; from pairity import *; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", "import json; " + script], capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stdout))
    # scikit-learn imports pandas and pyarrow by itself.
    assert not loaded & {"polars", "matplotlib", "lightgbm", "xgboost", "torch", "tqdm"}


def test_bridges_are_there_for_who_asks(monkeypatch):
    assert {"lightgbm", "torch", "xgboost"} <= set(dir(pairity))
    with pytest.raises(AttributeError, match="no attribute 'tensorflow'"):
        pairity.tensorflow  # noqa: B018
    for name in ("lightgbm", "xgboost", "torch"):
        monkeypatch.delitem(sys.modules, f"pairity.{name}", raising=False)
        monkeypatch.delitem(vars(pairity), name, raising=False)
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=f"pairity.{name} needs .*: pip install {name}"):
            getattr(pairity, name)


def test_partial_audits_merge_to_the_bits_of_the_whole_in_any_order(rows, scores):
    random = np.random.default_rng(5)
    weights = random.integers(0, 4, len(rows)) / 3
    columns = {"labels": rows.labels, "groups": rows.groups, "queries": rows.queries, "weights": weights}
    how = {"ties": "strict", "average": "queries"}
    whole = pairity.audit(scores, **columns, **how, checks=["cross_group <= 0.1"], confidence=0.9)
    own = random.integers(0, 5, rows.queries.max() + 1)[rows.queries]
    parts = [
        pairity.partial_audit(
            scores[own == part], **{name: column[own == part] for name, column in columns.items()}, **how
        )
        for part in range(5)
    ]
    for order in (parts, parts[::-1]):
        merged = pairity.merge(order, checks=["cross_group <= 0.1"], confidence=0.9)
        # Rows of no weight are not known to partial audits.
        assert merged.to_dict() | {"notes": None} == whole.to_dict() | {"notes": None}


def test_partial_audits_are_those_of_the_command_line(rows, scores, table, command, tmp_path):
    file = tmp_path / "part.json"
    columns = ["--score", "score", "--label", "label", "--query", "query", "--group", "group"]
    command("audit", table, *columns, "--partial", file)
    own = pairity.partial_audit(scores, rows.labels, rows.groups, queries=rows.queries)
    assert own == file.read_text().strip()


def test_a_partial_audit_needs_queries_and_merges_with_its_like():
    with pytest.raises(ValueError, match="made of queries"):
        pairity.partial_audit(SCORES, LABELS)
    half = pairity.partial_audit(SCORES, LABELS, queries=GROUPS)
    strict = pairity.partial_audit(SCORES, LABELS, queries=GROUPS, ties="strict")
    with pytest.raises(ValueError, match="made alike"):
        pairity.merge([half, strict])
    with pytest.raises(ValueError, match="no partial audit"):
        pairity.merge([])
    with pytest.raises(ValueError, match="no partial audit"):
        pairity.merge(["{}"])
