# `make demo` and `make test` need only Python 3.11+ and make; everything else goes into .venv. With Node.js 20+,
# `make test` checks the JavaScript too.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal
# Where it is set, every process of the tests would compile every module anew: a third of their time.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# The distribution was called pyramidion once. Left beside the new one, it would register every part a second time.
FORGET := $(BIN)/python -m pip uninstall --quiet --disable-pip-version-check --yes pyramidion 2>/dev/null
JS := tests/js
JS_TOOLS := $(JS)/node_modules/.installed
JS_FILES := src/pyramidion/server/static src/pyramidion/report/static $(JS)
NODE := $(shell node -e 'process.exit(+(parseInt(process.versions.node) < 20))' 2>/dev/null && command -v npm)

.PHONY: demo check test lint library unit lint-js unit-js no-node bench docs site example release clean

demo: $(VENV)/.installed
	@$(BIN)/pyramidion demo

check: $(VENV)/.test-installed   # what to run while working: all but servers, browsers and what takes long
	@$(MAKE) --no-print-directory --jobs 2 lint library

test: lint unit   # everything

lint: $(VENV)/.test-installed lint-js
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

library: $(VENV)/.test-installed
	$(PYTEST) --hypothesis-profile quick -m 'not browser and not server and not load and not slow'

unit: $(VENV)/.test-installed unit-js
	$(PYTEST)

ifneq ($(NODE),)
lint-js: $(JS_TOOLS)   # the pages' JavaScript: style, common mistakes, types
	$(JS)/node_modules/.bin/biome check --config-path=$(JS)/lint.json $(JS_FILES)
	$(JS)/node_modules/.bin/tsc --project $(JS)

unit-js:
	node --test --test-reporter=dot $(JS)/*.test.js
else
lint-js unit-js: no-node
no-node:   # only Python is needed to go on; CI must not skip anything
	@echo "NOT RUN: linter, types and unit tests of the pages' JavaScript, and whether the editor's page and the server agree."
	@echo "They need Node.js 20 or newer with npm (https://nodejs.org, or your package manager). Install it and run make again."
	@test -z "$$CI"
endif

$(JS_TOOLS): $(JS)/package.json $(JS)/package-lock.json
	@echo "Installing what checks the JavaScript into $(JS)/node_modules (once) ..."
	@cd $(JS) && npm ci --loglevel=error --no-progress
	@touch $@

bench: $(VENV)/.test-installed
	$(BIN)/python benchmarks/scoring.py
	$(BIN)/python benchmarks/compat.py
	$(BIN)/python benchmarks/readers.py
	$(BIN)/python benchmarks/analysis.py
	$(BIN)/python benchmarks/partition.py
	$(BIN)/python benchmarks/automatic.py
	$(BIN)/python benchmarks/labels.py
	$(BIN)/python benchmarks/grid.py
	$(BIN)/python benchmarks/judge.py
	$(BIN)/python benchmarks/meaning.py
	$(BIN)/python benchmarks/encodings.py --quick
	$(BIN)/python benchmarks/pairs.py
	$(BIN)/python benchmarks/combine.py --quick
	$(BIN)/python benchmarks/stopping.py --quick
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/big_study.py --judgments 200000
	$(BIN)/python benchmarks/engines.py
	$(BIN)/python benchmarks/annotate.py --quick
	$(BIN)/python benchmarks/server.py --quick
	$(BIN)/python benchmarks/adversary.py --quick

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
	@$(FORGET)
	@$(PIP) --editable .
	@touch $@

$(VENV)/.test-installed: pyproject.toml | $(BIN)/python
	@echo "Installing what the tests need into $(VENV) (once, a few minutes) ..."
	@$(FORGET)
	@$(PIP) --editable '.[test]'
	@sh scripts/browser.sh
	@touch $@ $(VENV)/.installed

release: $(VENV)/.test-installed   # build, check and try a release; stops before the upload
	@$(BIN)/python scripts/release.py $(RELEASE)

clean:
	rm -rf $(VENV) $(JS)/node_modules build dist pyramidion-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
