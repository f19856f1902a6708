# make test   everything that CI runs: format, lints, docs, all tests
# make wheel  the Python package, for every Python from 3.10 on
# make python-test  the tests of the Python package, which make test includes
# make bench  pairity beside its peers, measured in one run
# make bench-scale  audits of 10⁷ and 10⁸ rows, beside DuckDB and polars, and by Spark and Ray
# make solvers  what each solver reaches, for docs/solvers.md

VENV := .venv
PYTHON := .venv-python
TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: test lint bench bench-scale bench-clusters solvers browser wheel python-test fetched

# Tests whose browser, data or package is missing are skipped, and listed at the end; where PAIRITY_REQUIRE names the
# part, they fail.
export PAIRITY_SKIPPED ?= $(abspath $(TARGET))/skipped.txt

# What is fetched comes in while lints run.
test:
	rm -f $(PAIRITY_SKIPPED)
	$(MAKE) -j2 lint fetched
	cargo test --workspace --exclude pairity-python
	$(MAKE) python-test
	@if [ -s $(PAIRITY_SKIPPED) ]; then echo "Skipped:"; sort -u $(PAIRITY_SKIPPED); else echo "Nothing was skipped."; fi

fetched: browser $(PYTHON)/full $(PYTHON)/plain $(PYTHON)/torch

# The wheel's library with every optional package, then the wheel in an environment with numpy alone, then the bridge to
# PyTorch, in an environment of its own. The library is built apart from the other tests, as its macros ask for features of
# common crates with which all would be built again.
python-test: $(PYTHON)/full $(PYTHON)/plain $(PYTHON)/torch
	cargo build --bin pairity
	rm -rf $(TARGET)/wheel
	$(MAKE) wheel PROFILE=dev DIST=$(TARGET)/wheel
	$(PYTHON)/bin/python -m zipfile -e $(TARGET)/wheel/*.whl $(TARGET)/wheel
	cp $(TARGET)/wheel/pairity/_engine.abi3.so python/pairity
	PYTHONPATH=$(CURDIR)/python $(PYTHON)/bin/mypy
	PYTHONPATH=$(CURDIR)/python $(PYTHON)/bin/stubtest pairity._engine
	PYTHONPATH=$(CURDIR)/python $(PYTHON)/bin/python -m pytest -q -k "not torch"
	$(PYTHON)/numpy-only/bin/pip install --quiet --force-reinstall --no-deps $(TARGET)/wheel/*.whl
	PAIRITY_REQUIRE= PAIRITY_SKIPPED= $(PYTHON)/numpy-only/bin/python -m pytest -q -k "not torch" python/tests
	PYTHONPATH=$(CURDIR)/python $$(cat $(PYTHON)/torch) -m pytest -q -k torch --ignore=python/tests/test_sklearn.py

$(PYTHON)/full: python/requirements-test.txt
	python3 -m venv $(PYTHON)
	$(PYTHON)/bin/pip install --quiet -r $<
	touch $@

$(PYTHON)/plain: python/requirements-test.txt
	python3 -m venv $(PYTHON)/numpy-only
	$(PYTHON)/numpy-only/bin/pip install --quiet numpy pytest
	touch $@

# The environment of the tests where torch can't be had, in which they are skipped.
$(PYTHON)/torch: scripts/torch.sh $(PYTHON)/full
	scripts/torch.sh $(PYTHON)/with-torch
	ls $(PYTHON)/with-torch/bin/pytest > /dev/null 2>&1 && echo $(PYTHON)/with-torch/bin/python > $@ || echo $(PYTHON)/bin/python > $@

PROFILE := release
DIST := dist
wheel: $(PYTHON)/full
	$(PYTHON)/bin/maturin build --quiet --profile $(PROFILE) --out $(DIST)

# What the browser tests need, as far as it can be installed.
browser:
	scripts/browser.sh

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# The tables of docs/solvers.md: what each solver reaches on the rows that it looks at, and on others, beside simpler ways and
# scikit-learn. SEEDS=5 takes a quarter of the time.
SEEDS ?= 20
FOUND := $(TARGET)/solvers
SOLVERS := $(TARGET)/release/examples/solvers json=$(FOUND)/lines.json seeds=$(SEEDS)
SIMULATED := simulated simulated-all simulated-marginal
REAL := crime-ranking crime-regression law w3c
solvers: $(VENV)/bench
	cargo build --release -p pairity-cli -p pairity-experiments --bin pairity --example solvers
	rm -rf $(FOUND) && mkdir -p $(FOUND)
	$(TARGET)/release/pairity reproduce $(SIMULATED) --queries 2500 --split 1,0,0 --solver columns --seeds $(SEEDS) --format json > $(FOUND)/fit.json
	$(SOLVERS) $(SIMULATED) $(REAL) lightgbm
	$(SOLVERS) wiki large ways=default
	$(SOLVERS) wiki large ways=paper seeds=2
	$(SOLVERS) ways=default,score-minus-attribute aware $(SIMULATED) law w3c
	$(SOLVERS) ways=score-minus-attribute $(SIMULATED) $(REAL) wiki lightgbm
	$(SOLVERS) ways=default bound=0.05 $(REAL) wiki lightgbm
	for bound in 0.02 0.1 0.2; do $(SOLVERS) ways=default bound=$$bound law w3c || exit 1; done
	$(SOLVERS) guarantee bound=0.05 seeds=$$(($(SEEDS) * 10))
	$(VENV)/bin/python benches/linear_peers.py $(TARGET)/release/pairity --splits $(SEEDS) --json > $(FOUND)/peers.json
	scripts/solvers.py $(FOUND)

bench: $(VENV)/bench
	cargo build --release -p pairity-bench -p pairity-cli
	$(VENV)/bin/python benches/run.py $(TARGET)/release/pairity-bench

$(VENV)/bench: benches/requirements.txt
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet -r benches/requirements.txt
	touch $@

# 10⁶ and 10⁷ rows by Spark and Ray, then 10⁷ and 10⁸ rows, streamed, beside DuckDB and polars;
# `make bench-scale ROWS=1000000` for fewer.
bench-scale: $(VENV)/bench bench-clusters
	cargo build --release --bin pairity
	$(VENV)/bin/python benches/scale.py $(TARGET)/release/pairity $(if $(ROWS),--rows $(ROWS))

bench-clusters: $(PYTHON)/full
	rm -rf $(TARGET)/wheel-release
	$(MAKE) wheel DIST=$(TARGET)/wheel-release
	$(PYTHON)/bin/python -m zipfile -e $(TARGET)/wheel-release/*.whl $(TARGET)/wheel-release
	PYTHONPATH=$(abspath $(TARGET))/wheel-release $(PYTHON)/bin/python benches/scale_clusters.py $(if $(ROWS),--rows $(ROWS))
