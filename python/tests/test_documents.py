"""Python in README and docs runs as it stands, block after block."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from needs import need

ROOT = Path(__file__).resolve().parents[2]
#: What the blocks of a document need.
NEEDS = {"python.md": ("pandas", "sklearn"), "ray_training.md": ("pandas", "sklearn", "ray")}


# Ray has warnings of its own.
RAY = pytest.param("docs/ray_training.md", marks=pytest.mark.filterwarnings("ignore"))


@pytest.mark.parametrize("name", ["README.md", "docs/python.md", RAY])
def test_a_document_runs(name, monkeypatch):
    path = ROOT / name
    packages = {package: need(package) for package in NEEDS.get(path.name, ())}
    monkeypatch.chdir(ROOT)
    text = path.read_text()
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert blocks, "a document without Python"
    names: dict[str, object] = {}
    with packages["sklearn"].config_context() if packages else nullcontext():
        for block in blocks:
            # Blank lines before it give errors the line of the document.
            before = "\n" * text.count("\n", 0, block.start(1))
            exec(compile(before + block[1], str(path), "exec"), names)
