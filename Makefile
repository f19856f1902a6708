# make test   everything that CI runs: format, lints, docs, all tests
# make bench  pairity beside its peers, measured in one run

VENV := .venv

.PHONY: test lint bench browser

test: lint browser
	cargo test --workspace

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
