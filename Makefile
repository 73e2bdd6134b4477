# Four Ways. Each command sets up what it needs first.
#
#   make lessons                   run every lesson, build the book, print what happened
#   make test                      run the quick tests
#   make test-all                  run the long tests, too: installations, whole builds, the book in a
#                                  browser, every lesson and architecture
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
READY := .venv/.ready-$(shell find scripts -name '*.py' | LC_ALL=C sort | cksum | cut -d' ' -f1)
endif
FOURWAYS := $(PY) -m fourways

setup: $(READY)

.venv/.packages: requirements.lock
	@python3 scripts/check_system.py
	@echo "The environment, in .venv: half a minute, and the first time the download of more than half a gigabyte"
	python3 -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check "uv>=0.13"
	.venv/bin/uv pip install --require-hashes -r requirements.lock
	@touch $@

.venv/.ready-%: .venv/.packages pyproject.toml $(CPP)
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
	$(PY) -m fourways.book readme && exit $$status

readme: setup
	$(PY) -m fourways.book readme

# Needs clang and lld; the result is committed.
wasm: setup
	$(PY) -m fourways.book wasm

book: setup
	$(FOURWAYS) book

VERSION = $(shell $(PY) -c 'import fourways; print(fourways.__version__)')
release: book
	rm -rf build/release-files && mkdir build/release-files
	cd build && $(abspath $(PY)) -m zipfile -c release-files/four-ways-$(VERSION).zip book
	cd build/release-files && sha256sum *.zip > SHA256SUMS

PYTEST := $(PY) -m pytest -n $$(($$(nproc) + 1)) --dist worksteal

test: setup
	@echo "The quick tests: about six minutes on two processors"
	$(PYTEST) -m "not long"

# axe-core, for the tests of the pages' accessibility: a package that holds it, without what it needs to run by itself. Optional.
build/axe:
	-$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --target $@ axe-playwright-python==0.1.8

test-all: test $(if $(PYTHON),,build/axe)
	@echo "The long tests: about twelve minutes on two processors"
	$(PYTEST) -m long

smoke: setup
	$(PY) -m pytest -n 4 --dist worksteal tests/gpu/test_smoke.py

gpu: setup
	$(PY) -m pytest -n 4 --dist loadgroup tests/gpu

lint: setup
	$(PY) -m ruff check && $(PY) -m ruff format --check && $(PY) -m mypy
	$(dir $(PY))lint-imports --no-cache --no-logo

# Not the extra `more`, which only a GPU makes use of; of PyCUDA, which is built, what it needs.
EXTRAS := --extra advanced --extra book --extra profile --extra test --extra pycuda --no-emit-package pycuda
lock: .venv/.packages
	.venv/bin/uv pip compile pyproject.toml --universal --generate-hashes --python-version 3.11 --no-header $(EXTRAS) --output-file requirements.lock

clean:
	rm -rf build .venv
