# Each target does its own set-up. `make demo` and `make test` are all a newcomer needs.
SHELL := bash
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
export DAGSTER_HOME ?= $(CURDIR)/dagster_home
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: setup system demo test ui lint bench lock clean

setup: system $(BIN)/.installed

# Debian packages, through apt when root; otherwise a list of what is missing.
system:
	@bash scripts/system.sh

$(BIN)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: setup
	$(BIN)/gymline demo

test: setup
	@$(BIN)/gymline doctor --make-rootfs
	$(BIN)/pytest $(ARGS)

# The daemon launches queued runs, backfills, schedules and sensors: without it nothing queued ever starts.
ui: setup
	$(BIN)/dagster dev -m definitions --host 127.0.0.1 --port $${PORT:-3000}

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python bench/lineage.py

# Needs uv; hashes, no index URLs.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-emit-index-url --no-header \
	  --extra platform --extra postgres --extra dev pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) dagster_home/storage dagster_home/store dagster_home/scratch dagster_home/catalog.db*
