# make help lists what there is.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DOCS_INSTALLED := $(VENV)/.docs-installed
# For two processors: a quarter of the time, tests wait for windows, timers and other programs.
WORKERS ?= 3
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e
PYTEST := OPENBLAS_NUM_THREADS=1 env -u QT_QPA_PLATFORM $(BIN)/python -m pytest
VIRTUAL_DISPLAY := xvfb-run -a -s '-screen 0 1600x1000x24'
KERNELS ?= Haswell SkylakeX Prescott
INPUTS ?= 10000
SAMPLE ?= sample:balloon/circle

# Nothing is compiled when it is installed. Where that is not kept when it is imported, every process that a test
# starts compiles NumPy, SciPy and this project anew, which takes longer than most tests.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test test-all test-slow test-kernels fuzz fuzz-gaps soak storms check lint format docs wheel wheel-check bundle clean
.DEFAULT_GOAL := help

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /:/' | awk -F: '{printf "make %-12s %s\n", $$1, $$2}'

run: $(INSTALLED)  ## Open the application on a bundled sequence and solve it
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ]; then \
	    .ci/system-packages --optional; \
	    exec $(BIN)/nrsfm-gui "$(SAMPLE)" --preset recommended --run; \
	else \
	    .ci/system-packages && mkdir -p out || exit 1; \
	    echo "There is no display here (DISPLAY and WAYLAND_DISPLAY are empty):"; \
	    echo "the same window is drawn on a virtual one, to out/window.png, and its result to out/reconstruction.npz."; \
	    $(VIRTUAL_DISPLAY) $(BIN)/nrsfm-gui "$(SAMPLE)" --preset recommended --run --screenshot out/window.png \
	        --export out/reconstruction.npz --exit; \
	fi

test: $(INSTALLED)  ## Run all tests but the slow ones, each process on a virtual display of its own
	@.ci/system-packages
	$(PYTEST) -n $(WORKERS) --dist loadfile -m "not slow" $(TESTS)

test-all: $(INSTALLED)  ## Run the slow tests, too: experiments from end to end, long random input
	@.ci/system-packages
	$(PYTEST) -n $(WORKERS) --dist loadfile -m "not kernels" $(TESTS)

test-slow: $(INSTALLED)  ## Run the slow tests of TESTS alone
	@.ci/system-packages
	$(PYTEST) -n $(WORKERS) --dist loadfile -m "slow and not kernels" $(TESTS)

test-kernels: $(INSTALLED)  ## Run all tests under the linear algebra of other processors, one after the other
	@.ci/system-packages
	@for kernel in $(KERNELS); do \
	    if [ "$$kernel" = SkylakeX ] && ! grep -qw avx512f /proc/cpuinfo; then \
	        echo "$$kernel needs AVX-512, which this processor does not have: left out"; continue; \
	    fi; \
	    echo "OPENBLAS_CORETYPE=$$kernel"; \
	    OPENBLAS_CORETYPE=$$kernel $(PYTEST) -n $(WORKERS) --dist loadfile $(TESTS) || exit 1; \
	done

fuzz: $(INSTALLED)  ## Damage files of every kind, INPUTS of them, and read them; what ends in no sentence is in out/fuzz
	@.ci/system-packages
	OPENBLAS_NUM_THREADS=1 env -u QT_QPA_PLATFORM $(BIN)/python tests/fuzz/fuzz.py --inputs $(INPUTS)

fuzz-gaps: $(INSTALLED)  ## Reconstruct random sequences with gaps by all presets; what ends in no sentence is printed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/fuzz/gaps.py

soak: $(INSTALLED)  ## Send random input to the window, ten times for a minute, then watch its memory for an hour
	@.ci/system-packages
	for seed in 1 2 3 4 5 6 7 8 9 10; do \
	    $(PYTEST) tests/gui/window/test_monkey.py --soak-seconds 60 --soak-seed $$seed \
	        --log-cli-level WARNING --log-file out/monkey_$$seed.log --log-file-level INFO || exit 1; \
	done
	OPENBLAS_NUM_THREADS=1 $(VIRTUAL_DISPLAY) env -u QT_QPA_PLATFORM $(BIN)/python \
	    tests/benchmarks/playback.py --minutes 30 --runs 200

storms: $(INSTALLED)  ## Kill and stop what writes, fill its disk; print a table of what is lost or half-written
	@.ci/system-packages --optional
	OPENBLAS_NUM_THREADS=1 nice $(BIN)/python tests/storms/storms.py

# Each of the three leaves a processor idle: mypy and Sphinx run on one, an installation waits for its packages.
check: $(DOCS_INSTALLED)  ## Check style and types, build the site, and install the wheel, side by side
	@.ci/system-packages
	$(MAKE) --no-print-directory --jobs 3 --output-sync=target lint docs wheel-check

lint: $(INSTALLED)  ## Check style, types, who imports whom, and the measures of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tests/architecture/house.py

format: $(INSTALLED)  ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(DOCS_INSTALLED)  ## Build the site into out/docs: reference, examples, metrics, benchmarks; any warning is an error
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -d build/docs docs out/docs
	@echo "the site: out/docs/index.html"

wheel: $(INSTALLED)  ## Build the wheel into dist/
	rm -rf dist
	$(BIN)/python -m build --wheel

wheel-check: wheel  ## Install the wheel into an empty environment and use the bundled samples from there
	.ci/wheel-check dist/*.whl

bundle: $(INSTALLED)  ## Build a folder into dist/ that starts without Python, and try it
	@.ci/system-packages
	$(INSTALL) '.[bundle]'
	$(BIN)/pyinstaller --noconfirm --log-level WARN --distpath dist --workpath build .ci/bundle.spec
	.ci/bundle-check dist/nrsfm-gui out/bundle.png

clean:  ## Remove the environment and everything that was made
	rm -rf $(VENV) dist build out docs/generated .pytest_cache .mypy_cache .ruff_cache .benchmarks *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is newer than what it was made from, so that nothing is installed twice.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "$(PYTHON) is older than 3.11; name another one: make PYTHON=python3.11" >&2; exit 1; }
	@if [ ! -x $(BIN)/python ] && ! $(PYTHON) -c 'import ensurepip' 2>/dev/null; then \
	    if [ "$$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then \
	        apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv >/dev/null; \
	    else \
	        echo "Python's venv module is missing; install it with: sudo apt-get install python3-venv" >&2; exit 1; \
	    fi; \
	fi
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	$(INSTALL) '.[test]'
	@touch $@

$(DOCS_INSTALLED): $(INSTALLED)
	$(INSTALL) '.[docs]'
	@touch $@
