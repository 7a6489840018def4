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
SYSTEM_TEST := $(SYSTEM) xdotool procps tesseract-ocr-eng at-spi2-core dbus

.PHONY: play test check bench setup system system-test weights clean help

help:
	@echo "make play   play Mines with the embedded model (BOT=..., SEED=..., MODEL=scripted)"
	@echo "make test   checks and tests"
	@echo "make check  ruff, mypy, pyright, import-linter"
	@echo "make bench  benchmarks: the grammar beside its peers; perception and input, and their times; games won"
	@echo "make setup  the virtual environment with everything for development"

play: system $(VENV)/play.ok $(if $(filter embedded,$(MODEL)),weights)
	$(BIN)/onmark run $(BOT) --seed $(SEED) --model $(MODEL)

test: system-test setup weights check
	$(BIN)/pytest -q
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
	$(BIN)/python -m tests.bench.sensors || missed=1; \
	$(BIN)/python -m tests.bench.actuation --check || missed=1; \
	$(BIN)/onmark eval $(BOT) --check || missed=1; \
	exit $$missed

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

system-test:
	@.ci/system-packages $(SYSTEM_TEST)

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
