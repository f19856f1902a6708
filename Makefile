# make test   everything that CI runs: format, lints, docs, all tests
# make wheel  the Python package, for every Python from 3.10 on
# make python-test  the tests of the Python package, which make test includes
# make bench  pairity beside its peers, measured in one run

VENV := .venv
PYTHON := .venv-python
TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: test lint bench browser wheel python-test fetched

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

fetched: browser $(PYTHON)/full $(PYTHON)/plain

# With every optional package, then with numpy alone. The library is built apart from the other tests, as its macros
# ask for features of common crates with which all would be built again.
python-test: $(PYTHON)/full $(PYTHON)/plain
	cargo build --bin pairity
	cargo build -p pairity-python
	cp $$(ls $(TARGET)/debug/lib_engine.so $(TARGET)/debug/lib_engine.dylib 2>/dev/null) python/pairity/_engine.abi3.so
	PYTHONPATH=$(CURDIR)/python $(PYTHON)/bin/mypy
	PYTHONPATH=$(CURDIR)/python $(PYTHON)/bin/stubtest pairity._engine
	PYTHONPATH=$(CURDIR)/python $(PYTHON)/bin/python -m pytest -q
	PAIRITY_REQUIRE= PAIRITY_SKIPPED= PYTHONPATH=$(CURDIR)/python $(PYTHON)/numpy-only/bin/python -m pytest -q

$(PYTHON)/full: python/requirements-test.txt
	python3 -m venv $(PYTHON)
	$(PYTHON)/bin/pip install --quiet -r $<
	touch $@

$(PYTHON)/plain: python/requirements-test.txt
	python3 -m venv $(PYTHON)/numpy-only
	$(PYTHON)/numpy-only/bin/pip install --quiet numpy pytest
	touch $@

wheel: $(PYTHON)/full
	$(PYTHON)/bin/maturin build --release --out dist

# What the browser tests need, as far as it can be installed.
browser:
	scripts/browser.sh

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

bench: $(VENV)/bench
	cargo build --release -p pairity-bench
	$(VENV)/bin/python benches/run.py target/release/pairity-bench

$(VENV)/bench: benches/requirements.txt
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet -r benches/requirements.txt
	touch $@
