"""Examples and notebooks run as they stand."""

from __future__ import annotations

import html
import subprocess
import sys
from pathlib import Path

import pytest

import pairity
from needs import need

ROOT = Path(__file__).resolve().parents[2]
NEEDS = {"lightgbm_bridge": "lightgbm", "xgboost_bridge": "xgboost", "torch_bridge": "torch"}


@pytest.fixture(autouse=True)
def surroundings(monkeypatch):
    """Other processes find the package, draw no windows, and leave some processors to others."""
    monkeypatch.setenv("PYTHONPATH", str(Path(pairity.__file__).parents[1]))
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "python").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs(path):
    if path.stem in NEEDS:
        need(NEEDS[path.stem])
    done = subprocess.run([sys.executable, "-W", "error", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "gap" in done.stdout or "cross_group" in done.stdout


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    nbformat = need("nbformat")
    nbclient = need("nbclient")
    need("ipykernel")
    for package in ("pandas", "matplotlib", "lightgbm"):
        need(package)
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    pages = [
        output["data"].get("text/html", "")
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    # Results are pages in frames, whose markup is escaped; data frames are tables.
    assert any("<table" in html.unescape(page) for page in pages)
