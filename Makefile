# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INPUTS := pyproject.toml constraints.txt
# Two workers with one thread each; the models of the tests are too small for more.
PYTEST := OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1} $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
NUMERIC := tests/_torch tests/games tests/indices tests/motifs tests/explainers tests/metrics tests/experiments

.PHONY: demo test test-long test-portable test-variants test-ray lint docs gallery screenshots pages benchmark clean

demo: $(VENV)/.demo
	$(BIN)/mage demo --output demo-output

test: $(VENV)/.dev
	$(PYTEST)

# What takes several seconds a test, and more examples of each property.
test-long: $(VENV)/.dev
	HYPOTHESIS_PROFILE=long $(PYTEST) -m '(long or hypothesis) and not ray'

# The rooms that compute, with kernels that round in another order, as on another processor.
test-portable: $(VENV)/.dev
	ATEN_CPU_CAPABILITY=default $(PYTEST) $(NUMERIC)

# The whole suite as on other machines: other kernels, sums in another order, more threads, four busy processes beside it.
test-variants: $(VENV)/.dev
	ATEN_CPU_CAPABILITY=default $(PYTEST)
	ATEN_CPU_CAPABILITY=avx2 $(PYTEST)
	MKL_CBWR=COMPATIBLE $(PYTEST)
	export OMP_NUM_THREADS=4; $(PYTEST)
	@for _ in 1 2 3 4; do $(BIN)/python -c 'while True: pass' & busy="$$busy $$!"; done; trap "kill $$busy" EXIT; $(PYTEST)

test-ray: $(VENV)/.dev
	$(BIN)/python -m pytest -m ray

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/check_rooms.py

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

gallery: $(VENV)/.dev
	$(BIN)/python examples/gallery/make.py --output gallery-output

screenshots: $(VENV)/.dev
	$(BIN)/python docs/make_screenshots.py

# Only needed after a change in frontend/; what it builds is committed.
pages:
	cd frontend && npm ci && npm run check && npm run build

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
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[plot,pyg,surrogate]'
	@touch $@

$(VENV)/.dev: $(BIN)/python $(INPUTS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all]' --group dev
	@touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) demo-output gallery-output screenshots-output docs/_build
