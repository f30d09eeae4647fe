# Daybreak. `make` prints what there is; `make demo` shows it working; `make test` proves it.
SHELL := /bin/bash
BIN   := bin
GO    ?= go
# Packages that start goroutines or are driven from several: what the race detector is for.
RACE  := ./p2p/... ./scheduler/... ./partials/... ./cmd/internal/node/...

.PHONY: help build demo test race bench fuzz mutants lint soak need
.DEFAULT_GOAL := help

help: ## print this list
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

need:
	@command -v $(GO) >/dev/null || { echo "make: Go is missing: install Go 1.26 or newer from https://go.dev/dl/"; exit 1; }
	@command -v $${CC:-gcc} >/dev/null || { echo "make: a C compiler is missing (blst needs one): install gcc, or set CC"; exit 1; }
	@[ "$$($(GO) env CGO_ENABLED)" = 1 ] || { echo "make: cgo is off (blst needs it): run \"$(GO) env -w CGO_ENABLED=1\", or unset CGO_ENABLED"; exit 1; }

build: need ## build beacond and tlock into bin/
	@mkdir -p $(BIN)
	@echo "building; the first time takes a few minutes"
	@$(GO) build -trimpath -o $(BIN)/ ./cmd/beacond ./cmd/tlock

demo: build ## four validators make a key, sign slots, and a sealed entry opens (about half a minute, once it is built)
	@$(BIN)/beacond demo --tlock $(BIN)/tlock --file README.md

test: lint ## vet, tidy rules and every test; what CI runs (about ten minutes)
	$(GO) test -timeout 20m ./...
	$(GO) test -timeout 20m -tags bls_plain ./tlock/bls ./tlock
	$(GO) test -timeout 20m -race -short $(RACE)

race: need ## every test of the concurrent packages under the race detector
	$(GO) test -timeout 40m -race $(RACE)

lint: need ## formatting and vet
	@out=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "gofmt these:"; echo "$$out"; exit 1; }
	@$(GO) vet ./...

bench: need ## speed as ratios to one pairing, beside the targets
	@$(GO) run ./cmd/internal/bench

FUZZTIME ?= 20s
fuzz: need ## fuzz every target for FUZZTIME (20s each)
	@set -e; for d in $$(grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$d/*_test.go | sed 's/func //' | sort -u); do \
	    echo "fuzz $$d $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$d; done; done

mutants: need ## plant faults in the scheduler and the task runtime one by one: some test must notice each (about ten minutes; MUTANTS="words" picks some)
	@$(GO) run ./cmd/internal/mutants $(MUTANTS)

soak: need ## long runs: kill loops and random blocks (SOAK=30m); with BLOCKS=n random blocks of the scheduler alone (SEED=s repeats them)
	@if [ -n "$(BLOCKS)$(SEED)" ]; then \
	  $(GO) test -timeout 0 -count=1 -v -run TestScripts ./scheduler/internal/model -rapid.seed=$${SEED:-0} -rapid.checks=$$(( ($${BLOCKS:-20000}+49)/50 )); \
	else DAYBREAK_SOAK=$${SOAK:-30m} $(GO) test -timeout 0 -count=1 -run 'Soak' ./...; fi
