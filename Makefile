# `make help` lists the targets. Each installs what it needs into .venv first.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
export TF_CPP_MIN_LOG_LEVEL ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup test lint benchmark clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z0-9_-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(INSTALLED)  ## make .venv and install the project with the tested versions

$(INSTALLED): setup.py pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; try: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[baselines,test]'
	@touch $@

test: setup lint  ## lint, then all tests, docstring and README examples
	$(RUN) -m pytest

lint: setup  ## ruff
	$(RUN) -m ruff check .

benchmark: setup  ## speed against River and plain Keras -> results/benchmark.csv
	$(RUN) benchmarks/speed.py

clean:  ## remove .venv and caches
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist *.egg-info
