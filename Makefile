# Swapkeep. The commands that matter: make demo, make test, make check.

VERSION   := 0.1.0
GO        := go
BUILD     := $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"
CONTRACTS := build/contracts/.made
PEER      := bench/node/node_modules/.package-lock.json
PAGES     := extension/node_modules/.package-lock.json
SOURCES    = $(shell find . -name '*.go' -not -path './build/*' -not -path '*/node_modules/*') go.mod go.sum

# As releases are built, and one set of compiled packages less. The race detector
# needs cgo.
export CGO_ENABLED := 0
RACE := CGO_ENABLED=1 $(GO) test -race

.PHONY: in-chromium in-firefox build demo test check vet unit race hostile keyring hosted crash doctor pages browsers screenshots extension unpacked contracts bench fuzz man packages packages-test generate clean

build: bin/swapkeep bin/swapkeepd bin/swapkeep-server bin/swapkeep-sandbox

bin/%: $(SOURCES)
	$(BUILD) -o $@ ./cmd/$*

# The main job on embedded defaults, against a sandbox of local chains.
demo: build contracts
	@bin/swapkeep-sandbox demo --bin bin --contracts build/contracts

# Everything, as CI runs it. Installs what is missing, or names it and stops.
test:
	@scripts/setup.sh
	@$(MAKE) --no-print-directory contracts build vet pages race hostile keyring hosted crash doctor browsers
	@scripts/demo-test.sh
	@echo "all tests passed"

# The fast part, Go only.
check: contracts vet unit

vet:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "run gofmt -w on these"; exit 1; }
	@$(GO) vet ./...
	@$(GO) vet -tags faults,keyring,browser,hosted,packages ./...
	@GOOS=windows $(GO) vet ./cmd/swapkeep ./cmd/swapkeepd
	@GOOS=darwin $(GO) vet ./cmd/swapkeep ./cmd/swapkeepd
	@$(GO) tool staticcheck ./...

unit:
	@$(GO) test -skip '^TestHostile' ./...

# All but keys, which keyring runs whole, and the price service on a sandbox, whose
# faults are waits that the race detector makes longer.
race:
	$(RACE) -skip '^TestHostile' $$($(GO) list ./... | grep -v -e /keys -e '/priceapi$$')
	$(GO) test -count=1 ./priceapi

# Every provider against lies in every leaf of its replies, and by name; a line for
# each says how many. Not under the race detector: tens of thousands of lies, one
# after the other, race with nobody.
LIES := $(CURDIR)/build/hostile.txt
hostile:
	@mkdir -p $(dir $(LIES)) && rm -f $(LIES)
	@SWAPKEEP_REPORT=$(LIES) $(GO) test -count=1 -run '^TestHostile' $(patsubst %/,./%,$(dir $(wildcard providers/*/conformance_test.go)))
	@sort $(LIES)

# The vault against a real Secret Service.
keyring:
	CGO_ENABLED=1 scripts/with-keyring.sh $(GO) test -race -tags keyring -count=1 ./keys/...

# The hosted price API on a real PostgreSQL and Redis, which the tests start and end.
hosted:
	$(RACE) -tags hosted -count=1 ./priceapi/postgres ./priceapi/shared
	$(GO) test -tags hosted -count=1 -run 'Hosted|Poller|Backends|Limits|APIKeys|ForPrices|OverTLS' ./cmd/swapkeep-server

# The real daemon, killed at every named point; with EVERY=1 at every passage of each.
crash:
	$(GO) test -tags faults -count=1 -v -timeout $(if $(EVERY),120m,25m) ./test/crash/... $(if $(EVERY),-args -every)

# Broken installations, each examined and mended by the real program. Fault builds take
# a folder for the root of the system. What a machine does not let run says so.
doctor:
	$(GO) test -tags faults -count=1 -v -run '^TestDoctor' ./cmd/swapkeep

# The extension's own half: types, unit tests, packages that stores take, their lint.
pages: extension
	cd extension && npx --no-install tsc --noEmit && npx --no-install vitest run
	cd extension && npx --no-install web-ext lint --no-config-discovery --source-dir ../build/extension/firefox
	cd extension && node build/build.mjs --zip --out ../build/extension-again
	@for f in build/extension/*.zip; do cmp $$f build/extension-again/$$(basename $$f) || exit 1; done; rm -r build/extension-again
	@echo "two builds of each package are the same"

# Both browsers' packages, into build/extension; the same source gives the same bytes.
extension: $(PAGES)
	@test "$$(node -p 'require("./extension/package.json").version')" = $(VERSION) || { echo "extension/package.json is not of version $(VERSION)"; exit 1; }
	cd extension && node build/build.mjs --zip --out ../build/extension

# The same with the identity of a development installation, to be loaded unpacked.
unpacked: $(PAGES)
	cd extension && node build/build.mjs --development

$(PAGES): extension/package-lock.json
	cd extension && npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

# Real Chromium and Firefox, with the real host, Secret Service and sandbox: both
# at once, since each waits more than it works.
BROWSERS = scripts/with-keyring.sh $(GO) test -tags browser -count=1 -p 1 -timeout 20m
browsers: build contracts $(PAGES)
	@$(MAKE) --no-print-directory -j2 --output-sync=target in-chromium in-firefox

in-chromium in-firefox: in-%:
	$(BROWSERS) -v -run '/^$*$$' ./test/browser/... -args -bin=$(CURDIR)/bin

# Every screen and state of the popup in both themes, into build/screenshots.
screenshots: build contracts $(PAGES)
	SWAPKEEP_SCREENSHOTS=$(CURDIR)/build/screenshots $(BROWSERS) -run '^TestScreenshots$$' ./test/browser/... -args -bin=$(CURDIR)/bin

# The sandbox's contracts, from their published packages and our Solidity.
contracts: $(CONTRACTS)

$(CONTRACTS): sandbox/contracts/package-lock.json sandbox/contracts/extract.mjs $(wildcard sandbox/contracts/*.sol)
	cd sandbox/contracts && npm ci --ignore-scripts --no-audit --no-fund --silent
	node sandbox/contracts/extract.mjs build/contracts
	@touch $@

# Beside peers and limits, in one run; a missed goal is printed and no failure.
# JSON=file writes the rows too. Without cgo, as releases are built.
bench: bin/swapkeep bin/swapkeepd bin/swapkeep-sandbox $(PEER) contracts extension
	@$(GO) run ./bench $(if $(JSON),-json $(JSON))

$(PEER): bench/node/package-lock.json
	cd bench/node && npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

# Every fuzz target, one after the other, for FUZZTIME each: 60s unless said
# otherwise. FUZZSHARE=1/3 runs the first third of them.
FUZZTIME ?= 60s
FUZZSHARE ?= 1/1
fuzz:
	scripts/fuzz.sh $(FUZZTIME) $(FUZZSHARE)

# Manual pages of every command.
man: bin/swapkeep
	@mkdir -p build/man
	bin/swapkeep man --dir build/man

# Packages for every system, into build/packages: the same commit gives the same bytes, and
# what is not committed is marked.
# packaging/README.md names what it needs and takes.
NFPM := $(CURDIR)/build/tools/nfpm
packages: $(NFPM)
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} $(GO) run ./packaging/build -version $(VERSION) -nfpm $(NFPM) \
		$(if $(shell git status --porcelain 2>/dev/null),-dirty) -out build/packages -url "$(RELEASE_URL)" -chromium-ids "$(CHROMIUM_IDS)" -firefox-ids "$(FIREFOX_IDS)"

# Built twice and compared; installed here (as root) with real browsers, and under wine.
# Not part of make test: it takes minutes, and wine half a gigabyte.
packages-test: $(NFPM)
	$(GO) test -tags packages -count=1 ./packaging/build
	$(GO) test -tags packages,browser -count=1 -v -timeout 45m ./test/packages -args -nfpm=$(NFPM)

$(NFPM): packaging/tools/go.mod packaging/tools/go.sum
	cd packaging/tools && $(GO) build -trimpath -o $@ github.com/goreleaser/nfpm/v2/cmd/nfpm

generate:
	$(GO) generate ./...

clean:
	rm -rf bin build extension/dist extension/node_modules sandbox/contracts/node_modules bench/node/node_modules
