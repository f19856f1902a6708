"""Examples in docstrings that need a package are left out where it is not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

#: What the examples of some modules and functions need.
NEEDS = {
    "pairity.lightgbm": "lightgbm",
    "pairity.xgboost": "xgboost",
    "pairity.torch": "torch",
    "pairity.ray": "ray",
    "pairity.spark": "pyspark",
    "pairity._audit.Audit.to_frame": "pandas",
    "pairity.metrics.make_scorer": "sklearn",
}


def _is_there(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    if collection_path.parent.name != "pairity":
        return None
    package = NEEDS.get(f"pairity.{collection_path.stem}")
    return True if package and not _is_there(package) else None


def pytest_collection_modifyitems(items: list[Any]) -> None:
    for item in items:
        package = NEEDS.get(item.name)
        if package and not _is_there(package):
            item.add_marker(pytest.mark.skip(reason=f"{package} is not installed"))
