# `make help` lists the targets. Each installs what it needs into .venv first.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
EVERYTHING := $(VENV)/.installed-everything
DOCS := $(VENV)/.installed-docs
SERVICE := $(VENV)/.installed-service
PIP_INSTALL := $(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e
SWEEP ?= adult
# Every script of reproduce/ that has a FIGURE.
FIGURES := $(shell $(firstword $(wildcard $(RUN)) $(PYTHON)) reproduce/harness/figure_names.py)
# In two goes: TensorFlow keeps every program that it compiled, and a process that ran all tests would hold 14 GB. Each
# of two workers holds up to 4.5 GB in the last one.
TESTS := 'tests/reproduce tests/model tests/tabular' 'tests/streams tests/evaluation tests/control tests/exports \
  tests/datasets tests/embeddings tests/baselines tests/forest tests/theory tests/fairness tests/adapters tests/river \
  tests/scikit tests/command tests/service tests/learning tests/engine tests/test_*.py aranyani_tf README.md \
  docs/live.md'
export TF_CPP_MIN_LOG_LEVEL ?= 3

.DEFAULT_GOAL := help
.PHONY: help setup everything figures $(FIGURES) matched claims field report memory table2 theory sweep data table1 \
  embeddings wiki_toxicity own_tables test lint benchmark service_load docs architecture numbers clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z0-9_]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@printf '\nOne figure each -> results/<name>.csv, .png, .pdf (QUICK=1: fewer seeds, settings and rows; ARGS=--help):\n'
	@for name in $(FIGURES); do printf '  make %-14s %s\n' $$name "$$(head -n 1 reproduce/$$name.py | tr -d '"')"; done

setup: $(INSTALLED)  ## make .venv and install the project with the tested versions

$(INSTALLED): setup.py pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; try: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) '.[baselines,reproduce]'
	@touch $@

everything: $(EVERYTHING)  ## setup, and what tests and embeddings need besides (torch, transformers, …)

$(EVERYTHING): $(INSTALLED)
	$(PIP_INSTALL) '.[baselines,embeddings,export,reproduce,service,test]'
	@touch $@

figures: setup  ## all that do not say in_all=False, some forty minutes (QUICK=1: a few); goes on where it was stopped
	$(RUN) reproduce/figures.py $(if $(QUICK),--quick) $(ARGS)

$(FIGURES): setup
	$(RUN) reproduce/$@.py $(if $(QUICK),--quick) $(ARGS)

matched: figure2 figure2_beyond figure3  ## accuracy of all methods at the same fairness -> results/matched.csv
	$(RUN) reproduce/matched.py

field: setup  ## every method on every stream at the same gaps, an hour (QUICK=1; METHOD=name) -> results/field.csv, .md
	$(RUN) reproduce/field.py $(if $(QUICK),--quick) $(addprefix --method ,$(METHOD)) $(ARGS)

report: setup  ## all results on one page, to be read without a network -> results/index.html
	$(RUN) reproduce/report.py $(ARGS)

table2: setup  ## the paper's runtime table -> results/table2.csv
	$(RUN) reproduce/table2.py $(ARGS)

claims: setup  ## every claim of the paper judged by the committed CSVs -> results/claims.csv, claims.md
	$(RUN) reproduce/claims.py $(ARGS)

memory: setup  ## peak memory of processes with running means and with stored samples -> results/memory.csv
	$(RUN) reproduce/memory.py $(ARGS)

theory: setup  ## the paper's bounds beside what is measured, under a minute -> results/theory.csv, .png, .pdf
	$(RUN) reproduce/theory.py $(ARGS)

sweep: setup  ## a W&B sweep here, without an account: make sweep SWEEP=adult -> results/sweep_adult.csv
	$(RUN) reproduce/sweep.py --local reproduce/sweep_configs/$(SWEEP).yaml $(ARGS)

data: setup  ## rebuild the shipped tables from their sources, and check them
	PYTHONPATH=reproduce $(RUN) -m prepare.shipped_tables

table1: setup  ## the paper's Table 1 -> results/table1.csv
	$(RUN) reproduce/table1.py $(ARGS)

embeddings: everything  ## CelebA by CLIP and CivilComments by Instructor (a network, some hours); ARGS=--help
	$(RUN) reproduce/quiet.py aranyani_tf.embeddings $(ARGS)

wiki_toxicity: everything  ## make the shipped Wikipedia comments again, and compare (about an hour)
	PYTHONPATH=reproduce $(RUN) -m prepare.wiki_toxicity $(ARGS)

own_tables: setup  ## run the code of docs/bank_and_acs.md again, and put its output there
	PYTHONPATH=reproduce $(RUN) -m prepare.own_tables $(ARGS)

test: lint  ## lint, then all tests, docstring and README examples
	@failed=0; for part in $(TESTS); do echo "pytest $$part"; $(RUN) -m pytest --durations=10 $$part || failed=1; done; exit $$failed

lint: everything  ## ruff, and mypy on the package
	$(RUN) -m ruff check .
	$(RUN) -m mypy

benchmark: setup  ## speed against River, scikit-learn and plain Keras -> results/benchmark.csv
	$(RUN) benchmarks/speed.py $(ARGS)

service_load: $(SERVICE)  ## the service of examples/service for two minutes, and ten kills -> results/service.csv
	$(RUN) benchmarks/service_load.py $(ARGS)

$(SERVICE): $(INSTALLED)
	$(PIP_INSTALL) '.[reproduce,service]'
	@touch $@

docs: $(DOCS)  ## the API page, from the docstrings -> docs/api/index.html
	PYTHONPATH=reproduce $(RUN) -m prepare.api_page

$(DOCS): $(INSTALLED)
	$(PIP_INSTALL) '.[docs]'
	@touch $@

architecture: setup  ## the picture of the folders and their imports -> docs/architecture.svg, and its tables
	PYTHONPATH=reproduce $(RUN) -m prepare.architecture

numbers: setup  ## write the speeds in README.md and docs/deviations.md, and the tables of docs/theory.md, anew
	PYTHONPATH=reproduce $(RUN) -m prepare.numbers

clean:  ## remove .venv and caches
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis build dist *.egg-info
