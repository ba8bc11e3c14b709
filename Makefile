# Everything is set up by the targets themselves: only Python 3.11+, make and the package registry
# are needed. The environment is .venv; uv is installed inside it.

PYTHON ?= python3
BIN := .venv/bin
UV := $(BIN)/uv
RUN := $(BIN)/python -m
# Our own modules, which the installation of the packages leaves out.
COMPILE = $(RUN) compileall -q admir memory prompts server tools

.DEFAULT_GOAL := help
.PHONY: help demo test test-extras test-whisperx check bench bench-gpu clean

help: ## Show what there is to make
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/'

demo: .venv/ready ## Build the memory of the bundled ad and answer questions about it
	@echo "==> Asking about the bundled ad (memory, frames and traces go to demo-memories/)"
	@$(BIN)/admir demo --memories demo-memories

test: .venv/ready-dev ## Run the tests
	@echo "==> Running the tests"
	@$(RUN) pytest -n 2 --dist loadfile

test-extras: .venv-extras/ready ## Run the tests of embedding and of recognised speech (about 6 GB)
	@echo "==> Running the tests that need the extras embed and speech"
	@.venv-extras/bin/python -m pytest -n 2 --dist loadfile -m extra

test-whisperx: .venv-whisperx/ready ## Run the tests of whisperX (about 8 GB)
	@echo "==> Running the tests that need the extra whisperx"
	@.venv-whisperx/bin/python -m pytest -n 2 --dist loadfile -m extra

check: .venv/ready-dev ## Format, lint, types, floors and tests
	@echo "==> Format and lint"
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@echo "==> Types"
	@$(BIN)/mypy
	@echo "==> Floors"
	@$(BIN)/lint-imports
	@$(MAKE) --no-print-directory test

bench: .venv/ready-dev ## Run the benchmarks (VIDEO=FILE, MEDIA and ADS=folders of ads, DATA=E-VAds, SERVER=model server; each optional)
	@rm -rf bench-memories
	@echo "==> Speed and memory of a build (VIDEO)"
	@$(BIN)/python benchmarks/build.py $(or $(VIDEO),admir/demo/ad.mp4)
	@$(if $(SERVER),echo "==> Calls, tokens and time of the backend of models (SERVER)")
	@$(if $(SERVER),$(BIN)/python benchmarks/model_cost.py --server $(SERVER) --video $(or $(VIDEO),admir/demo/ad.mp4) --repeat 10)
	@echo "==> Whether models see what the video shows (the bundled ad, and MEDIA)"
	@$(BIN)/python benchmarks/true_frames.py
	@$(if $(MEDIA),$(BIN)/python benchmarks/true_frames.py --media $(MEDIA))
	@echo "==> On-screen text (the bundled ad, and MEDIA)"
	@$(BIN)/python benchmarks/screen_text.py $(if $(MEDIA),--media $(MEDIA)) --memories bench-memories
	@echo "==> Answers (the bundled ad, and MEDIA)"
	@$(BIN)/python benchmarks/answers.py $(if $(MEDIA),--media $(MEDIA))
	@$(BIN)/python benchmarks/answers.py --truth benchmarks/truth/second $(if $(MEDIA),--media $(MEDIA))
	@echo "==> Whether wrong drafts are accepted, or right ones refused (the bundled ad, and ADS)"
	@$(BIN)/python benchmarks/verification.py $(if $(ADS),--data $(ADS))
	@echo "==> Shot boundaries (drawn, and MEDIA)"
	@$(BIN)/python benchmarks/shots.py --videos $(or $(VIDEOS),40)
	@$(if $(MEDIA),$(BIN)/python benchmarks/shots.py --media $(MEDIA))
	@echo "==> Scores and reports of many judged items"
	@$(BIN)/python benchmarks/evaluation.py
	@$(if $(DATA),echo "==> Search and story (DATA)")
	@$(if $(DATA),$(BIN)/python benchmarks/retrieval.py $(DATA))
	@$(if $(DATA),$(BIN)/python benchmarks/story.py $(DATA))
bench-gpu: .venv-extras/ready ## Run the benchmarks of encoding, search and speech on a CUDA GPU, or small on a CPU (DATA=E-VAds)
	@.venv-extras/bin/python benchmarks/gpu_encode.py $(if $(DATA),--data $(DATA))
	@.venv-extras/bin/python benchmarks/gpu_faiss.py --count $(or $(COUNT),100000)
	@.venv-extras/bin/python benchmarks/gpu_speech.py --minutes $(or $(MINUTES),2)

clean: ## Remove the environment and what the targets made
	rm -rf .venv .venv-extras .venv-whisperx demo-memories bench-memories build *.egg-info .mypy_cache .ruff_cache .pytest_cache

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	  f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}; set PYTHON=...")'
	@echo "==> Making the environment in .venv, with uv inside it"
	@$(PYTHON) -m venv .venv
	@$(RUN) pip install --quiet --disable-pip-version-check uv

# Compiled bytecode makes every command start about a second sooner.
.venv/ready: $(UV) pyproject.toml uv.lock
	@echo "==> Installing the packages of uv.lock (about 750 MB)"
	@VIRTUAL_ENV=.venv $(UV) sync --active --quiet --inexact --frozen --no-dev --extra cpu --compile-bytecode
	@$(COMPILE)
	@touch $@

.venv/ready-dev: $(UV) pyproject.toml uv.lock
	@echo "==> Installing the packages of uv.lock and the tools for development"
	@VIRTUAL_ENV=.venv $(UV) sync --active --quiet --inexact --frozen --extra cpu --compile-bytecode
	@$(COMPILE)
	@touch $@ .venv/ready

# The extras that bring torch have environments of their own; whisperX, which pins its torch, another.
.venv-extras/ready: $(UV) pyproject.toml uv.lock
	@echo "==> Installing the extras embed and speech in .venv-extras"
	@$(UV) venv --quiet --allow-existing --python $(BIN)/python .venv-extras
	@VIRTUAL_ENV=.venv-extras $(UV) sync --active --quiet --inexact --frozen --extra cpu \
	  --extra embed --extra speech --group models
	@touch $@

.venv-whisperx/ready: $(UV) pyproject.toml uv.lock
	@echo "==> Installing the extra whisperx in .venv-whisperx"
	@$(UV) venv --quiet --allow-existing --python $(BIN)/python .venv-whisperx
	@VIRTUAL_ENV=.venv-whisperx $(UV) sync --active --quiet --inexact --frozen --extra cpu \
	  --extra whisperx
	@touch $@
