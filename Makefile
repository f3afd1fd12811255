# What a checkout must pass, and how to measure it.

PYTHON ?= python3.11
CHROMIUM ?= chromium

.PHONY: help check shape test module library python cluster cluster-short spark stores scaling wheel worst arviz browser slow bench lines peer peer-gp ports gallery pages notebook commands site docs fuzz

help:
	@echo "make check   format and lints only, make shape of these what needs no build: widths of lines, layers, links"
	@echo "make test    everything a change must pass: check, docs, tests, doc tests, examples, Python, a short run on two Ray nodes"
	@echo "make worst   files with mistakes that people make, through fit, predict and report, with their transcript"
	@echo "make python  the Python package: lints, types, tests (PYTHON names the python)"
	@echo "make cluster equality and faults on a Ray cluster of NODES=3 nodes here, which it installs, starts and stops"
	@echo "make spark   predictions on a local Spark (Java 17) and on Dask, which it installs"
	@echo "make stores  tables in an S3 server (moto) and in Azure's emulator, which it installs and starts, by the feature stores"
	@echo "make scaling seconds per pass on 1 and 2 Ray workers (docs/cluster.md, lab/results)"
	@echo "make wheel   one wheel in dist/, installed and tried in an environment of its own"
	@echo "make lines   source lines of every crate, without comments, tests, benches and the lab"
	@echo "make arviz   opens draws in ArviZ 0.21, 0.23 and 1, which it installs (PYTHON names the python, NEW_PYTHON one from 3.12 on)"
	@echo "make browser loads a report in headless Chromium (CHROMIUM names it)"
	@echo "make slow    the tests that take minutes"
	@echo "make fuzz    fuzzers on everything that is read from outside, SECONDS each (needs nightly Rust and cargo-fuzz)"
	@echo "make bench   speed tables of the graph engine (docs/speed.md, lab/results)"
	@echo "make peer    NumPyro beside lehr, in turns (PEER_ARGS=--quick for a short run)"
	@echo "make peer-gp Gaussian processes by GPyTorch, NumPyro and lehr (PEER_ARGS=\"--data DIR\" for real tables)"
	@echo "make ports   eleven models in NumPyro's language and in ours, fitted by both (PORTS_ARGS for some of them)"
	@echo "make gallery runs the pages of docs/gallery and docs/tutorial, and writes what they print and draw"
	@echo "make pages   runs the same pages and compares the verdicts with what they say"
	@echo "make notebook runs the notebook of the gallery as Jupyter does"
	@echo "make commands the pages of docs/commands from the help of the commands"
	@echo "make site    the documentation as a site in target/site"
	@echo "make docs    the API documentation"

check: shape
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	@$(MAKE) --no-print-directory spelling

# The spelling by typos, which comes with what the Python package is tested with; _typos.toml lists our own words.
TYPOS ?= $(firstword $(wildcard $(PYTHON_VENV)/bin/typos) $(shell command -v typos 2>/dev/null))

spelling:
	@$(or $(TYPOS),echo "the spelling was not checked: typos is not installed (make python installs it, or pip install typos)")

# The rules of the house that need no build of the crates: widths of lines, layers, lengths, links between pages.
# These tests use the standard library only, so each is one call of the compiler; `cargo test` runs them as well.
BUILD := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)

shape:
	mkdir -p $(BUILD)
	CARGO_MANIFEST_DIR="$(CURDIR)" rustc --edition 2024 --test tests/shape/main.rs -o $(BUILD)/shape
	CARGO_MANIFEST_DIR="$(CURDIR)" rustc --edition 2024 --test tests/links.rs -o $(BUILD)/links
	$(BUILD)/shape --quiet
	$(BUILD)/links --quiet

# The dev profile is optimised (see Cargo.toml), so numerics are fast here too.
# The examples are built along with the tests; `cargo run` would build them again with the features of one package.
EXAMPLES := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)/debug/examples

test: check docs
	cargo test --workspace --locked
	$(EXAMPLES)/multilevel
	$(EXAMPLES)/higgs 3000
	@if $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; \
		then $(MAKE) python cluster-short; else echo "the Python package was not tested: $(PYTHON) is not Python 3.10 or newer"; fi

# The module is built along with the tests, so that nothing is compiled twice, and lies beside the package's sources.
# PROFILE=release takes the module as users have it.
PROFILE ?= debug
CARGO_PROFILE = $(if $(filter release,$(PROFILE)),--release)
PYTHON_VENV := python/.venv
PYTHON_TARGET := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
PYTHON_RUN = LEHR_PROFILE=$(PROFILE) PYTHONPATH=python $(PYTHON_VENV)/bin/python

module:
	cargo build --workspace --lib --bins --tests --examples --locked $(CARGO_PROFILE)
	cp $(PYTHON_TARGET)/$(PROFILE)/lib_lehr.so python/lehr/_lehr.abi3.so

# The module alone.
library:
	cargo build --workspace --lib --locked $(CARGO_PROFILE)
	cp $(PYTHON_TARGET)/$(PROFILE)/lib_lehr.so python/lehr/_lehr.abi3.so

python: $(PYTHON_VENV)/installed module
	$(PYTHON_VENV)/bin/ruff check python docs/*.py
	$(PYTHON_VENV)/bin/ruff format --check python docs/*.py
	$(PYTHON_VENV)/bin/mypy
	$(PYTHON_VENV)/bin/typos
	$(PYTHON_RUN) -m pytest

$(PYTHON_VENV)/installed: python/requirements.txt
	$(PYTHON) -m venv $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/pip install --quiet --requirement python/requirements.txt
	touch $@

# Ray in an environment of its own, and a cluster of several nodes on this machine that ends with the tests.
# NODES=2 KILLS=2 takes less than five minutes; TESTS chooses some.
NODES ?= 3
KILLS ?= 4
TESTS ?= python/cluster
RAY_VENV := python/.venv-ray

cluster: $(RAY_VENV)/installed library
	LEHR_NODES=$(NODES) LEHR_KILLS=$(KILLS) PYTHONDONTWRITEBYTECODE=1 \
		PYTHONPATH=$(CURDIR)/python $(RAY_VENV)/bin/python -m pytest -c python/cluster/pytest.ini $(TESTS)

# The part of it that every change must pass: the same bits, two killed workers, a lost file. Where Ray cannot be installed, it is said.
cluster-short:
	@if $(MAKE) --no-print-directory $(RAY_VENV)/installed; \
		then $(MAKE) cluster NODES=2 KILLS=2 TESTS="python/cluster -k 'same_bits or at_any_moment or vanished or left_out_on'"; \
		else echo "the cluster was not tested: Ray could not be installed"; fi

# Spark and Dask in an environment of their own.
SPARK_VENV := python/.venv-spark

spark: $(SPARK_VENV)/installed library
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(CURDIR)/python $(SPARK_VENV)/bin/python -m pytest -q -c python/cluster/pytest.ini python/spark

$(SPARK_VENV)/installed: python/requirements-spark.txt
	$(PYTHON) -m venv $(SPARK_VENV)
	$(SPARK_VENV)/bin/pip install --quiet --requirement python/requirements-spark.txt
	touch $@

# An S3 server in an environment of its own, and lehr with the feature that reads from it. The module and the command lie
# in a folder of their own, so that those without the feature stay where they are.
STORES_VENV := python/.venv-stores
STORES_TARGET := $(PYTHON_TARGET)/stores
AZURITE = $(abspath $(wildcard $(STORES_VENV)/azurite/node_modules/.bin/azurite-blob))

stores: $(STORES_VENV)/installed
	cargo build --workspace --lib --bins --locked $(CARGO_PROFILE) --features lehr-cli/stores,lehr-python/stores
	mkdir -p $(STORES_TARGET)
	cp -r python/lehr $(STORES_TARGET)/
	cp $(PYTHON_TARGET)/$(PROFILE)/lib_lehr.so $(STORES_TARGET)/lehr/_lehr.abi3.so
	cp $(PYTHON_TARGET)/$(PROFILE)/lehr $(STORES_TARGET)/lehr-command
	cargo test --workspace --locked $(CARGO_PROFILE) --lib --features lehr-cli/stores,lehr-python/stores file::
	LEHR_AZURITE=$(AZURITE) LEHR_COMMAND=$(abspath $(STORES_TARGET))/lehr-command PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(abspath $(STORES_TARGET)) \
		$(STORES_VENV)/bin/python -m pytest -c python/cluster/pytest.ini python/stores

$(STORES_VENV)/installed: python/requirements-stores.txt
	$(PYTHON) -m venv $(STORES_VENV)
	$(STORES_VENV)/bin/pip install --quiet --requirement python/requirements-stores.txt
	@npm install --silent --prefix $(STORES_VENV)/azurite azurite || echo "az:// is not tested: npm could not install azurite"
	touch $@

scaling: PROFILE = release
scaling: $(RAY_VENV)/installed library
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(CURDIR)/python $(RAY_VENV)/bin/python python/cluster/scaling.py

$(RAY_VENV)/installed: python/requirements-ray.txt
	$(PYTHON) -m venv $(RAY_VENV)
	$(RAY_VENV)/bin/pip install --quiet --requirement python/requirements-ray.txt
	touch $@

wheel: $(PYTHON_VENV)/installed
	$(PYTHON_VENV)/bin/maturin build --release --locked --out dist
	$(PYTHON) -m venv --clear dist/.venv
	dist/.venv/bin/pip install --quiet --force-reinstall dist/lehr-*.whl
	dist/.venv/bin/python python/smoke.py
	find dist -name 'lehr-*.whl' -size -40M | grep -q .

worst:
	cargo test --locked -p lehr-cli --test command worst -- --nocapture --test-threads 1

# Installs ArviZ into an environment of its own.
ARVIZ_VENV := crates/report/tests/.venv

arviz: $(ARVIZ_VENV)/installed
	LEHR_PYTHON=$(CURDIR)/$(ARVIZ_VENV)/bin/python cargo test --workspace --locked --test report -- --ignored arviz
	LEHR_PYTHON=$(CURDIR)/$(ARVIZ_VENV)/bin/python cargo test --workspace --locked --test command -- --ignored arviz

	$(MAKE) arviz-oldest arviz-newest

# What the package hands to ArviZ, in its oldest version and in the newest, which needs Python 3.12.
NEW_PYTHON ?= python3.12

arviz-%: python/.venv-arviz-%/installed library
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=python python/.venv-arviz-$*/bin/python -m pytest -q python/tests/test_arviz.py

python/.venv-arviz-%/installed: python/requirements-arviz-%.txt
	$(if $(filter newest,$*),$(NEW_PYTHON),$(PYTHON)) -m venv python/.venv-arviz-$*
	python/.venv-arviz-$*/bin/pip install --quiet --requirement $<
	touch $@

$(ARVIZ_VENV)/installed: crates/report/tests/requirements.txt
	$(PYTHON) -m venv $(ARVIZ_VENV)
	$(ARVIZ_VENV)/bin/pip install --quiet --requirement crates/report/tests/requirements.txt
	touch $@

browser:
	@command -v $(CHROMIUM) >/dev/null || apt-get install -y chromium
	LEHR_CHROMIUM=$(CHROMIUM) cargo test --locked -p lehr-report --test report -- --ignored browser

slow: $(PYTHON_VENV)/installed
	cargo test --locked -p lehr-graph -p lehr-infer -- --ignored
	cargo test --locked -p lehr-cli --test command killed -- --ignored
	$(PYTHON_RUN) -m pytest -m slow

# The same checks run on random and on damaged bytes with all other tests (fuzz/tests).
SECONDS ?= 60
FUZZ_TARGETS := $(basename $(notdir $(wildcard fuzz/targets/*.rs)))

fuzz:
	for target in $(FUZZ_TARGETS); do \
		cargo +nightly fuzz run --features fuzzer $$target -- -max_total_time=$(SECONDS) || exit 1; done

lines:
	cargo test --quiet --locked -p lehr --test shape -- --nocapture lines

bench:
	cargo bench --locked -p lehr-graph --bench math
	cargo bench --locked -p lehr-graph --bench speed

# Installs the peer into an environment of its own; the tables also go to target/peer.md.
PEER_PYTHON ?= python3.11
PEER_ARGS ?=
PEER_VENV := lab/peer/.venv
PEER_TARGET := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),$(CURDIR)/target)

peer: $(PEER_VENV)/installed
	cargo build --release --locked -p lehr-peer
	LEHR_PEER=$(PEER_TARGET)/release/lehr-peer PYTHONPATH=lab/peer \
		$(PEER_VENV)/bin/python -m compare --report $(PEER_TARGET)/peer.md $(PEER_ARGS)

$(PEER_VENV)/installed: lab/peer/requirements.txt
	$(PEER_PYTHON) -m venv $(PEER_VENV)
	$(PEER_VENV)/bin/pip install --quiet --requirement lab/peer/requirements.txt
	touch $@

# Gaussian processes beside GPyTorch, whose torch starts without CUDA; the tables also go to target/peer-gp.md.
$(PEER_VENV)/installed-gp: $(PEER_VENV)/installed lab/peer/requirements-gp.txt
	$(PEER_VENV)/bin/pip install --quiet --no-deps --requirement lab/peer/requirements-gp.txt
	$(PEER_VENV)/bin/python lab/peer/cpu_torch.py $(PEER_VENV)/cuda
	touch $@

peer-gp: $(PEER_VENV)/installed-gp
	cargo build --release --locked -p lehr-peer
	LEHR_PEER=$(PEER_TARGET)/release/lehr-peer PYTHONPATH=lab/peer LD_LIBRARY_PATH=$(abspath $(PEER_VENV))/cuda \
		$(PEER_VENV)/bin/python -m compare --only gp --report $(PEER_TARGET)/peer-gp.md $(PEER_ARGS)

# The models of lab/peer/ports: seconds, and how far both sides are apart. The table also goes to target/ports.md.
PORTS_ARGS ?=

ports: PROFILE = release
ports: $(PEER_VENV)/installed library
	PYTHONPATH=python:lab/peer $(PEER_VENV)/bin/python -m ports --report $(PEER_TARGET)/ports.md $(PORTS_ARGS)

# The pages call the package and the command, which lies beside the module.
DOCS_VENV := docs/.venv
DOCS_RUN = PATH=$(abspath $(PYTHON_TARGET))/$(PROFILE):$$PATH PYTHONPATH=$(CURDIR)/python $(DOCS_VENV)/bin/python
PAGES := docs/tutorial/*.md docs/gallery/*.md

$(DOCS_VENV)/installed: docs/requirements.txt
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/pip install --quiet --requirement docs/requirements.txt
	touch $@

gallery: $(DOCS_VENV)/installed module
	$(DOCS_RUN) docs/execute.py $(PAGES)
	$(DOCS_RUN) docs/notebook.py

pages: $(DOCS_VENV)/installed module
	$(DOCS_RUN) docs/execute.py --check $(PAGES)

notebook: $(DOCS_VENV)/installed module
	$(DOCS_RUN) docs/notebook.py $(PYTHON_TARGET)/notebook.html

commands:
	LEHR_WRITE_PAGES=1 cargo test --workspace --locked --lib every_command_has_a_page

site: $(DOCS_VENV)/installed module
	$(DOCS_RUN) -m mkdocs build --strict --quiet

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
