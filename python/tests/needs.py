"""Packages that a test needs and that a machine may lack.

A test whose package is missing is skipped with a message, and fails instead where ``PAIRITY_REQUIRE`` names the package.
What was skipped is added to the file that ``PAIRITY_SKIPPED`` names. The Rust tests follow the same rule.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from typing import Any

import pytest


def need(package: str, part: str | None = None) -> Any:
    """The package, if it is installed; ``part`` is the name that ``PAIRITY_REQUIRE`` knows it by."""
    part = part or package.partition(".")[0]
    try:
        return importlib.import_module(package)
    except ImportError as error:
        missing(part, str(error))


def need_spark() -> Any:
    """PySpark, where it and Java are installed; what it starts talks over the loopback address."""
    need("pyarrow", "spark")
    found = need("pyspark.sql", "spark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        missing("spark", "there is no Java")
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    return found


def missing(part: str, why: str) -> Any:
    """Skips or fails the test that needs a part."""
    if part in (name.strip() for name in os.environ.get("PAIRITY_REQUIRE", "").split(",")):
        pytest.fail(f"PAIRITY_REQUIRE names {part}: {why}")
    test = os.environ.get("PYTEST_CURRENT_TEST", "python tests").partition(" (")[0]
    if file := os.environ.get("PAIRITY_SKIPPED"):
        with open(file, "a") as lines:
            lines.write(f"{part}: {test}: {why}\n")
    pytest.skip(f"{part}: {why}", allow_module_level=True)
