# Needs Go, git and make; the targets see to the rest (scripts/need.sh).

GO     ?= go
BINARY := bin/airtable-replay
# The clone may belong to another user, as in a container that mounts it.
VERSION ?= $(shell git -c safe.directory='*' describe --tags --always --dirty 2>/dev/null || echo unknown)
LINT   := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
SEED   ?= cmd/airtable-replay/demo/seed.yaml

# make demo ARGS=--once, make test ARGS='-run TestPress ./internal/replay'
ARGS   ?=

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the binary
	@scripts/need.sh certificates
	$(GO) build -trimpath -buildvcs=false -ldflags '-X main.release=$(VERSION)' -o $(BINARY) ./cmd/airtable-replay

.PHONY: demo
demo: build ## Postgres, sandbox and service in one; ARGS=--once plays the story and ends
	@DATABASE_URL= scripts/need.sh postgres
	$(BINARY) demo $(ARGS)

.PHONY: run
run: build ## the service, against DATABASE_URL and AIRTABLE_REPLAY_CONFIG
	$(BINARY) serve --migrate $(ARGS)

.PHONY: dev
dev: ## the demo, started anew whenever a source file changes
	@DATABASE_URL= scripts/need.sh postgres
	@scripts/dev.sh $(ARGS)

.PHONY: sandbox
sandbox: build ## the Airtable emulator alone, on SEED
	SERVICE_URL=$${SERVICE_URL:-http://127.0.0.1:8080} BUTTON_TOKEN=$${BUTTON_TOKEN:-none} $(BINARY) sandbox --seed $(SEED) $(ARGS)

.PHONY: test
test: ## every test, with the race detector
	@scripts/need.sh certificates compiler postgres node chromium pgbouncer curl
	CGO_ENABLED=1 $(GO) test -race -timeout 18m $(if $(ARGS),$(ARGS),./...)

.PHONY: race
race: ## hunt for races: every test three times, in random order
	@scripts/need.sh certificates compiler postgres node chromium pgbouncer curl
	CGO_ENABLED=1 $(GO) test -race -timeout 60m -shuffle=on -count=3 $(if $(ARGS),$(ARGS),./...)

.PHONY: bench
bench: ## print the performance budgets and where we stand
	@scripts/need.sh certificates postgres
	@GO='$(GO)' scripts/bench.sh $(ARGS)

.PHONY: golden
golden: ## rewrite the golden files of tests
	@scripts/need.sh certificates postgres
	@scripts/golden.sh

.PHONY: lint
lint: ## run the linters of .golangci.yml
	@scripts/need.sh certificates
	$(LINT) run $(if $(ARGS),$(ARGS),./...)

.PHONY: generate
generate: ## renew generated code
	$(GO) generate ./...

.PHONY: verify
verify: ## check that generated code and go.mod are current
	@scripts/verify.sh

.PHONY: clean
clean: ## remove what was built
	rm -rf bin dist
