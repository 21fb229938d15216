# Needs make and Python 3.11 to 3.13, nothing else: each target makes .venv in this folder by itself.
# Another interpreter: make test PYTHON=python3.12

BIN := .venv/bin
WORKERS ?= 3

# Overridden from the command line it reaches .ci/setup, too.
export PYTHON

# Otherwise pyright asks a registry whether there is a newer one.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.PHONY: help run test real check format bench bench-quality bench-memory bench-surfacing clean setup-run setup-test setup-check

help:
	@echo "make run     start the console; without a terminal, the demo"
	@echo "make test    run the tests"
	@echo "make real    run the tests against real servers and hosts (downloads them)"
	@echo "make check   formatting, lint, types, import contracts, tests with coverage"
	@echo "make format  format the code and fix what lint can fix"
	@echo "make bench   measure what a call costs"
	@echo "make bench-quality  measure what survives in shortened answers, beside other products"
	@echo "make bench-memory   measure what the memory finds, loses and costs, beside the original's figures"
	@echo "make bench-surfacing  measure which memories go out with answers, and what that costs"
	@echo "make clean   remove .venv and everything that was made"

run: setup-run
	@if [ -t 0 ] && [ -t 1 ]; then exec $(BIN)/mms; else exec $(BIN)/mms demo; fi

test: setup-test
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup -m "not npm"

# Real servers, the conformance suite and real hosts, from the npm registry and PyPI: some hundred megabytes.
real: setup-test
	$(BIN)/python -m pytest -q -m npm

check: setup-check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m slipcover --source console,proxy,memory,config --skip-covered \
		-m pytest -q -n $(WORKERS) --dist loadgroup -m "not npm"

format: setup-check
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup-test
	$(BIN)/python -m tests.bench

# Fewer questions: make bench-quality QUALITY="--peers --n 60"
QUALITY ?= --peers
bench-quality: setup-test
	$(BIN)/python -m tests.bench.quality $(QUALITY)

# With the sets that docs/memory-quality.md names: make bench-memory MEMORY="--data DIR --corpus DIR"
# Without them, in a minute: make bench-memory MEMORY="--sizes 1000"
MEMORY ?=
bench-memory: setup-test
	$(BIN)/python -m tests.bench.memory $(MEMORY)

# A week alone, in two minutes: make bench-surfacing SURFACING="--only station --only columns --quick"
SURFACING ?=
bench-surfacing: setup-test
	$(BIN)/python -m tests.bench.surfacing $(SURFACING)

setup-run setup-test setup-check:
	@sh .ci/setup $(@:setup-%=%)

clean:
	rm -rf .venv build dist htmlcov .coverage .coverage.* .hypothesis .ruff_cache .import_linter_cache
	rm -rf snapshot_report.html
	find console proxy memory config tests -name __pycache__ -type d -prune -exec rm -rf {} +
