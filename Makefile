# PerfLab. `make` lists the targets.

CLUSTER    ?= perflab
CACHE      := $(or $(PERFLAB_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/perflab)
export CLUSTER
export PERFLAB_CACHE := $(CACHE)

CONTROLLER_GEN_VERSION := v0.23.0
ACTIONLINT_VERSION     := v1.7.12
CRD_REF_DOCS_VERSION   := v0.3.0
GOLANGCI_LINT_VERSION  := v2.12.2
GOTESTSUM_VERSION      := v1.13.0
TOOLS          := $(CACHE)/tools
CONTROLLER_GEN := $(TOOLS)/controller-gen-$(CONTROLLER_GEN_VERSION)
ACTIONLINT     := $(TOOLS)/actionlint-$(ACTIONLINT_VERSION)
CRD_REF_DOCS   := $(TOOLS)/crd-ref-docs-$(CRD_REF_DOCS_VERSION)
GOLANGCI_LINT  := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)
export GOTESTSUM := $(TOOLS)/gotestsum-$(GOTESTSUM_VERSION)

# The linter caches results by content and path. All clones use the same path, so that they
# share the cache. One clone lints at a time.
export GOLANGCI_LINT_CACHE := $(CACHE)/lint/memory
LINT_TREE := $(CACHE)/lint/tree

# All compilations use the same flags, so that everything is compiled once for all clones. The
# linter runs the checks of go vet. Only debuggers need DWARF, which takes an eighth of the time
# and a fifth of the cache: to debug a test, compile it without these flags.
export CGO_ENABLED := 0
export GOFLAGS := $(if $(findstring -trimpath,$(GOFLAGS)),$(GOFLAGS),$(GOFLAGS) -trimpath -vet=off -gcflags=all=-dwarf=false)

# Repeats failures at the end, and records how long each test took.
GO_TEST = mkdir -p "$(CACHE)/ci/events" && $(GOTESTSUM) --format pkgname-and-test-fails --format-hide-empty-pkg --jsonfile "$(CACHE)/ci/events/$@.json" --

# The version of programs: the commit, so that two builds of it are equal.
VERSION  ?= $(shell git describe --tags --always --abbrev=12 --dirty 2>/dev/null)
# Without grpcnotrace gRPC links html/template, with which a program keeps every method of
# every type: a third of its size.
# Fewer garbage collections of the compiler save another twentieth of the time.
GO_BUILD = GOGC=400 go build -tags grpcnotrace -ldflags "-s -w -X perflab.dev/perflab/internal/version.stamp=$(VERSION)"
BIN      ?= bin
CI       := go run ./hack/ci

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

##@ Start here

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-zA-Z0-9_-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: tools ## Run a real experiment on a real cluster and write its report.
	hack/demo.sh

.PHONY: test
test: tools $(GOTESTSUM) ## Run the quick tests, which need no cluster (ten minutes).
	$(CI) run -tier test

.PHONY: test-all
test-all: ## Run all checks, on their own clusters (an hour and a half), and show how long each took.
	ALL=1 .ci/run

.PHONY: ci
ci: tools $(GOTESTSUM) ## Run the checks of a landing, on a cluster that is kept (ALL=1; ONLY=lint,e2e; BASE=commit).
	$(CI) run $(if $(ALL),-all) $(if $(ONLY),-only $(ONLY))

.PHONY: ci-plan
ci-plan: ## Show which checks make ci would run, and why (BASE=commit).
	@$(CI) plan $(if $(ALL),-all)

.PHONY: test-times
test-times: $(GOTESTSUM) ## Show how long each check and each slow test took here, and what it protects.
	@$(CI) times

.PHONY: tools
tools: ## Install the programs that the other targets need, or list missing ones.
	@hack/tools.sh

.PHONY: e2e
e2e: tools $(GOTESTSUM) ## Run the end-to-end tests on the local cluster, or on KUBECONFIG.
	hack/e2e.sh

.PHONY: e2e-effect
e2e-effect: tools $(GOTESTSUM) ## Detect an injected effect, and no other effect (half an hour).
	RUN=TestInjectedEffect hack/e2e.sh

.PHONY: day
day: tools ## Load the cluster with a compressed day, and detect an injected leak and restarts (an hour and a quarter).
	hack/examples.sh day
	go test ./cmd/perflab -run TestDayReportFindsInjectedFaults

.PHONY: e2e-argocd
e2e-argocd: tools $(GOTESTSUM) ## Run PerfLab with a real Argo CD, on its own cluster (a quarter of an hour).
	CLUSTER=$(CLUSTER)-argocd SUITE=argocd hack/e2e.sh

.PHONY: chaos
chaos: tools $(GOTESTSUM) ## Break a local cluster at random during experiments (CHAOS_FAULTS=100, CHAOS_SEED; two hours).
	TIME_LIMIT=5h CLUSTER=$(CLUSTER)-chaos CHAOS_FAULTS=$(or $(CHAOS_FAULTS),100) RUN='TestChaos$$' hack/e2e.sh

##@ Cluster

.PHONY: cluster-up
cluster-up: ## Create a Kubernetes cluster (kind, or local without Docker).
	hack/cluster/cluster.sh up

.PHONY: cluster-down
cluster-down: ## Delete the cluster, with everything that it left on the machine.
	hack/cluster/cluster.sh down

.PHONY: cluster-status
cluster-status: ## Show the cluster's status.
	hack/cluster/cluster.sh status

.PHONY: images
images: images-build ## Build the images and load changed ones into the cluster.
	hack/images/images.sh load

.PHONY: images-build
images-build: build ## Build the images.
	hack/images/images.sh build

.PHONY: image-keycloak
image-keycloak: ## Build Keycloak, the other sample system, and load it into the cluster.
	hack/images/images.sh load keycloak

.PHONY: image-load
image-load: ## Load your own image into the cluster (IMAGE=name:tag [ARCHIVE=file.tar | DOCKERFILE=directory]).
	@hack/images/images.sh give "$(IMAGE)" $(if $(ARCHIVE),--archive "$(ARCHIVE)",$(if $(DOCKERFILE),--dockerfile "$(DOCKERFILE)"))

.PHONY: deploy
deploy: ## Install the operator and its dependencies into the cluster.
	hack/deploy.sh

##@ Build

.PHONY: build
build: build-operator build-collector build-cli build-k6 build-emulators build-sample ## Build every program.

.PHONY: build-operator
build-operator: ## Build the operator.
	@$(MAKE) --no-print-directory build-one PROGRAM=manager

.PHONY: build-collector
build-collector: ## Build the collector, which samples servers during loads.
	@$(MAKE) --no-print-directory build-one PROGRAM=collector

.PHONY: build-cli
build-cli: ## Build perflab, the command line.
	@$(MAKE) --no-print-directory build-one PROGRAM=perflab

.PHONY: build-one
build-one:
	$(GO_BUILD) -o $(BIN)/$(PROGRAM) ./cmd/$(PROGRAM)

.PHONY: build-k6
build-k6: ## Build k6 with PerfLab's output.
	cd k6 && $(GO_BUILD) -o ../bin/k6 .

.PHONY: build-emulators
build-emulators: ## Build the emulators of the local cluster.
	$(GO_BUILD) -o bin/emulators ./test/emulators/cmd/emulators
	test/emulators/kafka/fetch.sh

.PHONY: build-sample
build-sample: ## Build the sample library system.
	mvn -q -B -f sample/pom.xml -DskipTests package

##@ Release

RELEASE = $(BIN)/release

.PHONY: release
release: $(RELEASE) ## Build a release in dist/ (VERSION=v0.1.0 REGISTRY=host/path DOWNLOAD=https://... JAVA_IMAGE=name@sha256:... KEY=cosign.key).
	$(RELEASE) build --version "$(if $(filter command environment,$(firstword $(origin VERSION))),$(VERSION))" $(if $(REGISTRY),--registry "$(REGISTRY)") $(if $(DOWNLOAD),--download "$(DOWNLOAD)") $(if $(JAVA_IMAGE),--java-image "$(JAVA_IMAGE)")
	@$(if $(KEY)$(SIGSTORE_ID_TOKEN),$(MAKE) --no-print-directory release-sign,echo "not signed: set KEY=cosign.key, or an identity in SIGSTORE_ID_TOKEN")

.PHONY: release-sign
release-sign: $(RELEASE) ## Sign a release (VERSION=v0.1.0 KEY=cosign.key; COSIGN_PASSWORD decrypts the key).
	$(RELEASE) sign "dist/$(VERSION)" $(if $(KEY),--key "$(KEY)") $(if $(SIGNING_CONFIG),--signing-config "$(SIGNING_CONFIG)")

.PHONY: release-push
release-push: $(RELEASE) ## Push a release's images and chart, with their signatures (VERSION=v0.1.0 REGISTRY=host/path).
	$(RELEASE) push "dist/$(VERSION)" --registry "$(REGISTRY)"

.PHONY: licences
licences: $(RELEASE) ## Check the licences of released programs, and NOTICE.
	$(RELEASE) licences

.PHONY: notice
notice: $(RELEASE) ## Write NOTICE.
	$(RELEASE) licences --write

.PHONY: vulnerabilities
vulnerabilities: $(RELEASE) ## Check released programs against Go's vulnerability database (GOVULNDB=file:///copy).
	$(RELEASE) vulnerabilities

.PHONY: $(RELEASE)
$(RELEASE):
	cd hack/release && go build -o $(abspath $(RELEASE)) .

##@ Test

.PHONY: test-go
test-go: $(GOTESTSUM) ## Test the operator and the emulators, against a real API server.
	# Without debug information a hundred test programs link in two thirds of the time, and API
	# servers with fewer garbage collections take four fifths of the time.
	GOGC=400 KUBEBUILDER_ASSETS="$$(hack/cluster/envtest.sh)"; export GOGC KUBEBUILDER_ASSETS; $(GO_TEST) -ldflags=-w -timeout 50m -parallel 6 ./api/... ./cmd/... ./controllers/... ./hack/ci ./hack/systems/... ./internal/... ./test/bench/... ./test/emulators/... ./test/extending ./test/published

.PHONY: test-whole
test-whole: $(GOTESTSUM) ## Test all cases of which test-go tests a third (PERFLAB_TEST_SEED selects another).
	GOGC=400 KUBEBUILDER_ASSETS="$$(hack/cluster/envtest.sh)"; PERFLAB_TEST_WHOLE=1; export GOGC KUBEBUILDER_ASSETS PERFLAB_TEST_WHOLE; \
	$(GO_TEST) -ldflags=-w -timeout 40m -parallel 6 -run 'TestFaults|DeletedAtAnyStep|TestForeignObjects' ./controllers

.PHONY: test-upgrade
test-upgrade: ## Upgrade from an earlier commit during experiments, and roll back to one (UPGRADE_FROM=, ROLLBACK_TO=).
	@hack/test-upgrade.sh

.PHONY: test-payload
test-payload: $(GOTESTSUM) ## Test the results' format.
	cd payload && $(GO_TEST) ./...

.PHONY: test-k6
test-k6: build-k6 $(GOTESTSUM) ## Test the k6 output and the scripts.
	cd k6 && $(GO_TEST) -parallel 8 ./...

.PHONY: fuzz
fuzz: ## Fuzz every parser (FUZZTIME=60s each, or 20000x for a number of inputs).
	hack/fuzz.sh

.PHONY: bench-topics
bench-topics: ## Measure how long 1,474 topics take in a real Kafka, compared to one request for each.
	test/emulators/kafka/fetch.sh
	go run ./test/bench/topics

.PHONY: bench-k6
bench-k6: ## Measure the cost of the k6 output, compared to none and others (ten minutes; TIME=30m; OUTPUTS=perflab,csv; needs Debian's prometheus).
	@case ",$(or $(OUTPUTS),experimental-prometheus-rw)," in *,experimental-prometheus-rw,*) command -v prometheus >/dev/null || \
	  { echo "bench-k6: prometheus is missing: apt-get install --no-install-recommends prometheus, or leave it out: OUTPUTS=perflab,json,csv" >&2; exit 1; };; esac
	@$(MAKE) --no-print-directory build-k6
	go run ./test/bench/k6 -time $(or $(TIME),9m) $(if $(OUTPUTS),-outputs $(OUTPUTS))

.PHONY: test-cluster
test-cluster: $(GOTESTSUM) ## Test the local cluster's own programs, and kind's scripts with stubs.
	cd hack/cluster && go test ./storage
	$(GO_TEST) -count=1 ./test/cluster

.PHONY: test-packaging
test-packaging: $(GOTESTSUM) ## Render and install the chart and config/, and check the dashboard.
	KUBEBUILDER_ASSETS="$$(hack/cluster/envtest.sh)"; export KUBEBUILDER_ASSETS; cd test/packaging && $(GO_TEST) ./...

.PHONY: test-release
test-release: $(GOTESTSUM) ## Build a release twice, in two places, and check its content.
	cd hack/release && $(GO_TEST) -timeout 60m ./...

.PHONY: test-install
test-install: ## Install a release from a registry on a new cluster, and run the demo to its verdict (RELEASE=dist/v0.1.0 REGISTRY=host/path).
	hack/test-install.sh

.PHONY: test-kind
test-kind: ## Run the demo and the tests of several nodes on kind, with a Docker engine and a node image that it makes from packages.
	test/kind/demo.sh

.PHONY: test-archive
test-archive: $(GOTESTSUM) ## Test the archive with a real S3 server, behind a proxy that injects faults, and with emulators.
	AZURITE="$$(hack/azurite.sh)"; export AZURITE; cd test/archive && $(GO_TEST) ./...

.PHONY: test-argocd
test-argocd: $(GOTESTSUM) ## Test health and differences with Argo CD's own code.
	cd test/argocd && $(GO_TEST) ./...

.PHONY: test-kueue
test-kueue: build-operator ## Test the admission of blocks with a real Kueue and API server (builds Kueue: ten minutes the first time).
	KUBEBUILDER_ASSETS="$$(hack/cluster/envtest.sh)" KUEUE="$$(hack/cluster/build.sh kueue)/kueue" \
	KUEUE_SOURCE="$$(cd hack/cluster/kueue && go mod download sigs.k8s.io/kueue && go list -m -f '{{.Dir}}' sigs.k8s.io/kueue)" \
	MANAGER="$(abspath $(BIN))/manager" go test -count=1 -v -tags kueue ./test/kueue

.PHONY: test-extending
test-extending: $(GOTESTSUM) ## Follow docs/extending.md in a copy of the project: add one thing of each kind.
	KUBEBUILDER_ASSETS="$$(hack/cluster/envtest.sh)"; export KUBEBUILDER_ASSETS; $(GO_TEST) -count=1 -tags extending -timeout 25m ./test/extending

.PHONY: test-sample
test-sample: build-k6 ## Test the sample library system with real PostgreSQL and Kafka, under k6's load.
	mvn -q -B -f sample/pom.xml verify

.PHONY: bench-stats
bench-stats: ## Verify the statistics with thousands of synthetic experiments (EXPERIMENTS=4000 per line).
	go run ./test/bench/stats -experiments $(or $(EXPERIMENTS),4000) -python "$$(test/bench/stats/otava.sh)"
	go test ./internal/inference/comparison ./internal/inference/analysis -run '^$$' -bench . -benchtime 5x

.PHONY: bench-archive
bench-archive: ## Measure the history of one series of a large archive (EXPERIMENTS=10000 for the full size; ARCHIVE=DIRECTORY keeps it; STRICT=1; FROM_OBJECTS=1).
	$(GO_BUILD) -o $(BIN)/perflab ./cmd/perflab
	cd test/archive && go run ./bench -perflab $(abspath $(BIN))/perflab $(if $(EXPERIMENTS),-experiments $(EXPERIMENTS)) $(if $(ARCHIVE),-dir $(abspath $(ARCHIVE))) $(if $(STRICT),-strict) $(if $(FROM_OBJECTS),-from-objects)

.PHONY: bench-scale
bench-scale: ## Measure how the operator's cost grows with its cluster (SIZE=small, medium or large; ONLY=demo,folio,pods,runs,hostile; RUNS=12; STRICT=1; MEMORY=256MiB; PATIENCE=1h).
	KUBEBUILDER_ASSETS="$$(hack/cluster/envtest.sh)" go run ./test/bench/scale -size $(or $(SIZE),small) $(if $(ONLY),-only $(ONLY)) $(if $(RUNS),-runs $(RUNS)) $(if $(STRICT),-strict) $(if $(MEMORY),-gomemlimit $(MEMORY)) $(if $(PATIENCE),-patience $(PATIENCE))

##@ Generated files and style

.PHONY: generate
generate: $(CONTROLLER_GEN) $(CRD_REF_DOCS) ## Generate deep copies, CRDs, roles and the references of API, reasons and values.
	$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt paths=./api/...
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=config/crd
	go run ./hack/crd config/crd/perflab.dev_*.yaml
	$(CONTROLLER_GEN) rbac:roleName=perflab-operator paths=./controllers/... paths=./internal/admission output:rbac:dir=config/rbac
	$(CRD_REF_DOCS) --log-level=ERROR --max-depth=30 --source-path=api/v1alpha1 --config=hack/api/config.yaml --templates-dir=hack/api/templates --renderer=markdown --output-path=docs/api.md
	go run ./hack/reasons > docs/reasons.md.new && mv docs/reasons.md.new docs/reasons.md
	go run ./hack/chartdoc > charts/perflab/README.md.new && mv charts/perflab/README.md.new charts/perflab/README.md

.PHONY: systems
systems: ## Generate config/systems from published tables (DATA=directory of modules-*.csv).
	@for system in quesnelia mcpt poppy; do \
	  go run ./hack/systems -modules $(DATA)/modules-$$system.csv -base hack/systems/folio-$$system.yaml > config/systems/folio-$$system.yaml || exit 1; \
	done

.PHONY: verify
verify: generate ## Check that generated files and module files are current.
	go mod tidy -diff
	cd payload && go mod tidy -diff
	cd k6 && go mod tidy -diff
	cd test/packaging && go mod tidy -diff
	cd test/archive && go mod tidy -diff
	cd test/argocd && go mod tidy -diff
	cd hack/release && go mod tidy -diff
	@git diff --exit-code -- api config docs/api.md docs/reasons.md charts/perflab/README.md || { echo "generated files are out of date: run make generate and commit"; exit 1; }

.PHONY: site
site: ## Build the documentation as a site in site/, and check its links.
	hack/site.sh

.PHONY: lint
lint: $(GOLANGCI_LINT) $(ACTIONLINT) ## Check the style of code and texts.
	# One clone at a time: the tree is a link to it, so that the cache is shared.
	mkdir -p "$(CACHE)/lint"; exec 9> "$(CACHE)/lint/lock"; flock 9; ln -sfn "$(CURDIR)" "$(LINT_TREE)"; \
	for module in . payload k6 test/packaging test/archive test/argocd hack/release; do \
	  (cd "$(LINT_TREE)/$$module" && $(GOLANGCI_LINT) run --allow-parallel-runners --config "$(LINT_TREE)/.golangci.yml" ./...); \
	done
	hack/shellcheck.sh
	hack/eslint.sh
	$(ACTIONLINT)
	hack/prose.sh

$(CONTROLLER_GEN):
	GOBIN=$(TOOLS)/install go install sigs.k8s.io/controller-tools/cmd/controller-gen@$(CONTROLLER_GEN_VERSION)
	mv $(TOOLS)/install/controller-gen $@

$(ACTIONLINT):
	GOBIN=$(TOOLS)/install go install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)
	mv $(TOOLS)/install/actionlint $@

$(CRD_REF_DOCS):
	GOBIN=$(TOOLS)/install go install github.com/elastic/crd-ref-docs@$(CRD_REF_DOCS_VERSION)
	mv $(TOOLS)/install/crd-ref-docs $@

$(GOTESTSUM):
	GOBIN=$(TOOLS)/install go install gotest.tools/gotestsum@$(GOTESTSUM_VERSION)
	mv $(TOOLS)/install/gotestsum $@

$(GOLANGCI_LINT):
	GOBIN=$(TOOLS)/install go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv $(TOOLS)/install/golangci-lint $@
