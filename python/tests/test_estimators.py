"""Estimators by themselves: what they learn, and that it is what the command line learns."""

from __future__ import annotations

import json
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import pairity
from needs import need

QUICK = {"iterations": 200, "step_sizes": [0.1]}


def fitted(rows, **settings):
    ranker = pairity.FairRanker(**(QUICK | settings))
    return ranker.fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries)


def test_a_ranker_meets_its_goal(rows):
    ranker = fitted(rows, subject_to=["cross_group <= 0.05"], iterations=500)
    assert ranker.status_ in ("feasible", "feasible_as_mixture")
    columns = {"groups": rows.groups, "queries": rows.queries}
    assert ranker.measure("cross_group", rows.X, rows.y, **columns) <= 0.05 + 1e-6
    plain = fitted(rows, method="unconstrained")
    assert plain.measure("cross_group", rows.X, rows.y, **columns) > 0.2
    assert plain.score(rows.X, rows.y, **columns) > ranker.score(rows.X, rows.y, **columns) > 0.8
    assert ranker.report_["train"]["auc"] == pytest.approx(ranker.score(rows.X, rows.y, **columns))


def test_the_default_is_the_cross_group_gap(rows):
    ranker = fitted(rows)
    assert ranker.report_["goal"]["subject_to"] == ["cross_group <= 0.01"]
    attribute = rows.features[:, 0]
    ranker.fit(rows.X, rows.y, protected=attribute, queries=rows.queries)
    assert ranker.report_["goal"]["subject_to"] == ["continuous <= 0.01"]
    with pytest.warns(UserWarning, match="no groups are given"):
        ranker.fit(rows.X, rows.y, queries=rows.queries)
    assert ranker.report_["goal"]["subject_to"] == []


def test_predictions_are_the_same_at_every_call_and_for_every_subset(rows):
    ranker = fitted(rows, subject_to=["cross_group <= 0.05"], iterations=500)
    assert len(ranker.components_) > 1
    scores = ranker.predict(rows.X, queries=rows.queries)
    np.testing.assert_array_equal(scores, ranker.predict(rows.X, queries=rows.queries))
    some = rows.queries % 3 == 1
    np.testing.assert_array_equal(scores[some], ranker.predict(rows.X[some], queries=rows.queries[some]))
    # Every row of a query sees the same scorer, and every scorer is seen.
    encoded = (rows.X - rows.X.mean(axis=0)) / rows.X.std(axis=0)
    each = np.stack([encoded @ component.parameters for component in ranker.components_])
    member = np.argmin(np.abs(each - scores), axis=0)
    assert all(len(set(member[rows.queries == query])) == 1 for query in range(400))
    assert set(member) == set(range(len(ranker.components_)))
    expected = sum(c.probability * row for c, row in zip(ranker.components_, each, strict=True))
    np.testing.assert_allclose(ranker.expected_scores(rows.X), expected, atol=1e-9)


def test_expected_scores_include_what_is_done_after_scoring(rows):
    ranker = fitted(rows, method="group-offset", subject_to=["cross_group <= 0.05"])
    (component,) = ranker.components_
    encoded = (rows.X - rows.X.mean(axis=0)) / rows.X.std(axis=0)
    plain = encoded @ component.parameters
    expected = ranker.expected_scores(rows.X, groups=rows.groups)
    np.testing.assert_array_equal(expected, ranker.predict(rows.X, groups=rows.groups, queries=rows.queries))
    offsets = {group: (expected - plain)[rows.groups == group] for group in set(rows.groups)}
    assert all(np.ptp(own) < 1e-9 for own in offsets.values())
    assert len({round(float(own[0]), 6) for own in offsets.values()}) > 1
    ranks = fitted(rows, method="singh-joachims", subject_to=["cross_group <= 0.05"])
    with pytest.raises(ValueError, match="ranks have no expected score"):
        ranks.expected_scores(rows.X, groups=rows.groups)


def test_models_survive_pickling(rows):
    ranker = fitted(rows, subject_to=["cross_group <= 0.05"])
    other = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(
        other.predict(rows.X, queries=rows.queries), ranker.predict(rows.X, queries=rows.queries)
    )
    assert other.report_ == ranker.report_ and repr(other.report_) == repr(ranker.report_)
    assert json.loads(ranker.to_json())["schema"] == "pairity.model/1"


def test_seeds(rows):
    first = fitted(rows, validation_fraction=0.25, random_state=1)
    again = fitted(rows, validation_fraction=0.25, random_state=1)
    other = fitted(rows, validation_fraction=0.25, random_state=2)
    assert first.to_json() == again.to_json()
    assert first.to_json() != other.to_json()
    generator = fitted(rows, random_state=np.random.default_rng(5))
    assert generator.seed_ == np.random.default_rng(5).integers(2**32)
    with pytest.raises(ValueError, match="random_state is -1"):
        fitted(rows, random_state=-1)


def test_a_group_aware_ranker_needs_the_groups(rows):
    ranker = fitted(rows, subject_to=["cross_group <= 0.02"], group_aware="offsets", iterations=500)
    columns = {"groups": rows.groups, "queries": rows.queries}
    assert ranker.score(rows.X, rows.y, **columns) > 0.9
    with pytest.raises(ValueError, match="group-aware"):
        ranker.predict(rows.X, queries=rows.queries)
    assert len(ranker.predict(rows.X, **columns)) == len(rows)
    with pytest.raises(ValueError, match='group_aware is "all"'):
        fitted(rows, group_aware="all")


@pytest.mark.parametrize(
    "method",
    ["robust", "debiased", "beutel", "kallus-zhou", "singh-joachims", "group-offset", "quantile-match", "x-order"],
)
def test_every_method_gives_a_model(rows, method):
    ranker = fitted(rows, method=method, subject_to=["cross_group <= 0.05"])
    scores = ranker.predict(rows.X, groups=rows.groups, queries=rows.queries)
    assert len(scores) == len(rows)
    assert ranker.report_["method"] == method
    value = ranker.score(rows.X, rows.y, groups=rows.groups, queries=rows.queries)
    assert value == pytest.approx(ranker.report_["train"]["objective"])


def test_a_network(rows):
    ranker = fitted(rows, model="mlp", hidden=(4,), method="unconstrained")
    assert len(ranker.components_[0].parameters) == 2 * 4 + 4 + 4 + 1
    assert ranker.score(rows.X, rows.y, groups=rows.groups, queries=rows.queries) > 0.85


def test_a_regressor_with_a_continuous_attribute():
    random = np.random.default_rng(0)
    z = random.normal(size=400)
    X = np.column_stack([z + 0.3 * random.normal(size=400), random.normal(size=400)])
    y = z + 0.7 * X[:, 1] + 0.5 * random.normal(size=400)
    regressor = pairity.FairRegressor(subject_to="continuous <= 0.05", iterations=500, step_sizes=[0.1])
    regressor.fit(X, y, protected=z)
    plain = pairity.FairRegressor(method="unconstrained", iterations=500, step_sizes=[0.1]).fit(X, y, protected=z)
    assert plain.score(X, y) > 0.7
    gap = regressor.measure("continuous", X, y, protected=z)
    assert gap <= 0.05 + 1e-6 < plain.measure("continuous", X, y, protected=z)
    aware = pairity.FairRegressor(subject_to=(), group_aware=True, iterations=300, step_sizes=[0.1])
    aware.fit(X, y, protected=z)
    assert aware.report_["features"] == ["x0", "x1", "protected", "x0 × protected", "x1 × protected"]
    assert len(aware.predict(X, protected=z)) == 400


def test_tables_with_text_and_missing_numbers(rows):
    color = np.array(["red", "green", "blue"])[np.arange(len(rows)) % 3].tolist()
    number = rows.X[:, 0].copy()
    number[5] = np.nan
    columns = {"x": number, "color": color, "y": rows.X[:, 1]}
    expected = ["x", "x is missing", "color = blue", "color = green", "color = red", "y"]
    found = []
    for library in (None, "pandas", "polars", "pyarrow"):
        table = columns
        if library:
            module = need(library)
            table = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
        ranker = pairity.FairRanker(**QUICK).fit(table, rows.y, groups=rows.groups, queries=rows.queries)
        assert ranker.report_["features"] == expected
        assert list(ranker.feature_names_in_) == list(columns)
        found.append(ranker.predict(table, queries=rows.queries))
        np.testing.assert_array_equal(found[0], found[-1])
    other = dict(columns, color=["pink", *color[1:]])
    with pytest.warns(UserWarning, match="not seen in training"):
        ranker.predict(other if library is None else module.table(other), queries=rows.queries)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"maximize": "auk"}, "did you mean `auc`?"),
        ({"subject_to": "cross_group >= 0.1"}, "cross_group"),
        ({"model": "forest"}, 'model is "forest"; it has to be one of "linear", "mlp"'),
        ({"method": "magic"}, 'method is "magic"; it has to be one of "constrained"'),
        ({"iterations": 0}, "iterations is 0; it has to be at least 1"),
        ({"step_sizes": [-1.0]}, "the step size is -1; it has to be a number above 0"),
        ({"validation_fraction": 1.5}, "the shares of a split"),
        ({"player": "me"}, 'player is "me"'),
        ({"solver": "me"}, 'solver is "me"; it has to be one of "paper", "columns"'),
    ],
)
def test_wrong_settings_are_told_in_the_words_of_the_engine(rows, settings, words):
    with pytest.raises(ValueError) as error:
        fitted(rows, **settings)
    assert words in str(error.value)


def test_models_are_not_used_before_they_are_fitted(rows):
    with pytest.raises(ValueError, match="not fitted yet"):
        pairity.FairRanker().predict(rows.X)


def test_parameters_are_those_of_the_constructor():
    ranker = pairity.FairRanker(subject_to=["auc >= 0.5"])
    assert ranker.get_params()["subject_to"] == ["auc >= 0.5"]
    assert ranker.set_params(model="mlp").model == "mlp"
    assert "mlp" in repr(ranker)
    with pytest.raises(ValueError, match="[Ii]nvalid parameter"):
        ranker.set_params(speed=3)


@pytest.fixture
def ctrl_c_raises():
    """Python's own handler, which it does not install where the parent process ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def test_ctrl_c_ends_a_training(rows, ctrl_c_raises):
    ranker = pairity.FairRanker(iterations=50_000_000, step_sizes=[0.1], time_limit=60)
    timer = threading.Timer(0.7, signal.raise_signal, [signal.SIGINT])
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries)
    timer.join()
    assert time.monotonic() - started < 60
    assert not hasattr(ranker, "model_")


def test_other_threads_run_meanwhile(rows):
    counts = []
    stop = threading.Event()

    def count() -> None:
        while not stop.is_set():
            counts.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = len(counts)
    fitted(rows, iterations=3000)
    during = len(counts) - before
    stop.set()
    thread.join()
    assert during > 3


def test_progress_is_told(rows, capsys):
    need("tqdm")
    fitted(rows, verbose=True)
    shown = capsys.readouterr().err
    assert "200/200" in shown and "violation" in shown


def test_a_time_limit_is_a_status(rows):
    ranker = fitted(rows, iterations=50_000_000, time_limit=0.3)
    assert ranker.status_ == "time_limit"


def test_a_report_can_be_read(rows, page):
    report = fitted(rows, subject_to=["cross_group <= 0.05"]).report_
    assert "cross_group &lt;= 0.05" in page(report._repr_html_())
    assert "cross_group <= 0.05" in repr(report)
    assert repr(report).startswith("Training\n") and "--" not in repr(report) and "written" not in repr(report)
    again = pickle.loads(pickle.dumps(report))
    assert again == report and again._repr_html_() == report._repr_html_()


@pytest.mark.parametrize(
    ("settings", "arguments"),
    [
        ({"subject_to": ["cross_group <= 0.05"]}, ["--subject-to", "cross_group <= 0.05"]),
        ({"method": "group-offset", "subject_to": ["cross_group <= 0.02"]},
         ["--method", "group-offset", "--subject-to", "cross_group <= 0.02"]),
        ({"maximize": "min(auc, A[0 > 1], A[1 > 0])", "subject_to": (), "model": "mlp"},
         ["--maximize", "min(auc, A[0 > 1], A[1 > 0])", "--model", "mlp"]),
        ({"group_aware": "offsets", "subject_to": ["cross_group <= 0.02"], "validation_fraction": 0.25},
         ["--group-aware=offsets", "--subject-to", "cross_group <= 0.02"]),
    ],
)
def test_the_command_line_trains_the_same_model(command, table, rows, tmp_path, settings, arguments):
    model = tmp_path / "model.json"
    split = "0.75,0.25,0" if "validation_fraction" in settings else "1,0,0"
    expected = command(
        "train", table, "--label", "label", "--group", "group", "--query", "query", "--features", "x0,x1",
        "--split", split, "--iterations", 200, "--step-size", 0.1, "--seed", 7, "-o", model, *arguments,
    )  # fmt: skip
    ranker = fitted(rows, random_state=7, **settings)
    document = json.loads(model.read_text())
    own = json.loads(ranker.to_json())
    assert own["components"] == document["components"]
    assert own["encoder"] == document["encoder"]
    assert own.get("after") == document.get("after")
    for part in ("train", "validation"):
        assert ranker.report_[part] == expected[part]
    assert ranker.status_ == expected["status"]
    scored = tmp_path / "scored.csv"
    command("score", model, table, "-o", scored, "--score", "own", "--query", "query")
    lines = scored.read_text().splitlines()
    place = lines[0].split(",").index("own")
    expected_scores = [float(line.split(",")[place]) for line in lines[1:]]
    found = ranker.predict(rows.X, groups=rows.groups, queries=rows.queries)
    np.testing.assert_array_equal(found, expected_scores)


def test_a_guarantee_is_tested_on_half_of_the_queries(rows):
    ranker = pairity.FairRanker(subject_to="cross_group <= 0.3", guarantee=0.9, iterations=200, step_sizes=[0.1])
    ranker.fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries)
    guarantee = ranker.report_["guarantee"]
    assert guarantee["given"] and guarantee["confidence"] == 0.9 and guarantee["rows"] == 200
    assert guarantee["limits"][0]["high"] <= guarantee["limits"][0]["bound"] == 0.3
    assert ranker.report_["safety"]["queries"] == 200
    assert "Guaranteed" in ranker.report_.text
    with pytest.raises(ValueError, match="guarantee is 0.1"):
        ranker.set_params(guarantee=0.1).fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries)


def test_no_accuracy_falls_by_more_than_is_allowed(rows):
    ranker = pairity.FairRanker(subject_to="cross_group <= 0.01", no_harm=0.05, iterations=200, step_sizes=[0.1])
    ranker.fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries)
    harm = ranker.report_["harm"]
    assert [rate["rate"] for rate in harm] == ["A[0 > 1]", "A[1 > 0]"]
    assert all(rate["value"] >= rate["unconstrained"] - 0.0501 for rate in harm)
    assert ranker.status_ != "feasible" and "No accuracy may fall by more than 0.05" in ranker.report_.text
    with pytest.raises(ValueError, match="no_harm is -1"):
        ranker.set_params(no_harm=-1).fit(rows.X, rows.y, groups=rows.groups, queries=rows.queries)


def parameters(ranker):
    return [(own.probability, own.parameters.tolist()) for own in ranker.components_]


@pytest.mark.parametrize("settings", [{}, {"model": "mlp", "hidden": [3]}, {"batch": 20, "standardize": False}])
def test_features_of_single_precision_give_the_model_of_double_precision(rows, settings):
    settings = QUICK | settings
    columns = {"groups": rows.groups, "queries": rows.queries}
    small = rows.X.astype(np.float32)
    large = small.astype(np.float64)
    expected = pairity.FairRanker(**settings).fit(large, rows.y, **columns)
    ranker = pairity.FairRanker(**settings).fit(small, rows.y, **columns)
    assert parameters(ranker) == parameters(expected)
    scores = expected.predict(large, queries=rows.queries)
    for model, features in ((ranker, small), (ranker, large), (expected, small)):
        assert model.predict(features, queries=rows.queries).tolist() == scores.tolist()
    named = {"x0": small[:, 0], "x1": small[:, 1]}
    tables = [named]
    for package, table in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        try:
            tables.append(getattr(__import__(package), table)(named))
        except ImportError:
            pass
    for table in tables:
        assert parameters(pairity.FairRanker(**settings).fit(table, rows.y, **columns)) == parameters(expected)


def test_the_command_line_keeps_single_precision_and_trains_the_same_bytes(command, rows, tmp_path):
    pyarrow = need("pyarrow")
    parquet = need("pyarrow.parquet")
    small = rows.X.astype(np.float32)
    others = {"label": rows.y, "group": rows.groups, "query": rows.queries}
    models = set()
    for kind in (np.float32, np.float64):
        columns = {name: small[:, place].astype(kind) for place, name in enumerate(("a", "b"))}
        path = tmp_path / f"{kind.__name__}.parquet"
        parquet.write_table(pyarrow.table(columns | others), path, row_group_size=200)
        for more in ([], ["--memory", "1KB"]):
            model = tmp_path / "model.json"
            roles = ["--label", "label", "--group", "group", "--query", "query", "--features", "a,b"]
            options = ["--iterations", "100", "--step-size", "0.1", "--batch", "20", "-o", model, *more]
            command("train", path, *roles, *options)
            models.add(model.read_text())
    assert len(models) == 1


def test_weights_may_change_with_a_continuous_attribute():
    random = np.random.default_rng(0)
    x, z = random.normal(size=200), random.normal(size=200)
    X, y = x[:, None], (x * z > 0).astype(float)
    found = {}
    for aware in ("offsets", "weights"):
        ranker = pairity.FairRanker(subject_to="continuous <= 0.3", group_aware=aware, solver="columns")
        ranker.fit(X, y, protected=z)
        found[aware] = ranker.score(X, y, protected=z)
    assert found["offsets"] < 0.75 and found["weights"] > 0.99
    assert ranker.report_["features"] == ["x0", "protected", "x0 × protected"]
    again = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(again.predict(X, protected=z), ranker.predict(X, protected=z))
