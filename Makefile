# The two commands are `make run` and `make test`; `make help` lists the others.
PYTHON ?= python3
CARGO ?= cargo
VENV := .venv
BIN := $(VENV)/bin
WORKSPACE := runners/drivetest
DRIVETEST := $(WORKSPACE)/target/release/drivetest
# One target directory for all; nothing is built here twice, so keeping intermediate states would only cost disk.
export CARGO_INCREMENTAL := 0
# The side file of a run names the last commit that changed its program, so that no other commit compiles the program
# again. A shallow clone without that commit names the oldest one that it has, usually HEAD. The suffix -dirty stands
# for changes that are not committed. An archive without history has no revision.
export DRIVETEST_REVISION := $(shell git rev-list -1 HEAD -- $(WORKSPACE) 2>/dev/null)$(if $(shell git status --porcelain -- $(WORKSPACE) 2>/dev/null),-dirty)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The checks need no server: addresses of a developer's shell must not reach them.
OFFLINE := env -u DATABASE_URL -u REDIS_URL
# A shell's background jobs ignore Ctrl-C, and what nohup starts ignores a hang-up; tests send both.
HEEDING := env --default-signal=INT,HUP

.DEFAULT_GOAL := help
.PHONY: help run test audit supply-chain quick times trace checks rust-checks rust-lint rust-tests rust-quick rust-docs compiled-tests tests bench measure-accounts measure-machines measure-production image-check lint format requirements drivetest drivetest-static man client

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

run: ## start the register on this machine (PORT, HOST, DRIVECERT_DATA)
	@$(MAKE) --no-print-directory --jobs=2 $(VENV)/run.stamp drivetest
	@exec $(BIN)/python manage.py up

# Nothing is built while the tests of drivetest run: they measure, and builds made reads late.
test: ## everything CI checks; CI=true fails if a part of the machine is missing
	@sh tests/browser/install_chromium.sh
	@sh tests/lab_hosts/install_sshd.sh
	@sh tests/webapp/supervisor/install_postgresql_15.sh
	@sh tests/operations/install_prometheus.sh
	@sh tests/operations/install_nginx.sh
	@sh tests/operations/install_acme.sh
	@sh tests/webapp/backup/install_age.sh
	@# pip and the check of the supply chain wait for the package index half of their time; cargo compiles meanwhile.
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(VENV)/test.stamp rust-lint
	$(MAKE) --no-print-directory rust-tests
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target supply-chain compiled-tests drivetest checks rust-docs
	$(MAKE) --no-print-directory tests

# Developers run this before each push; the tests with loads, faults, lab hosts and Chromium are left to `make test`.
QUICK := not browser and not faults and not lab_hosts and not long
quick: $(VENV)/test.stamp drivetest ## the checks and the fast tests, in a few minutes
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target checks rust-quick
	$(PYTEST) -q -m "$(QUICK)"

times: $(VENV)/test.stamp ## print where the time of the last tests went, as tables
	@$(BIN)/python scripts/test_times.py

# A stamp holds the checksum of what is installed: the date of a file says nothing after a checkout.
$(VENV)/run.stamp: requirements.txt | $(BIN)/python
	$(call install,$<,$@)

$(VENV)/test.stamp: requirements-dev.txt requirements.txt | $(BIN)/python
	$(call install,$<,$@)
	@sha256sum requirements.txt > $(VENV)/run.stamp

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: set PYTHON")'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "install the venv module of $(PYTHON) (Debian: python3-venv)"; exit 1; }

PIN := --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host

define install
	@if sha256sum --check --status $(2) 2>/dev/null; then touch $(2); else \
	  echo "installing $(1)" && $(BIN)/python -m pip install --quiet --require-hashes --requirement $(1) && sha256sum $(1) > $(2); fi
endef

# The host's own target by name: flags for an explicit target leave build scripts and macros alone, which cannot be static.
STATIC_TARGET ?= $(shell rustc -vV | sed -n 's/^host: //p')
BUILT = target/$(STATIC_TARGET)/release/drivetest
# Linked statically wherever there is a C library to link in, so that what is tested here is what lab hosts are given.
STATIC = $(if $(wildcard $(shell $(CC) -print-file-name=libc.a 2>/dev/null)),-C target-feature=+crt-static)
# Random numbers come from the kernel, also in a root directory without /dev/urandom.
STATIC += --cfg=getrandom_backend=\"linux_getrandom\"
drivetest: ## build the native test program
	@command -v $(CARGO) >/dev/null || { echo "no $(CARGO): install a Rust toolchain (1.88 or later), or set CARGO"; exit 1; }
	@# Without MAKEFLAGS: cargo would take what jobs make has left for its own.
	@cd $(WORKSPACE) && env -u MAKEFLAGS RUSTFLAGS="$(STATIC)" $(CARGO) build --release --locked --package drivetest-cli --target $(STATIC_TARGET)
	@cd $(WORKSPACE) && mkdir -p target/release && ln -f $(BUILT) target/release/drivetest

drivetest-static: drivetest ## check that the native test program is statically linked, as lab hosts need it
	@$(WORKSPACE)/check_static.sh $(WORKSPACE)/$(BUILT)

man: drivetest ## write the manual of the native test program
	@$(DRIVETEST) man $(WORKSPACE)/target/man && ls -d $(WORKSPACE)/target/man/*

# A folder that is no part of the sources: each release generates its own.
CLIENT ?= build/drivecert-client
client: $(VENV)/test.stamp ## generate the Python client of the API, a package, into CLIENT
	@mkdir -p $(dir $(CLIENT)) && $(BIN)/python manage.py spectacular --format openapi-json --file $(CLIENT).json
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/openapi-python-client generate --path $(CLIENT).json --output-path $(CLIENT) --overwrite --meta setup --config scripts/client.yaml >$(CLIENT).log || { cat $(CLIENT).log; exit 1; }

supply-chain: $(VENV)/test.stamp ## check hashes and licences of all packages, and that no pinned release is yanked
	@$(BIN)/python scripts/supply_chain.py check

# In an environment of its own: pip-audit needs versions of packages that the register does not.
AUDIT := $(VENV)/audit
audit: $(VENV)/audit.stamp ## compare all packages with the published advisories; the last line is the result
	@$(AUDIT)/bin/python scripts/supply_chain.py audit

$(VENV)/audit.stamp: requirements-audit.txt | $(BIN)/python
	@test -x $(AUDIT)/bin/python || $(PYTHON) -m venv $(AUDIT)
	@$(AUDIT)/bin/python -m pip install --quiet --require-hashes --requirement requirements-audit.txt
	@sha256sum requirements-audit.txt > $@

checks: $(VENV)/test.stamp ## check format, lint, types, imports and templates, without tests
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(OFFLINE) $(BIN)/lint-imports
	find webapp/templates -name '*.html' -print0 | xargs -0 $(BIN)/djade --check
	$(BIN)/mypy .

rust-checks: rust-lint rust-tests rust-docs ## run rust-lint, rust-tests and rust-docs

rust-lint: ## check format and lint (clippy) of drivetest
	cd $(WORKSPACE) && $(CARGO) fmt --check
	@# Without MAKEFLAGS, as for the build below.
	cd $(WORKSPACE) && env -u MAKEFLAGS $(CARGO) clippy --locked --workspace --all-targets --quiet -- -D warnings

# Several programs at a time; those that measure run alone at the end (docs/decisions/0012).
RUST_TESTS = $(HEEDING) $(BIN)/python scripts/rust_tests.py
rust-tests: $(VENV)/test.stamp ## run all tests of drivetest
	$(RUST_TESTS)

rust-quick: $(VENV)/test.stamp ## run the fast tests of drivetest
	$(RUST_TESTS) --quick

rust-docs: ## build the code documentation of drivetest; warnings are errors
	cd $(WORKSPACE) && RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --quiet

# Two more than there are processors, as tests of whole registers wait for pages, loads and restarts; and no more than
# one Redis has databases for.
WORKERS ?= $(shell expr \( $$(nproc) + 2 \& $$(nproc) \< 14 \) \| 15)
# Compiled files are kept whatever the shell says: each worker would rewrite every test anew, 11 s of processor time,
# and each of the many processes that tests start would compile the register, 0.6 s.
PYTEST = $(HEEDING) $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --junitxml .test_times/pytest.xml
tests quick compiled-tests: export PYTHONDONTWRITEBYTECODE :=
compiled-tests: $(VENV)/test.stamp ## compile all tests once; in a new clone each worker would compile all of them
	@found=$$($(BIN)/python -m pytest --collect-only -qq 2>&1) || { echo "$$found"; exit 1; }

tests: $(VENV)/test.stamp drivetest ## pytest: units, faults, browser
	$(PYTEST)

bench: $(VENV)/test.stamp drivetest ## measure; BENCH_DEVICE=/dev/X, which is overwritten, for the load
	$(BIN)/python benchmarks/log_reading.py
	@if [ -n "$(DATABASE_URL)" ]; then $(BIN)/python benchmarks/intake.py; \
	else echo "intake.py left out: DATABASE_URL names no PostgreSQL in which it may create a database"; fi
	@if [ -n "$(BENCH_DEVICE)" ]; then $(BIN)/python benchmarks/drivetest_load.py --quick --device "$(BENCH_DEVICE)"; \
	else echo "drivetest_load.py left out: BENCH_DEVICE names no block device that may be overwritten"; fi

measure-accounts: $(VENV)/test.stamp drivetest ## measure accounts, uploads and submissions in full, about 10 minutes
	$(BIN)/python benchmarks/accounts.py

measure-machines: $(VENV)/test.stamp drivetest ## check the API with generated requests, measure 1,000 agents and cause 1,000 faults, about an hour, as root
	$(BIN)/python benchmarks/api_conformance.py
	$(BIN)/python -m benchmarks.agents
	$(BIN)/python -m benchmarks.agent_faults

measure-production: $(VENV)/test.stamp drivetest ## measure backups, runbooks, large registers and the mixed load with faults, as root
	$(BIN)/python -m benchmarks.restore
	$(BIN)/python -m benchmarks.runbooks
	$(BIN)/python -m benchmarks.scale
	$(BIN)/python -m benchmarks.upgrade
	$(BIN)/python -m benchmarks.mixed_load
	$(BIN)/python -m benchmarks.mixed_load --faults
	$(BIN)/python -m benchmarks.mixed_load --processes 1,2,4

image-check: ## build the Dockerfile with buildah, as root, without a registry of images; about 5 minutes, and the Rust build
	operations/image_check.sh

trace: $(VENV)/run.stamp ## print every published number of RUN back to log line, reader version and profile hash
	@test -n "$(RUN)" || { echo "RUN=id: expected the public id of a run"; exit 1; }
	@$(BIN)/python manage.py trace "$(RUN)"

lint: checks rust-lint ## check all sources without tests: checks and rust-lint

format: $(VENV)/test.stamp ## format Python, Rust and templates
	$(BIN)/ruff check --quiet --fix-only .
	$(BIN)/ruff format --quiet .
	find webapp/templates -name '*.html' -print0 | xargs -0 $(BIN)/djade
	cd $(WORKSPACE) && $(CARGO) fmt

requirements: $(VENV)/test.stamp ## pin the versions of the packages in requirements*.in
	$(BIN)/pip-compile --quiet $(PIN) --output-file requirements.txt requirements.in
	$(BIN)/pip-compile --quiet $(PIN) --output-file requirements-dev.txt requirements-dev.in
	$(BIN)/pip-compile --quiet $(PIN) --output-file requirements-audit.txt requirements-audit.in
