# Tasks of development and CI. `make` lists the targets.
#
# Variables, for example `make fuzz FUZZTIME=1m`:
#   ARGS       more arguments for `heliograph serve`          PKGS       packages to test and lint; default: ./...
#   TESTFLAGS  more arguments for `go test`                   FUZZTIME   duration of each fuzz target
#   SOAK       settings of soak, for example `-args -soak.rate 200 -soak.time 20s`
#   LOAD       settings of test-load, for example `-load.database postgres://…`
#   LISTS      settings of bench-lists, for example `-args -lists.only "^/transactions" -lists.worst 100`
#   PUBLISHED  seconds and connections of bench-published; default: 60 100
#   CLIENTS    folders in tests/ and examples/ for test-clients; default: all
#   BENCHTIME  duration of each benchmark                     ASSETS     off skips the front-end assets

SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help run build release test test-unit test-race test-formats nightly record test-slow test-pooler test-keys test-browser test-clients test-attack test-load soak fuzz bench bench-lists bench-published lint fmt count generate verify ci clean

ARGS ?=
PKGS ?= ./...
TESTFLAGS ?=
FUZZTIME ?= 10s
BENCHTIME ?= 1s
CLIENTS ?=
SOAK ?=
ATTACK ?=
LOAD ?=
SHORT ?=
ASSETS ?= on

# All targets use the same flags, so that each uses the packages that others have compiled. `make lint` includes go vet.
export CGO_ENABLED = 0
export GOFLAGS += -trimpath -buildvcs=false -vet=off

# The output of `heliograph version`. The date is that of the commit, so that builds are reproducible.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
DATE ?= $(shell TZ=UTC0 git show -s --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd HEAD 2>/dev/null || echo unknown)
LDFLAGS = -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT) -X main.date=$(DATE)

# The module in tests/ uses the packages that were compiled for this one.
IN_TESTS := GOWORK='$(CURDIR)/tests/gateway.work'

# Packages of the browser tests, relative to tests/. They need Chromium.
BROWSER_PKGS ?= ./browser/...

GOLANGCI_LINT_VERSION := v2.8.0
GOLANGCI_LINT := bin/golangci-lint-$(GOLANGCI_LINT_VERSION)/golangci-lint

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Build and serve on http://127.0.0.1:8080; installs PostgreSQL if missing
	@LDFLAGS='$(LDFLAGS)' scripts/build.sh $(if $(HELIOGRAPH_DATABASE_URL),,--with-postgres) -o bin/heliograph ./cmd/heliograph
	@exec bin/heliograph serve $(ARGS)

build: ## Build bin/heliograph, a static binary
	@LDFLAGS='$(LDFLAGS)' scripts/build.sh -o bin/heliograph ./cmd/heliograph

# The files depend on the commit, the Go version and the locked modules only, not on the folder.
RELEASE_PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
release: ## Build binaries, image, licences, component list and checksums in dist/
	@[ '$(COMMIT)' != unknown ] || { echo 'make release needs a git checkout: the date of the commit is that of the files.' >&2; exit 1; }
	rm -rf dist
	@set -e; for platform in $(RELEASE_PLATFORMS); do \
	  echo "building for $$platform"; \
	  GOOS=$${platform%/*} GOARCH=$${platform#*/} GOAMD64=v1 go build -trimpath -toolexec "$(CURDIR)/scripts/trim-asm.sh $$(go env GOMODCACHE)" -buildvcs=false -ldflags '$(LDFLAGS) -buildid=' \
	    -o "dist/heliograph-$${platform%/*}-$${platform#*/}" ./cmd/heliograph; \
	done
	@! grep -l "$$(go env GOMODCACHE)/" dist/heliograph-* || { echo 'These binaries contain the path of the module cache, so that other folders give other bytes.' >&2; exit 1; }
	@cd tests/release && go build -trimpath -o ../../bin/release .
	bin/release -version '$(VERSION)' -date '$(DATE)'
	cd dist && sha256sum -c --quiet SHA256SUMS && ls -l
	bin/release -check

# Many tests wait, so that more of them than processors run at the same time.
test: ## Run the tests, of all packages or those in PKGS
	@scripts/build.sh --with-postgres $(PKGS)
	go test -p 4 -timeout 10m $(TESTFLAGS) $(PKGS)

test-unit: ## Run the tests that need no database
	go test -timeout 10m $(TESTFLAGS) $$(go list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... | awk '/ \[\] \[\]$$/ || /storage\/(pgtest|embedded)/ { next } { print $$1 }')

# By default the race detector delays the exit of each process by a second.
test-race: export GORACE ?= atexit_sleep_ms=0
test-race: export CGO_ENABLED = 1
test-race: ## Run the same tests with the race detector; installs a C compiler if missing
	@scripts/ensure-cc.sh
	@scripts/ensure-postgres.sh
	go test -race -timeout 20m $(TESTFLAGS) $(PKGS)

test-formats: ## Check feeds, OpenAPI, JSON Schema, deploy files and requests that others got wrong, with libraries that only these tests need
	@scripts/ensure-postgres.sh
	$(IN_TESTS) go -C tests test -p 4 -timeout 10m $(TESTFLAGS) ./formats/...

record: ## Rewrite golden files, statements, response examples and the record of REST responses, and print the changes of the record grouped by cause
	@scripts/ensure-postgres.sh
	go test -run '^TestExamples$$' -count 1 $(TESTFLAGS) ./rest/openapi -update
	go run ./rest/generate # the OpenAPI files have the examples
	go test -run '^TestStatements$$' -count 1 $(TESTFLAGS) ./storage/statements -update
	go test -run '^TestGolden$$' -count 1 $(TESTFLAGS) ./rest/v1 -update
	go test -run '^TestRecord$$' -count 1 -v $(TESTFLAGS) ./rest/v1 -update

test-slow: ## Run slow tests: replicas and failover, query plans on large tables, memory of traces, random histories of status pages, 5,000 webhooks
	@scripts/ensure-postgres.sh
	go test -tags slow -run 'Replicas' -timeout 10m -v $(TESTFLAGS) ./app/gateway
	go test -tags slow -run 'Load|Kills' -timeout 10m -v $(TESTFLAGS) ./app/webhooks
	go test -tags slow -run 'Plans|LongResponse' -timeout 10m $(TESTFLAGS) ./storage/transactions ./rest/v1
	$(IN_TESTS) go -C tests test -tags slow -run Random -timeout 10m $(TESTFLAGS) ./formats/statuspage

# The tests that read and write databases.
POOLER_PKGS := ./storage ./storage/transactions ./storage/entities ./storage/evmstate ./storage/statuspages ./resolvers/... ./graph/server ./rest/... ./app/gateway

test-pooler: ## Run the tests of the database through PgBouncer with transaction pooling; installs it if missing
	@scripts/ensure-postgres.sh
	HELIOGRAPH_TEST_PGBOUNCER=$$(scripts/ensure-pgbouncer.sh) go test -timeout 10m $(TESTFLAGS) $(POOLER_PKGS)

# These packages were built for test-pooler already.
KEYS_PKGS := ./storage ./storage/entities ./storage/evmstate ./storage/transactions ./resolvers ./resolvers/contractcalls ./graph/server ./rest/v1

test-keys: ## Run the tests of the ledger with the statements for tables that are distributed with Citus, on plain PostgreSQL
	@scripts/ensure-postgres.sh
	HELIOGRAPH_TEST_KEYS=on go test -timeout 15m $(TESTFLAGS) $(KEYS_PKGS)

test-browser: ## Run the browser tests; installs Chromium if missing
	@scripts/ensure-postgres.sh
	@scripts/ensure-chromium.sh
	$(IN_TESTS) go -C tests test -timeout 10m $(TESTFLAGS) $(BROWSER_PKGS)

test-clients: build ## Run compatibility tests with third-party clients (tests/) and the examples
	@scripts/ensure-postgres.sh
	@scripts/test-clients.sh $(CLIENTS)

test-attack: build ## Measure what attacks, overload and a broken database do to other clients; takes six minutes, with SHORT=on half a minute
	@scripts/ensure-postgres.sh
	go test -tags attack -count 1 -timeout 20m -v $(TESTFLAGS) ./app/testing/attack \
	  $(if $(SHORT),-run 'Attacks$$|HalfSent',-run 'OnProcess|Small|Single|TestConnections|Broken' -args -attack.time 8s -attack.clients 64 -attack.slowest 50ms $(ATTACK))

test-load: build ## Measure how more requests than the gateway can run are served; takes 25 minutes, with SHORT=on one minute
	@scripts/ensure-postgres.sh
	go test -tags attack -count 1 -timeout 60m -v $(TESTFLAGS) ./app/testing/attack -run TestLoad \
	  -args $(if $(SHORT),-load.time 1s -load.short) $(LOAD)

soak: build ## Run a load test with 2,000 subscriptions and a restart of PostgreSQL, and restart and kill gateways behind HAProxy; takes minutes
	@scripts/ensure-postgres.sh
	@scripts/ensure-haproxy.sh
	go test -tags soak -count 1 -timeout 20m -v $(TESTFLAGS) ./app/testing/soak $(SOAK)

fuzz: ## Run each fuzz target for FUZZTIME (default: 10s)
	@scripts/ensure-postgres.sh
	@scripts/fuzz.sh $(FUZZTIME)

bench: ## Run each benchmark for BENCHTIME (default: 1s)
	@scripts/ensure-postgres.sh
	@packages=$$(git ls-files -co --exclude-standard '*_test.go' | xargs grep -l '^func Benchmark' | xargs -n 1 dirname | sort -u | sed 's|^|./|'); \
	if [ -z "$$packages" ]; then echo 'No benchmarks found.'; exit; fi; \
	set -x; go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) $(TESTFLAGS) $$packages

bench-published: build ## Measure the shapes of queries that GraphQL servers publish numbers of, on the demo network or HELIOGRAPH_DATABASE_URL; takes five minutes
	@scripts/ensure-postgres.sh
	@scripts/bench-published.sh $(PUBLISHED)

bench-lists: ## Measure each list with its filters on the database at HELIOGRAPH_DATABASE_URL; takes minutes
	go test -tags lists -run TestLists -count 1 -timeout 60m $(TESTFLAGS) ./app/testing/lists $(LISTS)

lint: $(GOLANGCI_LINT) ## Run the linters in .golangci.yml; the first run builds them, which takes minutes
	$(GOLANGCI_LINT) run $(PKGS)
	@[ '$(PKGS)' != ./... ] || (set -x; cd tests && $(IN_TESTS) '$(CURDIR)/$(GOLANGCI_LINT)' run ./formats/... ./browser/...)

fmt: $(GOLANGCI_LINT) ## Format the Go code
	$(GOLANGCI_LINT) fmt

count: ## Count the lines of each package, and check the limits of packages and lines
	@scripts/count.sh

# Each version has its own folder.
$(GOLANGCI_LINT):
	@echo 'Building golangci-lint $(GOLANGCI_LINT_VERSION). This takes a few minutes.'
	@GOBIN='$(CURDIR)/$(@D)' go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)

generate: ## Run the code generators, and build the front-end assets if Node.js is installed
	go generate ./...
	go run ./graph/generate
	go run ./storage/columns
	go run ./rest/generate
	go -C examples/go generate ./...
	@scripts/generate-assets.sh $(ASSETS)

verify: ## Fail if generated files, go.mod or the formatting are not up to date
	@ASSETS='$(ASSETS)' scripts/verify.sh

ci: ## Run all steps of CI
	@.ci/run

nightly: ## Run what CI has no time for: slow, generated and load tests in full length, attacks, and fuzzing for FUZZTIME each; takes hours
	@FUZZTIME='$(if $(filter file,$(origin FUZZTIME)),5m,$(FUZZTIME))' .ci/nightly

clean: ## Remove build results and tools
	rm -rf bin
