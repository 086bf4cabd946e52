# Swapkeep. The commands that matter: make demo, make test, make check.

VERSION   := 0.1.0
GO        := go
BUILD     := $(GO) build -ldflags "-s -w -X main.version=$(VERSION)"
CONTRACTS := build/contracts/.made
PEER      := bench/node/node_modules/.package-lock.json
PAGES     := extension/node_modules/.package-lock.json
VENDORS   := test/vendors/node_modules/.package-lock.json
PACKED    := build/extension/swapkeep-firefox-$(VERSION).zip
SOURCES    = $(shell find . -name '*.go' -not -path './build/*' -not -path '*/node_modules/*') go.mod go.sum

# Releases are built without cgo. Building tests the same way lets them share compiled
# packages. Only the race detector needs cgo.
export CGO_ENABLED := 0
# The same flag for tests and programs, so that they share compiled packages.
export GOFLAGS := $(strip $(filter-out -trimpath,$(GOFLAGS)) -trimpath)
# The Go runtime erases secrets from memory (internal/zeroize). Without it TestErases fails.
export GOEXPERIMENT := runtimesecret
# Without the vet that go test runs: stage vet runs all of it, and for the race detector it would
# read every dependency once more.
RACE := CGO_ENABLED=1 $(GO) test -race -vet=off

.PHONY: dialogs in-chromium in-firefox in-load in-popup plain demo-test release-check crash-all long-torture build demo test check vet unit race hostile keyring hosted crash doctor pages vendors browsers screenshots extension unpacked contracts bench bench-asked bench-short fuzz fuzz-pages fuzz-short soak load guesses audit torture hostile-popup fire in-torture in-soak man packages packages-test generate clean

build: bin/swapkeep bin/swapkeepd bin/swapkeep-server bin/swapkeep-sandbox

bin/%: $(SOURCES)
	$(BUILD) -o $@ ./cmd/$*

# Seven swaps against a sandbox of local chains.
demo: build contracts
	@bin/swapkeep-sandbox demo --bin bin --contracts build/contracts --with-keyring scripts/with-keyring.sh

# Everything; CI runs the same. Installs missing tools, or names them and stops. Two stages
# run at a time, each with one package at a time, because most of them wait more than they
# work. Then the stages that measure the machine run alone. A table of all stages is last.
STAGES := race in-chromium in-firefox crash in-torture plain hostile doctor vet keyring pages hosted vendors in-soak dialogs in-popup fuzz-short demo-test
ALONE  := in-load bench-short
STAGE  := $(CURDIR)/build/stages
test:
	@scripts/setup.sh
	@rm -rf $(STAGE)
	@$(MAKE) --no-print-directory contracts build $(PAGES) $(VENDORS)
	@$(MAKE) --no-print-directory -j2 --output-sync=target $(STAGES:%=stage-%) && $(MAKE) --no-print-directory $(ALONE:%=stage-%) || { scripts/stage.sh $(STAGE); exit 1; }
	@scripts/stage.sh $(STAGE)
	@echo "all tests passed"

stage-%:
	@GOFLAGS="$$GOFLAGS -p=1" scripts/stage.sh $(STAGE) $* $(MAKE) --no-print-directory $*

demo-test: build contracts
	@scripts/demo-test.sh

# Before a release: the tests that take too long for make test. A table of all is last.
RELEASE := crash-all long-torture soak load guesses hostile-popup fuzz fuzz-pages bench packages-test audit
release-check:
	@scripts/setup.sh
	@rm -rf $(STAGE)
	@for stage in $(RELEASE); do $(MAKE) --no-print-directory stage-$$stage; done; scripts/stage.sh $(STAGE)

crash-all:
	@$(MAKE) --no-print-directory crash EVERY=1

long-torture:
	@$(MAKE) --no-print-directory torture ROUNDS=50

# The fast tests, Go only.
check: contracts vet unit

vet:
	@$(GO) build -o build/tools/crossvet ./test/crossvet
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "run gofmt -w on these"; exit 1; }
	@$(GO) vet ./...
	@$(GO) vet -tags faults,man,keyring,browser,hosted,packages,vendors,display ./...
	@for system in windows darwin; do GOOS=$$system build/tools/crossvet $$(GOOS=$$system $(GO) list -deps ./cmd/swapkeep ./cmd/swapkeepd | grep ^swapkeep/) || exit 1; done
	@$(GO) tool staticcheck ./...

unit:
	@$(GO) test -skip '^TestHostile' ./...

# The packages that users run and that start goroutines, under the race detector;
# test/graph checks this list. Without the hostile suites and the commands' scripts, which
# run other processes. Stage keyring races keys, and hosted the hosted price API's own
# packages, both against real services.
RACED := chain confirm cmd/swapkeep cmd/swapkeepd cmd/swapkeep-server host host/client host/frame host/owner host/relay host/transport \
	listen live priceapi/onchain priceapi/poll priceapi/series priceapi/source priceapi/web \
	providers/bridge providers/gasless providers/intent providers/keyproxy providers/wire rest swap/engine swap/plan
# Of these, the ones with tests that the race detector leaves out because they stay in one
# goroutine (SKIP_ONE_GOROUTINE): plain runs them whole.
WHOLE := swap/engine
# Tests that race with nobody in their own process: they watch other processes, search
# memory, or try thousands of cases one after the other. The packages that have such tests.
UNRACED := ^TestScripts$$|^TestPlantedSecrets|^TestTerminalIsLeft|^TestNothingOfTheWireIsLeftInMemory$$|^TestLies$$|^TestModel$$|^TestConformance$$
UNRACED_IN := cmd/swapkeep cmd/swapkeepd priceapi/series priceapi/source providers/bridge providers/gasless providers/intent
race:
	SKIP_ONE_GOROUTINE=1 $(RACE) -timeout 20m -skip '^TestHostile|$(UNRACED)' $(RACED:%=./%)

# All other packages, and what race leaves out. -count=1: else go test lets each process write a
# log, which fails while the engine's model has a full disk.
plain:
	$(GO) test -count=1 -timeout 20m -skip '^TestHostile' $$($(GO) list ./... | grep -vxF -e swapkeep/keys $(RACED:%=-e swapkeep/%)) $(WHOLE:%=./%)
	$(GO) test -timeout 20m -run '$(UNRACED)' $(UNRACED_IN:%=./%)

# Every provider against lies in every field of its replies, and against named attacks; and the
# real engine against payments that a provider names falsely. A line for each provider says how
# many, and one for each such payment what was seen. Not under the race detector: the lies run
# one after the other.
LIES := $(CURDIR)/build/hostile.txt
hostile: contracts
	@mkdir -p $(dir $(LIES)) && rm -f $(LIES)
	@SWAPKEEP_REPORT=$(LIES) $(GO) test -count=1 -run '^TestHostile' $(patsubst %/,./%,$(dir $(wildcard providers/*/conformance_test.go))) ./test/hostile
	@sort $(LIES)

# The vault against a real Secret Service.
# Searches of memory and slow key derivations race with nobody.
DERIVING := ^TestNothingIsLeft|Keystore|^TestExport$$|^TestAccountsOfTheTestMnemonic$$
keyring:
	CGO_ENABLED=1 scripts/with-keyring.sh $(GO) test -race -vet=off -tags keyring -count=1 -skip '$(DERIVING)' ./keys/...
	scripts/with-keyring.sh $(GO) test -tags keyring -count=1 -run '$(DERIVING)' ./keys/...

# The programs that show dialogs, on an X server that the test starts.
dialogs:
	$(GO) test -tags display -count=1 -v -run '^TestRealDialogs$$' ./confirm/dialog

# The hosted price API on a real PostgreSQL and Redis, which the tests start and stop.
hosted:
	$(RACE) -tags hosted -count=1 ./priceapi/postgres ./priceapi/shared
	$(GO) test -tags hosted -count=1 -run 'Hosted|Poller|Backends|Limits|APIKeys|ForPrices|OverTLS' ./cmd/swapkeep-server

# The real daemon, killed at every failpoint; with EVERY=1 at each hit of each failpoint.
crash:
	$(GO) test -tags faults -count=1 -v -timeout $(if $(EVERY),120m,25m) ./test/crash/... $(if $(EVERY),-args -every)

# Broken installations, each examined and fixed by the real doctor, in a folder that a
# fault build takes for the system's root. A test that this machine cannot run says so. And the
# manual pages, which a build with the tag man can write.
doctor:
	$(GO) test -tags faults,man -count=1 -v -run '^TestDoctor|^TestManual$$' ./cmd/swapkeep

# The extension alone: types, unit tests, packages for the stores, the stores' lint.
pages: extension
	cd extension && npx --no-install tsc --noEmit && npx --no-install vitest run
	cd extension && npx --no-install web-ext lint --no-config-discovery --source-dir ../build/extension/firefox
	cd extension && node build/check.mjs ../build/extension
	cd extension && node build/build.mjs --zip --out ../build/extension-again
	@for f in build/extension/*.zip; do cmp $$f build/extension-again/$$(basename $$f) || exit 1; done; rm -r build/extension-again
	@echo "two builds of each package are the same"

# The services' own packages against our simulators, orders and pins. Prints what was
# compared and how often. Once installed, it uses no network.
COMPARED := $(CURDIR)/build/vendors.txt
vendors: contracts $(VENDORS)
	@mkdir -p $(dir $(COMPARED)) && rm -f $(COMPARED)
	@SWAPKEEP_REPORT=$(COMPARED) $(GO) test -tags vendors -count=1 -run '^TestVendors' ./test/vendors ./providers/dex ./priceapi/onchain
	@sort $(COMPARED)

$(VENDORS): test/vendors/package-lock.json
	cd test/vendors && npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

# Both browsers' packages, into build/extension; the same source gives the same bytes.
# It always builds, because make cannot see changes of the build's variables
# (extension/build/variables.mjs).
extension: $(PAGES)
	@test "$$(node -p 'require("./extension/package.json").version')" = $(VERSION) || { echo "extension/package.json is not of version $(VERSION)"; exit 1; }
	cd extension && node build/build.mjs --zip --out ../build/extension

# The packages for the benchmarks, which only measure them: built if a file is newer.
$(PACKED): $(PAGES) $(shell find extension/src extension/messages extension/manifest extension/icons extension/build) extension/vite.config.ts extension/package.json
	@$(MAKE) --no-print-directory extension

# The extension with its development identity, to load unpacked.
unpacked: $(PAGES)
	cd extension && node build/build.mjs --development

$(PAGES): extension/package-lock.json
	cd extension && npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

# Real Chromium and Firefox, with the real host, Secret Service and sandbox. Both at once,
# because each waits more than it works.
BROWSERS = scripts/with-keyring.sh $(GO) test -tags browser -count=1 -p 1 -timeout 20m
browsers: build contracts $(PAGES)
	@$(MAKE) --no-print-directory -j2 --output-sync=target in-chromium in-firefox

in-chromium in-firefox: in-%:
	$(BROWSERS) -v -run '/^$*$$' ./test/browser/... -args -bin=$(CURDIR)/bin

# Every screen and state of the popup in both themes, into build/screenshots.
screenshots: build contracts $(PAGES)
	SWAPKEEP_SCREENSHOTS=$(CURDIR)/build/screenshots $(BROWSERS) -run '^TestScreenshots$$' ./test/browser/... -args -bin=$(CURDIR)/bin

# The sandbox's contracts, from published packages and our own Solidity.
contracts: $(CONTRACTS)

$(CONTRACTS): sandbox/contracts/package-lock.json sandbox/contracts/extract.mjs $(wildcard sandbox/contracts/*.sol)
	cd sandbox/contracts && npm ci --ignore-scripts --no-audit --no-fund --silent
	node sandbox/contracts/extract.mjs build/contracts
	@touch $@

# Compares with other software and with the limits, in one run. A missed goal is printed
# and is no failure. JSON=file also writes the rows, CURVES=directory draws the curves,
# MARKDOWN=file puts both between its marks, ONLY=words measures only what has these words
# in its name. Without cgo, as releases are built.
BENCH = $(GO) run ./bench $(if $(SHORT),-short) $(if $(ONLY),-only "$(ONLY)") $(if $(JSON),-json "$(JSON)") $(if $(CURVES),-curves "$(CURVES)") $(if $(MARKDOWN),-markdown "$(MARKDOWN)")
bench: bench-asked bin/swapkeep bin/swapkeepd bin/swapkeep-sandbox $(PEER) contracts $(PACKED)
	@$(BENCH)

# Checks ONLY and MARKDOWN before anything is built.
bench-asked:
	@$(if $(ONLY)$(MARKDOWN),$(BENCH) -check)

# Few samples of each row and curve, no browsers: does every benchmark still run?
bench-short:
	@$(MAKE) --no-print-directory bench SHORT=1 CURVES=build/curves

$(PEER): bench/node/package-lock.json
	cd bench/node && npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

# Every fuzz target for FUZZTIME, FUZZJOBS packages at once, with one worker each; a table at
# the end. FUZZTIME=1000x means a thousand executions, FUZZSHARE=1/3 the first third of the
# targets; FUZZONLY is a pattern of package.Target. With FUZZOWN=1 only the coverage of our own
# packages guides the fuzzer, which saves compiling the others once more.
FUZZTIME ?= 60s
FUZZSHARE ?= 1/1
FUZZJOBS ?= 2
fuzz: contracts
	@$(GO) run ./test/fuzz -time $(FUZZTIME) -share $(FUZZSHARE) -jobs $(FUZZJOBS) $(if $(FUZZOWN),-own) -only '$(FUZZONLY)'

# The extension's decoders on FUZZRUNS texts each, made from their corpus with FUZZSEED.
FUZZRUNS ?= 20000
FUZZSEED ?= $$(date +%s)
fuzz-pages: $(PAGES)
	cd extension && FUZZ_RUNS=$(FUZZRUNS) FUZZ_SEED=$(FUZZSEED) npx --no-install vitest run fuzz

# A thousand executions of each target in one quarter of them; the commit decides which. go
# test runs the whole committed corpus anyway.
fuzz-short:
	@$(MAKE) --no-print-directory fuzz FUZZOWN=1 FUZZTIME=1000x FUZZSHARE=$$((0x$$(git rev-parse --short=4 HEAD 2>/dev/null || echo 0) % 4 + 1))/4

# Users swap while everything goes wrong; then the results are compared with chains, providers
# and journal. ROUNDS of SWAPS each, generated from SEED. ROUND=16 repeats one round (with the
# same SEED and SWAPS); KEEP=folder keeps the homes of rounds with findings.
ROUNDS ?= 6
SWAPS ?= 40
torture: contracts
	$(GO) test -tags faults -count=1 -v -timeout 5h ./test/torture -args -rounds $(ROUNDS) -swaps $(SWAPS) $(if $(SEED),-seed $(SEED)) $(if $(ROUND),-only $(ROUND)) $(if $(KEEP),-keep $(abspath $(KEEP)))

# A malicious script in the popup, with an open session over a real relay: what it can take,
# in dollars. Fails if that exceeds the bound. Plays HOURS of a day. PROGRAMS=folder tests other
# programs, built with the tag faults. SHORT=1 plays one hour with all attempts together, and
# none separately.
HOURS ?= 2
hostile-popup: contracts
	@$(GO) run -tags faults ./test/hostilepopup -hours $(HOURS) $(if $(SHORT),-short) $(if $(PROGRAMS),-bin "$(PROGRAMS)")

# The short forms of the stress tests, as make test runs them. The first two run together,
# because they wait more than they work.
fire: contracts
	@$(MAKE) --no-print-directory -j2 --output-sync=target in-torture in-soak
	@$(MAKE) --no-print-directory in-load in-popup fuzz-short bench-short

in-load:
	@$(MAKE) --no-print-directory load LOAD=short

in-popup:
	@$(MAKE) --no-print-directory hostile-popup SHORT=1

in-torture:
	@$(MAKE) --no-print-directory torture ROUNDS=2 SWAPS=20

in-soak:
	@$(MAKE) --no-print-directory soak SOAK=2h

# The real daemon through a day of its own time, in minutes, with a user swapping. SOAK=2h
# for less. REPORT=file appends the tables to a file.
SOAK ?= 24h
REPORTED = $(if $(REPORT),"-report=$$(realpath -m -- "$(REPORT)")")
soak: contracts
	$(GO) test -tags faults -count=1 -v -timeout 40m -run 'TestSoak|TestJudge|TestRefused' ./test/soak -args -soak=$(SOAK) $(REPORTED)
	$(GO) test -tags faults -count=1 ./internal/clock

# Load: 50 relays, a thousand open orders, clients that do not read. LOAD=short is a tenth.
load: contracts
	$(if $(filter-out short,$(LOAD)),$(error LOAD=$(LOAD): want short, or nothing for the whole))
	$(GO) test -tags faults -count=1 -v -timeout 20m -run '^TestLoad' ./test/soak -args $(if $(filter short,$(LOAD)),-short-load) $(REPORTED)
	$(GO) test -count=1 -v -run '^TestManyClientsThatDoNotRead$$' ./priceapi/web -args -whole

# The real daemon while GUESSERS programs guess its password without pause: is every right
# password still accepted? More than 56 guessers would leave no connection free.
GUESSERS ?= 8
RIGHTS ?= 100
guesses:
	$(GO) test -count=1 -v -timeout 3h -run '^TestGuessingLocksNobodyOut$$' ./cmd/swapkeepd -args -guessers=$(GUESSERS) -rights=$(RIGHTS)

# The modules that the programs link, and direct dependencies with newer versions. The
# latter needs the network.
audit:
	@scripts/audit.sh

# Manual pages of every command.
man:
	@mkdir -p build/man
	$(BUILD) -tags man -o build/tools/swapkeep-man ./cmd/swapkeep
	build/tools/swapkeep-man man --dir build/man

# Packages for every system, into build/packages. The same commit gives the same bytes;
# uncommitted changes are marked. packaging/README.md says what it needs.
NFPM := $(CURDIR)/build/tools/nfpm
packages: $(NFPM)
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} $(GO) run ./packaging/build -version $(VERSION) -nfpm $(NFPM) \
		$(if $(shell git status --porcelain 2>/dev/null),-dirty) -out build/packages -url "$(RELEASE_URL)" -chromium-ids "$(CHROMIUM_IDS)" -firefox-ids "$(FIREFOX_IDS)"

# Builds all packages twice and compares them, installs them here (as root) with real
# browsers, and under wine. Not part of make test: takes minutes, and wine half a gigabyte.
packages-test: $(NFPM)
	$(GO) test -tags packages -count=1 ./packaging/build
	$(GO) test -tags packages,browser -count=1 -v -timeout 45m ./test/packages -args -nfpm=$(NFPM)

$(NFPM): packaging/tools/go.mod packaging/tools/go.sum
	cd packaging/tools && $(GO) build -o $@ github.com/goreleaser/nfpm/v2/cmd/nfpm

generate:
	$(GO) generate ./...

clean:
	rm -rf bin build extension/dist extension/node_modules sandbox/contracts/node_modules bench/node/node_modules test/vendors/node_modules
