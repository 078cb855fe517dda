# Everything that is done with this repository by hand or in CI. `make` lists the targets.
#
# Settings, given as in `make fuzz FUZZTIME=1m`:
#   ARGS       more arguments for `heliograph serve`          PKGS       packages to test, ./... by default
#   TESTFLAGS  more arguments for go test                     FUZZTIME   time for each fuzz target
#   SOAK       settings of soak, such as `-args -soak.rate 200 -soak.time 20s`
#   CLIENTS    folders of tests/ and examples/ that test-clients runs, all by default
#   BENCHTIME  time for each benchmark                        ASSETS     off leaves the front-end assets as they are

SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help run build test test-slow test-browser test-clients soak fuzz bench lint fmt generate verify ci clean

ARGS ?=
PKGS ?= ./...
TESTFLAGS ?=
FUZZTIME ?= 10s
BENCHTIME ?= 1s
CLIENTS ?=
SOAK ?=
ASSETS ?= on

# What `heliograph version` tells. The date is the commit's, so that the same commit gives the same binary.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
DATE ?= $(shell TZ=UTC0 git show -s --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd HEAD 2>/dev/null || echo unknown)
LDFLAGS = -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT) -X main.date=$(DATE)

# Packages with browser tests: these carry the build tag "browser", since they need Chromium.
BROWSER_PKGS ?= ./app/web/... ./app/gateway/...

GOLANGCI_LINT_VERSION := v2.8.0
GOLANGCI_LINT := bin/golangci-lint-$(GOLANGCI_LINT_VERSION)/golangci-lint

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Build and serve everything on http://127.0.0.1:8080; installs PostgreSQL where there is none
	@[ -n "$$HELIOGRAPH_DATABASE_URL" ] || scripts/ensure-postgres.sh
	@exec bin/heliograph serve $(ARGS)

build: ## Build bin/heliograph, a static binary
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/heliograph ./cmd/heliograph

# The race detector is the only thing that needs cgo, and so a C compiler. Left alone it lets each process sleep for a second before it ends, and the
# tests of the command line start a hundred.
test: export GORACE ?= atexit_sleep_ms=0
test: ## Run all tests but those in a browser, with the race detector where there is a C compiler
	@scripts/ensure-postgres.sh
	@if scripts/ensure-cc.sh; then \
	  set -x; CGO_ENABLED=1 go test -race -timeout 10m $(TESTFLAGS) $(PKGS); \
	else \
	  echo 'There is no C compiler: the tests run WITHOUT the race detector.'; \
	  set -x; CGO_ENABLED=0 go test -timeout 10m $(TESTFLAGS) $(PKGS); \
	fi

test-slow: ## Run the tests that take long: plans over large tables, the memory of traces, long histories of status pages
	@scripts/ensure-postgres.sh
	CGO_ENABLED=0 go test -tags slow -run 'Plans|LongAnswer|Random' -timeout 10m $(TESTFLAGS) ./storage/transactions ./rest/v1 ./rest/v2

test-browser: ## Run the tests that drive Chromium; installs it where there is none
	@scripts/ensure-postgres.sh
	@scripts/ensure-chromium.sh
	CGO_ENABLED=0 go test -tags browser -timeout 10m $(TESTFLAGS) $(BROWSER_PKGS)

test-clients: build ## Run other people's clients and checkers, and the examples, against the gateway: every folder of tests/ and examples/
	@scripts/ensure-postgres.sh
	@scripts/test-clients.sh $(CLIENTS)

soak: build ## Let 2,000 subscriptions listen while messages are written, and PostgreSQL restart meanwhile; takes minutes
	@scripts/ensure-postgres.sh
	CGO_ENABLED=0 go test -tags soak -count 1 -timeout 20m -v $(TESTFLAGS) ./app/testing/soak $(SOAK)

fuzz: ## Run each fuzz target for FUZZTIME (10s)
	@scripts/ensure-postgres.sh
	@scripts/fuzz.sh $(FUZZTIME)

bench: ## Run the benchmarks, each for BENCHTIME (1s)
	@scripts/ensure-postgres.sh
	@packages=$$(git ls-files -co --exclude-standard '*_test.go' | xargs grep -l '^func Benchmark' | xargs -n 1 dirname | sort -u | sed 's|^|./|'); \
	if [ -z "$$packages" ]; then echo 'There are no benchmarks.'; exit; fi; \
	set -x; CGO_ENABLED=0 go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) $(TESTFLAGS) $$packages

lint: $(GOLANGCI_LINT) ## Run the linters of .golangci.yml; the first run builds them, which takes minutes
	$(GOLANGCI_LINT) run $(PKGS)

fmt: $(GOLANGCI_LINT) ## Format the Go code
	$(GOLANGCI_LINT) fmt

# Kept by version: another version is another folder.
$(GOLANGCI_LINT):
	@echo 'Building golangci-lint $(GOLANGCI_LINT_VERSION), which takes some minutes the first time.'
	@CGO_ENABLED=0 GOBIN='$(CURDIR)/$(@D)' go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)

generate: ## Make the generated code, and the front-end assets where Node.js is installed
	go generate ./...
	go run ./graph/generate
	go run ./rest/generate
	@scripts/generate-assets.sh $(ASSETS)

verify: ## Fail when generated files, go.mod or the format are not up to date
	@ASSETS='$(ASSETS)' scripts/verify.sh

ci: ## Run what CI runs
	@.ci/run

clean: ## Remove what was built, the tools included
	rm -rf bin
