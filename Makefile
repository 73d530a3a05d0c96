# Every target works as the very first command on a fresh machine: it sets up what it needs.
PYTHON ?=
PYTEST_ARGS ?=
WORKERS ?= 4
PAGES ?=
MINUTES ?= 20
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CODE := src tests benchmarks tools
# Tests start hundreds of processes, which would compile everything anew where nobody may keep it.
COMPILED := PYTHONDONTWRITEBYTECODE=

.DEFAULT_GOAL := help
.PHONY: help setup demo console test bench chaos soak check pin

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "Variables: PYTHON (the interpreter to set up with), PYTEST_ARGS (e.g. '-k robots -x'), WORKERS (how many processes test, 4 on two cores as many tests wait; 0: one that stops for --pdb), PAGES (a folder of labelled pages for bench), MINUTES (how long soak lasts)."

setup: $(READY) ## create .venv with everything for development
	@:

$(READY): pyproject.toml constraints.txt tools/setup.sh
	@tools/setup.sh $(VENV) '$(PYTHON)'
	@touch $@

demo: setup ## watch the gates, a killed run and the price monitor at work on a local web site
	@$(BIN)/python -m tests.site.demo
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/python -m tests.site.console_demo; fi

console: setup ## look around in the console, on data like the demo's, until Ctrl-C
	@$(BIN)/python -m tests.site.console_demo

test: check ## check the code, start the real servers, run every test
	@$(COMPILED) $(BIN)/python tools/servers.py run -- \
		$(BIN)/python -m pytest --numprocesses $(WORKERS) $(PYTEST_ARGS)

bench: setup ## measure against peers, side by side
	@$(BIN)/python -m benchmarks
	@$(BIN)/python -m benchmarks.engine
	@$(BIN)/python -m benchmarks.stream
	@$(BIN)/python -m benchmarks.browsers
	@$(BIN)/python -m benchmarks.service
	@$(BIN)/python -m benchmarks.monitor
	@$(BIN)/python -m benchmarks.catalog
	@$(BIN)/python -m benchmarks.console
	@$(BIN)/python -m benchmarks.extraction $(PAGES)

chaos: setup ## break everything under load, at length, and count what it cost
	@$(BIN)/python tools/servers.py run -- $(BIN)/python -m tests.chaos --size long --write
	@$(BIN)/python tools/servers.py run -- $(BIN)/python -m tests.chaos.stream --size long --write
	@$(BIN)/python tools/servers.py run -- $(BIN)/python -m tests.chaos.catalog --size long --write
	@$(BIN)/python tools/servers.py run -- $(BIN)/python -m tests.chaos.live --size long --write
	@$(BIN)/python tools/servers.py run -- $(BIN)/python -m tests.chaos.browsers --write

soak: setup ## watch twenty live pages for MINUTES, and see that nothing grows
	@$(BIN)/python -m benchmarks.live_soak --minutes $(MINUTES) --write

check: setup ## lint, formatting, types and directions of imports, without running tests
	@echo "Checking lint, formatting, types and the directions of imports"
	@$(BIN)/ruff check --quiet $(CODE)
	@$(BIN)/ruff format --check --quiet $(CODE)
	@$(BIN)/mypy --no-error-summary --num-workers 2 || { [ $$? -eq 2 ] && echo "mypy's workers did not come; checking with one process" && $(BIN)/mypy --no-error-summary; }
	@$(BIN)/lint-imports --no-logo > $(VENV)/lint-imports.log || { cat $(VENV)/lint-imports.log; exit 1; }

pin: ## resolve the dependencies anew and write constraints.txt
	@tools/pin.sh
