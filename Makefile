# Every target makes, and afterwards reuses, the virtual environment and the builds it needs.
#
#   .venv/           the tools and dependencies, remade when constraints.txt or pyproject.toml change
#   build/release/   the core as the installed package has it, and core_tests
#   build/sanitize/  the same with the address and undefined-behaviour sanitizers

PYTHON      ?= python3
SAN_CXX     ?= g++
FUZZ_INPUTS ?= 100000
SOAK_PLIES  ?= 1000000
# Tests of a file stay together, files run side by side, one for each core.
SIDE_BY_SIDE ?= -n auto --dist loadfile

BIN    := .venv/bin
PIP    := $(BIN)/python -m pip
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The build tools come from PyPI, not from the system.
export PATH := $(CURDIR)/$(BIN):$(PATH)

VENV     := .venv/.made
PACKAGE  := build/release/.installed
BENCH    := .venv/.bench
SANITIZE := build/sanitize

# What is compiled into or copied with the package. Folders are listed too: their times change
# when a file is added or removed.
BUILT_FROM := $(shell find core games -path core/tests -prune -o -print 2>/dev/null | sed 's/ /\\ /g')
CPP_FILES   = find core -name '*.cpp' -o -name '*.h' -o -name '*.hpp'

.DEFAULT_GOAL := help
.PHONY: help demo test bench lint format sanitize soak fuzz clean core-tests bench-extra

help:  ## show this list
	@grep -E '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/^([a-z-]+):.*## (.*)/make \1\t\2/' | expand -t 16

demo: $(PACKAGE)  ## train Connect Four for two minutes, and play a match
	$(BIN)/omnilude demo
	@echo 'The command is in $(BIN): export PATH="$(CURDIR)/$(BIN):$$PATH"'

test: $(PACKAGE) core-tests  ## the core's tests, then pytest
	$(BIN)/python -m pytest -q $(SIDE_BY_SIDE)

bench: $(PACKAGE) bench-extra  ## playouts a second, beside OpenSpiel's where it can be installed
	$(BIN)/python benchmarks/playouts.py
	$(BIN)/python benchmarks/ludemes.py

lint: $(PACKAGE)  ## ruff, mypy, clang-format: only tells
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict src
	$(CPP_FILES) | xargs -r -d '\n' $(BIN)/clang-format --dry-run -Werror

format: $(PACKAGE)  ## ruff and clang-format: rewrites the files
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(CPP_FILES) | xargs -r -d '\n' $(BIN)/clang-format -i

# Python itself is not built with the sanitizers, so their runtimes are loaded before it; libstdc++
# with them, or the first C++ exception finds no function to intercept. PYTHONMALLOC lets them see
# each of Python's blocks. OMNILUDE_CORE_DIR makes omnilude load its core from that folder.
SAN_LIBRARY = $(shell $(SAN_CXX) -print-file-name=$(1))
SAN_PYTHON  = env \
	LD_PRELOAD="$(call SAN_LIBRARY,libasan.so) $(call SAN_LIBRARY,libubsan.so) $(call SAN_LIBRARY,libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
	OMNILUDE_CORE_DIR="$(CURDIR)/$(SANITIZE)" $(BIN)/python

sanitize: $(PACKAGE)  ## core_tests and the tests marked sanitize, with the sanitizers
	$(BIN)/cmake -S . -B $(SANITIZE) -G Ninja -DCMAKE_CXX_COMPILER=$(SAN_CXX) \
		-DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" -DOMNILUDE_SANITIZE=ON -DOMNILUDE_TESTS=ON
	$(BIN)/cmake --build $(SANITIZE)
	@if [ -d core/tests ]; then set -ex; \
		$(BIN)/cmake --build $(SANITIZE) --target core_tests; \
		UBSAN_OPTIONS=print_stacktrace=1 $(SANITIZE)/core_tests; \
	fi
	@$(SAN_PYTHON) -c 'import os, omnilude._core as core; \
		assert core.__file__.startswith(os.environ["OMNILUDE_CORE_DIR"]), core.__file__'
	$(SAN_PYTHON) -m pytest -q -m sanitize $(SIDE_BY_SIDE) tests

soak: sanitize  ## a million plies of the ludemic games, with the sanitizers
	$(SAN_PYTHON) tests/soak.py --plies $(SOAK_PLIES)

fuzz: $(PACKAGE)  ## FUZZ_INPUTS=100000 malformed and random inputs for the rule readers
	$(BIN)/python tests/fuzz/run.py --inputs $(FUZZ_INPUTS)

clean:  ## remove the virtual environment, the builds and the caches
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# ---- what the targets above stand on -----------------------------------------------------------
$(VENV): constraints.txt pyproject.toml
	$(PYTHON) -m venv --clear .venv
	$(PIP) install -qq -c constraints.txt scikit-build-core nanobind cmake ninja
	@touch $@

# Editable: Python sources are read where they lie; the build folder is kept, so that only what
# changed in core/ is compiled again.
$(PACKAGE): $(VENV) CMakeLists.txt $(BUILT_FROM)
	$(PIP) install -qq --no-build-isolation -c constraints.txt \
		-C build-dir=build/release -C cmake.define.OMNILUDE_TESTS=ON -e '.[test,lint]'
	@touch $@

core-tests: $(PACKAGE)
	@if [ -d core/tests ]; then set -ex; \
		$(BIN)/cmake --build build/release --target core_tests; \
		build/release/core_tests; \
	fi

# OpenSpiel is something to compare with, not something to need.
bench-extra: $(PACKAGE)
	@[ -f $(BENCH) ] || { $(PIP) install -qq --retries 1 --timeout 15 -c constraints.txt \
		'omnilude[bench]' >/dev/null 2>&1 && touch $(BENCH); } \
		|| echo "note: OpenSpiel could not be installed; going on without the comparison"
