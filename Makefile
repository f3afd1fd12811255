# What a checkout must pass, and how to measure it.

.PHONY: help check test cli slow bench peer docs

help:
	@echo "make check   format and lints only"
	@echo "make test    everything a change must pass: check, tests, doc tests"
	@echo "make cli     the tests of the command-line program"
	@echo "make slow    the tests that take minutes"
	@echo "make bench   speed tables (docs/performance.md holds dated copies)"
	@echo "make peer    NumPyro beside lehr, in turns (PEER_ARGS=--quick for a short run)"
	@echo "make docs    the API documentation"

check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

# The dev profile is optimised (see Cargo.toml), so numerics are fast here too.
test: check
	cargo test --workspace --locked
	cargo run --locked --example multilevel
	cargo run --locked --example higgs -- 3000

# The command-line program is new: its tests run the whole binary and are not part of the gate yet.
cli:
	cargo test --locked -p lehr-cli --lib --test command

slow:
	cargo test --locked -p lehr-graph -p lehr-infer -- --ignored

bench:
	cargo bench --locked -p lehr-graph --bench math
	cargo bench --locked -p lehr-graph --bench speed

# Installs the peer into an environment of its own; the tables also go to target/peer.md.
PEER_PYTHON ?= python3.11
PEER_ARGS ?=
PEER_VENV := bench/peer/.venv
PEER_TARGET := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),$(CURDIR)/target)

peer: $(PEER_VENV)/installed
	cargo build --release --locked -p lehr-peer
	LEHR_PEER=$(PEER_TARGET)/release/lehr-peer PYTHONPATH=bench/peer \
		$(PEER_VENV)/bin/python -m compare --report $(PEER_TARGET)/peer.md $(PEER_ARGS)

$(PEER_VENV)/installed: bench/peer/requirements.txt
	$(PEER_PYTHON) -m venv $(PEER_VENV)
	$(PEER_VENV)/bin/pip install --quiet --requirement bench/peer/requirements.txt
	touch $@

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
