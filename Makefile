# What a newcomer needs: `make run`, then `make test`. Both set up what they use.
GO      ?= go
BINARY  := bin/marquee
TOOL    := $(GO) tool -modfile=tools/go.mod

# The tests that gain from more rounds than `make test` gives them: a new one adds its package here.
SOAKED := ./cmd/internal/app ./cmd/internal/app/histories ./cmd/marquee ./modules/finance ./modules/payments ./modules/subscriptions ./modules/tickets ./platform/export

.PHONY: run test soak bench generate lint verify build clean

## run: the whole platform on this machine: http://127.0.0.1:8080
run: build
	@exec $(BINARY) dev $(ARGS)

## test: every test, on a private Postgres of its own (make verify vets)
test:
	$(GO) test -vet=off -timeout 15m ./...

## soak: the races, random histories and faults at full length, an hour or so
soak:
	SOAK=1 $(GO) test -count=1 -v -run Soak -timeout 4h $(SOAKED)

## bench: the benchmarks and the load on a running server
bench: build
	$(GO) run ./cmd/bench $(ARGS)

## generate: SQL to Go
generate:
	$(TOOL) sqlc generate

## lint: formatting and the linters
lint:
	@test -z "$$(gofmt -l cmd modules platform testutil migrations sql web)" || { gofmt -l cmd modules platform testutil migrations sql web; echo 'run gofmt -w on these files'; exit 1; }
	$(GO) vet ./...
	$(TOOL) golangci-lint run ./...

## verify: generated code is what its sources say, the code is formatted and vets
verify:
	$(GO) mod verify
	$(TOOL) sqlc diff
	@test -z "$$(gofmt -l cmd modules platform testutil migrations sql web)" || { gofmt -l cmd modules platform testutil migrations sql web; echo 'run gofmt -w on these files'; exit 1; }
	$(GO) vet ./...

build:
	$(GO) build -trimpath -ldflags="-s -w" -o $(BINARY) ./cmd/marquee

clean:
	rm -rf bin
