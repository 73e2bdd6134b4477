# Four Ways. Each command sets up what it needs first.
#
#   make lessons                   run every lesson, build the book, print what happened
#   make test                      run the quick tests
#   make test-all                  run the long tests, too: installations, whole builds, the book in a
#                                  browser, every lesson and architecture
#   make gpu                       test what needs a GPU, every lesson included
#   make lessons PYTHON=python3    use an interpreter that has the packages; install nothing
#                                  (wheels it lacks: WHEELHOUSE=folder, made by `fourways wheelhouse folder`)
.SECONDARY:
.PHONY: help setup lessons test test-all gpu smoke record readme wasm book release lint lock clean
help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

CPP := $(shell find cpp -type f)

# A company's proxy has a certificate that the system knows: uv, and the pip of some Pythons, ask it only when told to.
export UV_SYSTEM_CERTS ?= 1
BUNDLES := $(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt)
export PIP_CERT ?= $(firstword $(SSL_CERT_FILE) $(BUNDLES))

# A mirror that only one of the two installers is told of serves both.
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
else ifdef UV_DEFAULT_INDEX
export PIP_INDEX_URL := $(UV_DEFAULT_INDEX)
endif

ifneq ($(shell test -w "$$HOME" && echo yes),yes)
$(info no home folder that can be written: caches go to build/home)
export HOME := $(CURDIR)/build/home
endif

ifdef PYTHON
PY := $(or $(abspath $(shell command -v $(PYTHON))),$(error there is no interpreter $(PYTHON)))
TAG := $(shell $(PY) -c 'import sys; print(sys.implementation.cache_tag)')
READY := build/release/.ready-$(TAG)
ifdef WHEELHOUSE
SITE := build/site/.from-$(subst /,-,$(abspath $(WHEELHOUSE)))
endif
export PATH := $(dir $(PY)):$(CURDIR)/build/site/bin:$(PATH)
export PYTHONPATH := $(CURDIR)/scripts:$(CURDIR)/build/release:$(CURDIR)/build/site:$(PYTHONPATH)
else
PY := .venv/bin/python
# uv would install into an environment of somebody else's that is active, a Conda environment too.
export VIRTUAL_ENV := $(CURDIR)/.venv
# A new module asks for a new editable install, which knows each by its name.
TESTED := .venv/.tests
READY := .venv/.ready-$(shell find scripts -name '*.py' | LC_ALL=C sort | cksum | cut -d' ' -f1)
endif
FOURWAYS := $(PY) -m fourways

setup: $(READY)

OFFLINE := { echo 'Without a network: see "A GPU machine without network" in book/installation.md' >&2; exit 1; }

.venv/.packages: requirements.lock
	@python3 scripts/check_python.py && python3 scripts/check_system.py
	@echo "The environment, in .venv: half a minute, and the first time the download of half a gigabyte"
	python3 -m venv $(if $(wildcard $@),,--clear) .venv
	@rm -f $@  # an installation that is interrupted begins anew: pip and uv take a package half there for whole
	sed -n '/^uv==/,/# via/p' requirements.lock | .venv/bin/python -m pip install --quiet --disable-pip-version-check \
		--retries 2 --require-hashes -r /dev/stdin || $(OFFLINE)
	.venv/bin/uv pip install --require-hashes -r requirements.lock || $(OFFLINE)
	@touch $@

.venv/.tests: .venv/.packages requirements-test.lock
	.venv/bin/uv pip install --require-hashes --no-deps -r requirements-test.lock || $(OFFLINE)
	@touch $@

.venv/.ready-%: .venv/.packages pyproject.toml requirements-gpu.lock $(CPP)
	@echo "The compiled module: about a minute on two processors"
	.venv/bin/uv pip install --no-deps --no-build-isolation --editable .
	$(FOURWAYS) install-pycuda --if-driver
	@rm -f .venv/.ready-* && touch $@

build/site/.from-%: $(wildcard $(WHEELHOUSE)/*.whl)
	@echo "The wheels, in build/site: about a minute"
	$(PY) -m pip install --quiet --no-index --no-deps --upgrade --target build/site $(WHEELHOUSE)/*.whl
	@touch $@

build/release/.ready-%: $(CPP) $(SITE)
	@echo "The compiled module: about a minute on two processors"
	cmake -S cpp --preset release -DPython_EXECUTABLE=$(PY)
	cmake --build build/release
	@touch $@

lessons: setup
	$(FOURWAYS) run --book

record: setup
	$(FOURWAYS) run --record; status=$$?; \
	$(PY) -m fourways.book.readme && exit $$status

readme: setup
	$(PY) -m fourways.book.readme

# Needs clang and lld; the result is committed.
wasm: setup
	$(PY) -m fourways.book.wasm

book: setup
	$(FOURWAYS) book

VERSION = $(shell $(PY) -c 'import fourways; print(fourways.__version__)')
release: book
	rm -rf build/release-files && mkdir build/release-files
	cd build && $(abspath $(PY)) -m zipfile -c release-files/four-ways-$(VERSION).zip book
	cd build/release-files && sha256sum *.zip > SHA256SUMS

PYTEST := $(PY) -m pytest -n $$(($$(nproc) + 1)) --dist worksteal

test: setup $(TESTED)
	@echo "The quick tests: about four minutes on two processors"
	$(PYTEST) -m "not long and not quiet"

# axe-core, for the tests of the pages' accessibility: a package that holds it, without what it needs to run by itself. Optional.
build/axe:
	-$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --target $@ axe-playwright-python==0.1.8

test-all: test $(if $(PYTHON),,build/axe)
	@echo "The long tests: about twelve minutes on two processors"
	$(PYTEST) -m long

smoke: setup $(TESTED)
	$(PY) -m pytest -n 4 --dist worksteal tests/gpu/test_smoke.py

gpu: setup $(TESTED)
	$(PY) -m pytest -m quiet tests/gpu
	$(PY) -m pytest -n 4 --dist loadgroup -m "not quiet" tests/gpu

lint: setup $(TESTED)
	$(PY) -m ruff check && $(PY) -m ruff format --check && $(PY) -m mypy
	$(dir $(PY))lint-imports --no-cache --no-logo

# Three files: for all; what else a GPU makes use of (of PyCUDA, which is built, what it needs); what else tests use.
# Nothing of the extra `more`. Each file holds the versions that uv prefers for the next.
COMPILE := .venv/bin/uv pip compile pyproject.toml --universal --generate-hashes --python-version 3.11 --no-header
BESIDES = $$(sed -n '/^[a-z]/s/[^a-z0-9.-].*//p' requirements.lock | sed 's/^/--no-emit-package /')
lock: .venv/.packages
	$(COMPILE) --extra advanced --extra book --output-file requirements.lock
	cat requirements.lock >> requirements-gpu.lock
	$(COMPILE) $(BESIDES) --extra profile --extra pycuda --no-emit-package pycuda --output-file requirements-gpu.lock
	cat requirements.lock requirements-gpu.lock >> requirements-test.lock
	$(COMPILE) $(BESIDES) --extra profile --extra test --extra pycuda --no-emit-package pycuda \
		--output-file requirements-test.lock

clean:
	rm -rf build .venv
