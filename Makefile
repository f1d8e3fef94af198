# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INPUTS := pyproject.toml constraints.txt

.PHONY: demo test test-ray lint benchmark clean

demo: $(VENV)/.demo
	$(BIN)/mage demo --output demo-output

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-ray: $(VENV)/.dev
	$(BIN)/python -m pytest -m ray

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

benchmark: $(VENV)/.dev
	$(BIN)/python benchmarks/indices.py
	$(BIN)/python benchmarks/motifs.py
	$(BIN)/python benchmarks/throughput.py

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "mage needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip -c constraints.txt

$(VENV)/.demo: $(BIN)/python $(INPUTS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[plot,pyg]'
	@touch $@

$(VENV)/.dev: $(BIN)/python $(INPUTS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) demo-output
