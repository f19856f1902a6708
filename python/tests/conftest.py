"""What tests share."""

from __future__ import annotations

import html
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pairity
from needs import missing, need

ROOT = Path(__file__).resolve().parents[2]


def binary() -> Path | None:
    """The command line, if it is built: the newest there is."""
    targets = [Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))]
    found = [target / kind / "pairity" for target in targets for kind in ("debug", "release")]
    if "PAIRITY_BINARY" in os.environ:
        return Path(os.environ["PAIRITY_BINARY"])
    return max((path for path in found if path.exists()), key=lambda path: path.stat().st_mtime, default=None)


@pytest.fixture(scope="session")
def command() -> Any:
    """Runs the command line and returns its JSON document."""
    path = binary()
    if path is None:
        missing("binary", "the command line is not built: cargo build --workspace --bin pairity")

    def run(*arguments: Any) -> dict[str, Any]:
        done = subprocess.run(
            [path, *map(str, arguments), "--format", "json", "--quiet"], capture_output=True, text=True
        )
        assert done.returncode in (0, 1), done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return run


@pytest.fixture(scope="session")
def ray() -> Iterator[Any]:
    """Ray on a cluster of two nodes, which talk over the loopback address alone."""
    # Ray reads them when it is imported: nodes of one machine, and what is not said about accelerators.
    os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    found, data, utils = need("ray"), need("ray.data"), need("ray.cluster_utils")
    node = {"num_cpus": 2, "object_store_memory": 100 << 20}
    cluster = utils.Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    cluster.add_node(**node)
    found.init(address=cluster.address, log_to_driver=False, logging_level="error")
    context = data.DataContext.get_current()
    context.enable_progress_bars = context.print_on_execution_start = False
    yield found
    found.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="session")
def page() -> Any:
    """The page that a notebook shows in a frame."""

    def unwrapped(shown: str) -> str:
        assert shown.startswith("<iframe ") and shown.endswith("</iframe>")
        assert "<" not in shown[1 : -len("</iframe>")]
        return html.unescape(shown.split('srcdoc="')[1].split('"')[0])

    return unwrapped


@pytest.fixture(scope="session")
def rows() -> pairity.datasets.Dataset:
    """A small simulated task."""
    return pairity.datasets.simulated(400, seed=3)


@pytest.fixture(scope="session")
def scores(rows: pairity.datasets.Dataset) -> Any:
    """Scores of an unfair scorer."""
    return rows.features @ np.array([1.0, 0.7])


@pytest.fixture()
def table(rows: pairity.datasets.Dataset, scores: Any, tmp_path: Path) -> Path:
    """The same as a file, with every digit."""
    path = tmp_path / "rows.csv"
    lines = ["x0,x1,label,group,query,score"]
    for place in range(len(rows)):
        numbers = [*rows.features[place], rows.labels[place]]
        cells = [repr(float(number)) for number in numbers]
        cells += [str(rows.groups[place]), str(rows.queries[place]), repr(float(scores[place]))]
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n")
    return path
