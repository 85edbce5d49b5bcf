# make demo    measure commit modes on a private PostgreSQL and write the report
# make test    everything that is checked: linters, types, Rust tests, Python tests
# make check   the linters and types alone
# make release VERSION=0.2.0   version, changelog, commit, tag, packages and checksums; publishes nothing (docs/guide/release.md)
# make long    what takes too long for every commit: thousands of damaged runs, fuzzing, 200 kills, 600 hostile moments,
#              450 odd servers, every version of PostgreSQL whole, clean machines of Debian
# make lock    write locks/ anew, after a change of what pyproject.toml asks for (scripts/lock --upgrade: all the newest)
# make audit   licences and sources of what is locked, and its known faults where their databases can be reached
# make wasm    build the page's WebAssembly anew, after a change of the simulator, the forecast or the explorer
# make dist    build what is published, into dist/: wheels and the source archive, checked (docs/reference/packages.md)
# make licences  write licenses/ anew, after a change of Cargo.lock
# make clean   remove what these made, measured runs excepted

PYTHON ?= python3
# Of each fuzz target, seconds.
FUZZ_S ?= 120
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := $(VENV)/.packages
INSTALLED := $(VENV)/.installed
# What is locked and nothing else: a wheel with a known hash, so that nothing of a package runs while it is installed.
PIP_LOCKED := $(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: --requirement
# Two at a time, and three once no time is measured; tests/side_by_side.py says which.
PYTEST := $(BIN)/pytest -n 3 --no-loadscope-reorder
RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name '*.c' -o -name Cargo.toml)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

.PHONY: demo test check rust long install lock audit wasm dist licences clean

install: $(INSTALLED)

demo: $(INSTALLED)
	$(BIN)/redolab run commit-mode --quick

# pytest comes last, so that its summary closes the output. mypy has one CPU, so the Rust tests have the other.
test: $(INSTALLED)
	@scripts/need-chromium
	@scripts/need-mariadb
	@scripts/need-servers
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target check rust
	$(PYTEST)

rust:
	MAKEFLAGS= cargo test --locked --quiet --workspace

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/zizmor --offline --quiet --persona auditor .github
	@# Debian 12's newer Rust comes without these two.
	@if cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1; then \
		set -x; cargo fmt --check && \
		MAKEFLAGS= cargo clippy --locked --quiet --workspace --all-targets -- -D warnings; \
	else \
		echo "not checked: rustfmt and clippy are not installed (rustup component add rustfmt clippy)"; \
	fi

.PHONY: release
release:
	@$(PYTHON) scripts/release.py '$(VERSION)'

wasm:
	scripts/build-wasm

lock:
	PYTHON='$(PYTHON)' scripts/lock

audit:
	@PYTHON='$(PYTHON)' $(PYTHON) scripts/audit.py

dist:
	@PYTHON='$(PYTHON)' scripts/need-tools
	@tools=$$(PYTHON='$(PYTHON)' scripts/locked-tools dist) && $$tools/python scripts/dist.py

licences:
	$(PYTHON) scripts/bundled.py

long: $(INSTALLED)
	@scripts/need-mariadb
	@scripts/need-servers
	$(BIN)/python -m tests.hostile 10000 200
	$(PIP_LOCKED) locks/fuzz.txt
	$(BIN)/python -m tests.fuzz $(FUZZ_S)
	REDOLAB_HOSTILE_ROUNDS=5000 $(BIN)/pytest -q tests/engine/postgres/test_hostile_server.py
	REDOLAB_HOSTILE_ROUNDS=2000 $(BIN)/pytest -q tests/engine/mariadb/test_hostile_server.py
	REDOLAB_LINKS=20 REDOLAB_FORECASTS=200 $(BIN)/pytest -q tests/report/test_explorer.py tests/report/test_same_bits.py
	REDOLAB_EVERY_RUN=1 $(BIN)/pytest -q tests/report/test_widths.py
	REDOLAB_EVERY_VERSION=1 $(BIN)/pytest -q tests/engine/postgres tests/engine/test_conformance.py \
		tests/engine/test_consistent_read.py tests/usage/test_refusals.py
	REDOLAB_KILLS=20 REDOLAB_INTERLEAVINGS=50 $(BIN)/pytest -q tests/kill tests/engine/mariadb/test_engine.py
	$(BIN)/python -m tests.breaker
	$(BIN)/python -m tests.matrix
	@$(MAKE) --no-print-directory dist
	$(BIN)/python -m tests.clean_machine

# Made anew with every change of the lock: what is no longer locked is gone.
$(PACKAGES): locks/dev.txt
	@PYTHON='$(PYTHON)' scripts/need-tools
	@echo "Downloading Redolab's packages into $(VENV), a minute or so."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP_LOCKED) $<
	@touch $@

$(INSTALLED): $(PACKAGES) pyproject.toml $(RUST)
	@PYTHON='$(PYTHON)' scripts/need-tools
	@echo "Installing Redolab into $(VENV): its Rust is built, 1 to 2 minutes the first time."
	@# The locked maturin builds it, found by the path.
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@found=$$($(BIN)/python -m pip check) || { echo "$$found"; \
		echo "locks/dev.txt is not what pyproject.toml asks for. Write it anew: make lock"; exit 1; }
	@# Where PYTHONDONTWRITEBYTECODE is set nothing else would compile these, and every start pays.
	@$(BIN)/python -m compileall -q python/redolab
	@touch $@
	@echo "Installed."

clean:
	rm -rf $(VENV) target dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	rm -f python/redolab/_core*.so
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +
