# `make demo` and `make test` need only Python 3.11+ and make; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

.PHONY: demo check test lint library unit bench docs site example clean

demo: $(VENV)/.installed
	@$(BIN)/pyramidion demo

check: $(VENV)/.test-installed   # what to run while working: all but servers, browsers and what takes long
	@$(MAKE) --no-print-directory --jobs 2 lint library

test: lint unit   # everything

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

library: $(VENV)/.test-installed
	$(PYTEST) --hypothesis-profile quick -m 'not browser and not server and not load and not slow'

unit: $(VENV)/.test-installed
	$(PYTEST)

bench: $(VENV)/.test-installed
	$(BIN)/python benchmarks/scoring.py
	$(BIN)/python benchmarks/analysis.py
	$(BIN)/python benchmarks/partition.py
	$(BIN)/python benchmarks/automatic.py
	$(BIN)/python benchmarks/grid.py
	$(BIN)/python benchmarks/judge.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/annotate.py --quick
	$(BIN)/python benchmarks/server.py --quick

docs: $(VENV)/.test-installed   # rewrite the generated pages of docs/reference and the pictures
	$(BIN)/python scripts/reference.py
	$(BIN)/python scripts/picture.py
	$(BIN)/python scripts/screenshots.py

site: $(VENV)/.test-installed   # build the documentation as a searchable site in build/site
	@$(BIN)/python scripts/site.py

example: $(VENV)/.installed   # rebuild the bundled example from its sources
	$(BIN)/python example/build.py

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(0 if sys.version_info >= (3, 11) else f"pyramidion needs Python 3.11 or newer; $(PYTHON) is {v}. Try: make PYTHON=python3.12 demo")'
	@echo "Creating $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "Installing pyramidion into $(VENV) (once, about a minute) ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/.test-installed: pyproject.toml | $(BIN)/python
	@echo "Installing what the tests need into $(VENV) (once, a few minutes) ..."
	@$(PIP) --editable '.[test]'
	@sh scripts/browser.sh
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist pyramidion-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
