# `make help` lists the targets. Each installs what it needs into .venv first.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
EVERYTHING := $(VENV)/.installed-everything
DOCS := $(VENV)/.installed-docs
SERVICE := $(VENV)/.installed-service
PIP_INSTALL := $(RUN) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation
LOCKED := $(PIP_INSTALL) --require-hashes -r
SWEEP ?= adult
# Every script of reproduce/ that has a FIGURE.
FIGURES := $(shell $(firstword $(wildcard $(RUN)) $(PYTHON)) reproduce/harness/figure_names.py)
# In two goes: TensorFlow keeps every program that it compiled, and a process that ran all tests would hold 14 GB. One
# worker more than there are cores, since many a test waits for processes of its own; each holds up to 4 GB, so that
# `make test WORKERS=1` is for small machines.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(os.cpu_count() + 1)')
TESTS := 'tests/reproduce tests/model tests/tabular' 'tests/streams tests/evaluation tests/control tests/exports \
  tests/datasets tests/embeddings tests/baselines tests/forest tests/theory tests/fairness tests/adapters tests/river \
  tests/scikit tests/command tests/service tests/learning tests/engine tests/scale tests/trials tests/test_*.py \
  aranyani_tf README.md docs/live.md'
export TF_CPP_MIN_LOG_LEVEL ?= 3

.DEFAULT_GOAL := help
.PHONY: help setup everything figures $(FIGURES) matched claims field recipes paired report memory table2 theory sweep data table1 \
  embeddings wiki_toxicity own_tables test lint benchmark cost service_load soak agents faults processors sums fuzz \
  extremes scale docs architecture numbers lock licences clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z0-9_]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@printf '\nOne figure each -> results/<name>.csv, .png, .pdf (QUICK=1: fewer seeds, settings and rows; ARGS=--help):\n'
	@for name in $(FIGURES); do printf '  make %-14s %s\n' $$name "$$(head -n 1 reproduce/$$name.py | tr -d '"')"; done

setup: $(INSTALLED)  ## make .venv and install the project with the tested versions

$(INSTALLED): setup.py pyproject.toml locks/setup.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; try: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(LOCKED) locks/setup.txt
	$(PIP_INSTALL) -e .
	@touch $@

everything: $(EVERYTHING)  ## setup, and what tests and embeddings need besides (torch, transformers, …)

# torch: its CPU build where pip knows a folder that has it, the public one with NVIDIA's packages else (prepare/lock.py).
$(EVERYTHING): $(INSTALLED) locks/everything.txt
	$(LOCKED) locks/everything.txt
	$(LOCKED) locks/torch_cpu.txt --no-index 2> /dev/null || $(LOCKED) locks/cuda.txt
	@touch $@

figures: setup  ## all that do not say in_all=False, some forty minutes (QUICK=1: a few); goes on where it was stopped
	$(RUN) reproduce/figures.py $(if $(QUICK),--quick) $(ARGS)

$(FIGURES): setup
	$(RUN) reproduce/$@.py $(if $(QUICK),--quick) $(ARGS)

matched: figure2 figure2_beyond figure3  ## accuracy of all methods at the same fairness -> results/matched.csv
	$(RUN) reproduce/matched.py

field: setup  ## every method on every stream at the same gaps, 50 minutes (QUICK=1; METHOD=name) -> results/field.csv, .md
	$(RUN) reproduce/field.py $(if $(QUICK),--quick) $(addprefix --method ,$(METHOD)) $(ARGS)

recipes: setup  ## which recipe ar.recommended should have, each dataset left out in turn -> results/recipes.csv, .md
	$(RUN) reproduce/recipes.py $(if $(QUICK),--quick) $(ARGS)

paired: setup  ## who is better than whom, seed by seed, for every sentence that says so -> results/paired.csv
	$(RUN) reproduce/paired.py $(ARGS)

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
	@failed=0; for part in $(TESTS); do echo "pytest $$part"; $(RUN) -m pytest -n $(WORKERS) --durations=10 $$part || failed=1; done; exit $$failed

lint: everything  ## ruff, and mypy on the package
	$(RUN) -m ruff check .
	$(RUN) -m mypy

benchmark: setup  ## speed against River, scikit-learn and plain Keras -> results/benchmark.csv
	$(RUN) benchmarks/speed.py $(ARGS)

cost: setup  ## what fit costs, measured, and a model that predicts it, some minutes (QUICK=1) -> results/cost.csv
	$(RUN) trials/cost.py $(if $(QUICK),--quick --output results/cost_quick.csv) $(ARGS)

service_load: $(SERVICE)  ## the service of examples/service for two minutes, and ten kills -> results/service.csv
	$(RUN) benchmarks/service_load.py $(ARGS)

soak: $(SERVICE)  ## the service for an hour: drift, bad rows, kills (QUICK=1: five minutes) -> results/soak.csv, .png
	$(RUN) trials/soak.py $(if $(QUICK),--quick) $(ARGS)

agents: $(SERVICE)  ## four W&B agents on one sweep against a server here, two of them killed -> results/agents.csv
	$(RUN) trials/agents.py $(if $(QUICK),--quick) $(ARGS)

faults: $(SERVICE)  ## figure, sweep, `aranyani run` and service killed, damaged, on full disks, a quarter of an hour -> results/faults.csv
	$(RUN) trials/faults.py $(if $(QUICK),--quick) $(ARGS)

processors: setup  ## how far the same stream comes apart on other kinds of processors, some minutes -> results/processors.csv
	$(RUN) trials/processors.py $(if $(QUICK),--quick) $(ARGS)

sums: setup  ## enter every CSV of results/ as it is now into results/sha256sums.txt, after branches were merged
	PYTHONPATH=reproduce:. $(RUN) reproduce/harness/sums.py

fuzz: everything  ## 10,000 cases of bad input, each refused in words or fine (QUICK=1) -> results/fuzz.csv
	$(RUN) trials/fuzz.py $(if $(QUICK),--quick) $(ARGS)

extremes: setup  ## numbers at the edge, by both engines (QUICK=1) -> results/extremes.csv
	$(RUN) trials/extremes.py $(if $(QUICK),--quick) $(ARGS)

$(SERVICE): $(INSTALLED) locks/service.txt
	$(LOCKED) locks/service.txt
	@touch $@

scale: everything  ## grids, many streams and one model from many sites on Ray, with kills -> results/scale.csv (QUICK=1)
	$(RUN) trials/scale.py $(if $(QUICK),--quick) $(ARGS)

docs: $(DOCS)  ## the API page, from the docstrings -> docs/api/index.html
	PYTHONPATH=reproduce $(RUN) -m prepare.api_page

$(DOCS): $(INSTALLED) locks/docs.txt
	$(LOCKED) locks/docs.txt
	@touch $@

architecture: setup  ## the picture of the folders and their imports -> docs/architecture.svg, and its tables
	PYTHONPATH=reproduce $(RUN) -m prepare.architecture

numbers: setup  ## write the speeds in README.md and docs/deviations.md, and the tables of docs/theory.md, anew
	PYTHONPATH=reproduce $(RUN) -m prepare.numbers

lock: setup  ## the lock files anew, after a change of constraints.txt or setup.py (a network) -> locks/*.txt
	PYTHONPATH=reproduce $(RUN) -m prepare.lock

licences: everything $(DOCS)  ## licences of packages and data -> docs/licences.md, and a bill of materials, docs/sbom.json
	PYTHONPATH=reproduce $(RUN) -m prepare.licences

clean:  ## remove .venv and caches
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis build dist *.egg-info
