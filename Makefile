# What a newcomer needs: `make run`, then `make test`. Both set up what they use.
GO      ?= go
BINARY  := bin/marquee
TOOL    := $(GO) tool -modfile=tools/go.mod
FORMAT  := $(TOOL) gofumpt

# Nothing here needs C: everything links without its linker, and what is built stands by itself.
export CGO_ENABLED := 0

# What runs on a developer's machine is compiled in two thirds of the time, without inlining and what a debugger reads; a
# request costs it a fifth more. `make build`, benchmarks and releases are compiled in full.
FULL           := $(shell $(GO) env GOFLAGS)
export GOFLAGS := $(FULL) '-gcflags=all=-dwarf=false -l'

# The tests that gain from more rounds than `make test` gives them: a new one adds its package here.
SOAKED := ./cmd/internal/app ./cmd/internal/app/attacks ./cmd/internal/app/modeltest ./cmd/marquee ./modules/finance ./modules/payments ./modules/subscriptions ./modules/tickets ./platform/export

# The packages of tests that `make test` leaves out or shortens, for their minutes.
LONG := $(SOAKED) ./migrations/schema ./modules/catalog ./platform/query ./platform/replica

# Test binaries link in half the time without what a debugger reads. Tests wait for Postgres more than they compute:
# more of them than cores run at once. Compilers, linkers and tests end before their garbage is worth much of their time.
TEST := GOGC=400 $(GO) test -vet=off -ldflags='-s -w' -parallel 4

# How often `make flaky` runs the suite, and of what (soak too); one seed plays one order again.
N    ?= 10
PKG  ?= ./...
SEED ?=

# All of soak, or one of so many shares, such as 3/40.
SHARE ?= 1

# One of the faults that are planted, or all; and how many are tried at a time.
FAULT  ?=
COPIES ?= 2

# The Go that a release is built with. What is known of it is looked for in `make verify`, which says when a newer one is due.
RELEASE_GO := go1.26.11

# Tags of the build: nosandbox for production.
TAGS ?=

# With what the figures are compared: a file that keeps some, or a commit; and with what binary the benchmarks are.
COMPARE ?=

.PHONY: quick run web verify-web test-web bench-web test test-ops pgbouncer flaky soak faults unread-indexes figures record replay bench generate format lint verify vulnerabilities build release clean

# Of every package with -trimpath there is another in the cache; it is for what leaves this machine.
define compile
GOGC=400 $(GO) build $(if $(TAGS),-trimpath) -tags '$(TAGS)' -ldflags="-s -w" -o $(BINARY) ./cmd/marquee
endef

quick:
	$(compile)

## run: the whole platform on this machine: http://127.0.0.1:8080
run: quick
	@exec $(BINARY) dev $(ARGS)

## web: the front ends anew, from web/app and what the binary says of its API, into web/dist; needs Node
web: quick
	web/app/types.sh
	web/app/build.sh web/dist

## verify-web: web/dist is what web/app gives; said in words where no Node is
verify-web:
	web/app/verify.sh

## test-web: the front ends' tests, in Chromium; what is missing of Node, Chromium and fonts is installed
test-web: quick
	web/app/test.sh

# How much is in the database while `make bench-web` measures, and how often it does each thing.
SCALE    ?= 1000000
WEBHOOKS ?= 1000000
ROUNDS   ?= 15

## bench-web: times of the console in Chromium, beside their goals, with SCALE subscriptions and WEBHOOKS calls; by hand, on a quiet machine
bench-web: export GOFLAGS := $(FULL)
bench-web: build
	SCALE='$(SCALE)' WEBHOOKS='$(WEBHOOKS)' ROUNDS='$(ROUNDS)' web/app/bench.sh

## test: the tests, on a private Postgres of its own (make verify vets)
test:
	$(TEST) -short -timeout 15m ./...

## test-long: what `make test` leaves out: 100,000 rows, replicas, kills, histories at their middle length
test-long:
	$(TEST) -run 'Long|Soak|differential' -timeout 15m $(LONG)

## test-ops: the release, its image and what else needs programs of operators and minutes; says what is not installed
test-ops:
	OPS=1 $(GO) -C tools test -count=1 -v -run Ops -timeout 13m ./...
	OPS=1 $(TEST) -count=1 -v -run Ops -timeout 7m ./cmd/marquee ./migrations/schema

## pgbouncer: bin/pgbouncer, 1.24 from Debian's source, behind which tests run beside Debian 12's own
pgbouncer:
	@tools/pgbouncer.sh

## flaky: the suite N times, uncached and in random order, until the first red run; its log is kept
flaky:
	@mkdir -p bin; for i in $$(seq $(N)); do \
		seed=$(SEED); seed=$${seed:-$$(date +%s%N)}; log=bin/flaky-$$seed.log; from=$$(date +%s); \
		echo "run $$i of $(N), seed $$seed"; \
		if ! $(TEST) -count=1 -shuffle=$$seed -timeout 15m $(PKG) >$$log 2>&1; then \
			grep -E '^ *--- FAIL|^FAIL|^panic' $$log; \
			echo "red; the log is $$log, the same order again: make flaky N=1 SEED=$$seed PKG='$(PKG)'"; exit 1; \
		fi; \
		echo "green after $$(($$(date +%s) - from)) s"; rm $$log; \
	done

## soak: the races, random histories and faults at full length: hours; SHARE=3/40 plays the third of forty shares
soak:
	SOAK=$(SHARE) $(TEST) -count=1 -v -run Soak -timeout 4h $(if $(filter ./...,$(PKG)),$(SOAKED),$(PKG))

## faults: plant each fault of tools/faults in a copy of the tree, and see that the tests catch it; FAULT=name for one
faults:
	$(GO) -C tools run ./faults -n $(COPIES) -fault '$(FAULT)'

## unread-indexes: the suite once more, with tables read by indexes alone: an index that it has not read says in docs/performance.md why it stays
unread-indexes: export INDEX_SCANS := $(CURDIR)/bin/index-scans
unread-indexes:
	@mkdir -p bin; rm -f $(INDEX_SCANS)
	-$(TEST) -count=1 -timeout 30m $(PKG)
	$(GO) test -vet=off -count=1 -v -run '^TestIndexesThatNobodyReadsSayWhyTheyStay$$' ./testutil/pgtest

## figures: assertions, files, lines, names and methods a package; COMPARE=file-or-commit shows what differs
figures:
	$(GO) -C tools run ./figures -compare '$(COMPARE)'

# What `make replay` and `make record` ask: the tree's binary, or BINARY=path as it stands there.
ifneq ($(origin BINARY),command line)
replay record: quick
endif

## replay: what a binary answers is what was recorded; BINARY=path asks another than the tree's
replay:
	@$(GO) run ./testutil/replay -binary $(BINARY) $(ARGS)

## record: the recording of `make replay` anew, by the story in testutil/replay
record:
	@$(GO) run ./testutil/replay -binary $(BINARY) -record $(ARGS)

## bench: rates and costs beside a bare server, by turns, on a quiet machine; COMPARE=binary measures beside that one instead
bench: export GOFLAGS := $(FULL)
bench: build
	GOGC=400 $(GO) build -trimpath -tags nosandbox -ldflags="-s -w" -o bin/marquee-production ./cmd/marquee
	$(GO) build -o bin/bench ./cmd/bench
	bin/bench -binary bin/marquee-production -sandbox $(BINARY) -compare '$(COMPARE)' -json bin/bench.json $(ARGS)

## generate: SQL to Go, and what the migrations make to sql/schema.sql
generate:
	$(TOOL) sqlc generate
	UPDATE_GOLDEN=1 $(GO) test -vet=off -count=1 -run '^TestTheArchiveHoldsTheFiles$$' ./migrations/schema
	UPDATE_GOLDEN=1 $(GO) test -vet=off -count=1 -run '^(TestSchemaFile|TestLandedMigrationsStayAsTheyAre)$$' ./migrations/schema
	UPDATE_GOLDEN=1 $(GO) test -vet=off -count=1 -run '^TestTheArchiveHoldsTheTexts$$' ./web

## format: every file in gofumpt's form
format:
	$(FORMAT) -w *.go cmd modules platform testutil migrations sql web tools

## lint: formatting, the words of names and the linters
lint:
	@unlike="$$($(FORMAT) -l *.go cmd modules platform testutil migrations sql web tools)"; test -z "$$unlike" || { echo "$$unlike"; echo 'make format'; exit 1; }
	$(GO) vet ./...
	$(GO) test -run TestNamesAreTheFieldsWords ./testutil/archtest
	$(TOOL) golangci-lint run ./...
	$(GO) -C tools tool golangci-lint run -c ../.golangci.yml ./...

## verify: generated code and sql/schema.sql are what their sources say, every fault has its place, the OpenAPI document is
## clean and clients are made of it, web/dist is what web/app gives (both say so where there is no Node), the code is
## formatted and vets, and no program calls what is known to be vulnerable
verify: vulnerabilities verify-web
	$(GO) mod verify
	$(GO) -C tools test ./...
	$(GO) -C tools/openapi test -count=1 -v ./...
	$(TOOL) sqlc diff
	$(GO) test -vet=off -count=1 -run '^(TestSchemaFile|TestTheDatabaseHoldsTheSources)$$' ./migrations/schema
	@unlike="$$($(FORMAT) -l *.go cmd modules platform testutil migrations sql web tools)"; test -z "$$unlike" || { echo "$$unlike"; echo 'make format'; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags nosandbox ./cmd/...

# The database is a Go module: whatever serves the libraries serves it, and nothing else is asked.
## vulnerabilities: known ones of libraries and of the release's Go that a program of cmd calls; says so where neither can be had
vulnerabilities:
	@if ! GOTOOLCHAIN=$(RELEASE_GO) $(GO) version >/dev/null 2>&1; then \
		echo 'vulnerabilities: not looked for, since $(RELEASE_GO) cannot be had here'; exit 0; \
	fi; \
	database=$$($(GO) mod download -json golang.org/x/vulndb@latest 2>/dev/null | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$$/\1/p'); \
	if [ -z "$$database" ]; then \
		echo 'vulnerabilities: not looked for, since golang.org/x/vulndb cannot be had here'; exit 0; \
	fi; \
	scan=$$($(TOOL) -n govulncheck) && GOTOOLCHAIN=$(RELEASE_GO) "$$scan" -db "file://$$database/data/osv" ./cmd/...

## build: bin/marquee; TAGS=nosandbox builds the one for production, without what only development and tests run
build: export GOFLAGS := $(FULL)
build:
	$(compile)

## release: what is released of this commit, for amd64 and arm64, in bin/release, by RELEASE_GO; the same bytes each time
release:
	GOTOOLCHAIN=$(RELEASE_GO) $(GO) -C tools run ./release

clean:
	rm -rf bin
