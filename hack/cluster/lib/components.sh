# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The programs of the clusters: the source of each, and how to build it.
#
# A Go module pins the version of each and, in go.sum, every byte. Programs whose libraries
# agree share one, so that common packages are compiled once: hack/cluster (Kubernetes, and
# programs with its libraries) and hack/cluster/addons (newer ones); the others have
# hack/cluster/NAME. A build is in $CACHE/bin/NAME-VERSION-HASH/, with HASH over all inputs.

# In the order in which a cluster needs them.
LOCAL_COMPONENTS=(kube etcd pause coredns storage metrics-server cloudnative-pg)
COMPONENTS=("${LOCAL_COMPONENTS[@]}" kubectl kubeadm kind helm argocd kueue registry)

# kube is one binary with these names.
KUBE_PROGRAMS=(kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl)

# component_root NAME: the directory of its Go module.
component_root() {
  case $1 in
    metrics-server | cloudnative-pg) echo "$ROOT/hack/cluster/addons" ;;
    kind | helm | argocd | kueue | registry) echo "$ROOT/hack/cluster/$1" ;;
    *) echo "$ROOT/hack/cluster" ;;
  esac
}

# component_module NAME: the module whose version names the build; empty for our own programs.
component_module() {
  case $1 in
    kube | kubectl | kubeadm) echo k8s.io/kubernetes ;;
    etcd) echo go.etcd.io/etcd/server/v3 ;;
    coredns) echo github.com/coredns/coredns ;;
    metrics-server) echo sigs.k8s.io/metrics-server ;;
    cloudnative-pg) echo github.com/cloudnative-pg/cloudnative-pg ;;
    kind) echo sigs.k8s.io/kind ;;
    helm) echo helm.sh/helm/v3 ;;
    argocd) echo github.com/argoproj/argo-cd/v3 ;;
    kueue) echo sigs.k8s.io/kueue ;;
    registry) echo github.com/distribution/distribution/v3 ;;
    storage | pause) ;;
    *) die "unknown component \"$1\": choose from ${COMPONENTS[*]}" ;;
  esac
}

# component_package NAME: the package to build, for go build.
component_package() {
  case $1 in
    etcd) echo go.etcd.io/etcd/server/v3 ;;
    metrics-server) echo sigs.k8s.io/metrics-server/cmd/metrics-server ;;
    cloudnative-pg) echo github.com/cloudnative-pg/cloudnative-pg/cmd/manager ;;
    kind) echo sigs.k8s.io/kind ;;
    helm) echo helm.sh/helm/v3/cmd/helm ;;
    argocd) echo github.com/argoproj/argo-cd/v3/cmd ;;
    kueue) echo sigs.k8s.io/kueue/cmd/kueue ;;
    registry) echo github.com/distribution/distribution/v3/cmd/registry ;;
    *) echo "./$1" ;;
  esac
}

# component_version NAME: the version pinned in go.mod, or "dev".
component_version() {
  local module
  module=$(component_module "$1")
  [[ -n $module ]] || { echo dev; return; }
  awk -v module="$module" '
    $1 == module { print $2; exit }
    $1 == "require" && $2 == module { print $3; exit }' "$(component_root "$1")/go.mod"
}

component_ldflags() {
  local version
  version=$(component_version "$1")
  case $1 in
    kube | kubectl | kubeadm)
      local prefix=k8s.io/component-base/version minor=${version#v1.}
      echo "-s -w -X $prefix.gitVersion=$version -X $prefix.gitMajor=1 -X $prefix.gitMinor=${minor%%.*} -X $prefix.gitTreeState=clean"
      ;;
    metrics-server) echo "-s -w -X sigs.k8s.io/metrics-server/pkg/version.gitVersion=$version" ;;
    cloudnative-pg) echo "-s -w -X github.com/cloudnative-pg/cloudnative-pg/pkg/versions.buildVersion=${version#v}" ;;
    *) echo "-s -w" ;;
  esac
}

# component_hash NAME: changes exactly if the inputs of the build change.
component_hash() {
  local module inputs
  module=$(component_root "$1")
  inputs=("$module/go.mod" "$module/go.sum")
  [[ ! -d $ROOT/hack/cluster/$1 ]] || inputs+=("$ROOT/hack/cluster/$1")
  {
    (cd "$module" && go env GOVERSION GOOS GOARCH)
    component_ldflags "$1"
    declare -f component_arrange
    find "${inputs[@]}" -maxdepth 1 -type f \( -name '*.go' ! -name '*_test.go' -o -name 'go.*' \) | LC_ALL=C sort -u | xargs sha256sum | sed "s|$ROOT/||"
  } | sha256sum | cut -c1-12
}

# component_dir NAME: the directory of its build.
component_dir() {
  component_module "$1" >/dev/null
  local hash
  hash=$(component_hash "$1")
  echo "$CACHE/bin/$1-$(component_version "$1")-$hash"
}

# component_build NAME: builds it unless it exists, and prints its directory.
component_build() {
  have go || die "Go is missing: install Go 1.26 or newer (https://go.dev/dl)"
  local dir
  dir=$(component_dir "$1")
  [[ -d $dir ]] || with_lock "build-$1" component_compile "$1" "$dir"
  echo "$dir"
}

# component_fetch NAME... downloads the modules of later builds while others are compiled. The
# build itself reports errors.
component_fetch() {
  local name
  for name in "$@"; do
    [[ -d $(component_dir "$name") ]] || (cd "$(component_root "$name")" && go list -deps "$(component_package "$name")") >/dev/null 2>&1 || true
  done
}

component_compile() {
  local name=$1 dir=$2 started=$SECONDS
  [[ -d $dir ]] && return # built while we waited for the lock
  log "building $name $(component_version "$name")$(component_position "$name")$(component_expected "$name")"
  rm -rf "$CACHE/bin/.$name".* # left by a killed build
  local partial=$CACHE/bin/.$name.partial ldflags
  ldflags=$(component_ldflags "$name")
  mkdir -p "$partial"
  # Static, so that the result runs in an empty image; with the Makefile's flags, so that
  # both share compiled packages.
  (cd "$(component_root "$name")" &&
    CGO_ENABLED=0 GOGC=400 go build -v -mod=readonly -buildvcs=false -trimpath -gcflags=all=-dwarf=false -ldflags "$ldflags" \
      -o "$partial/$name" "$(component_package "$name")" 2> >(component_progress "$name" >&2)) >&2
  component_arrange "$name" "$partial"
  mv "$partial" "$dir"
  echo "$((SECONDS - started))" >"$CACHE/bin/.$name.seconds"
  log "built $name in $((SECONDS - started))s"
}

# component_position NAME: its position among the local cluster's programs.
component_position() {
  local i
  for i in "${!LOCAL_COMPONENTS[@]}"; do
    [[ ${LOCAL_COMPONENTS[i]} != "$1" ]] || echo ", $((i + 1)) of ${#LOCAL_COMPONENTS[@]}"
  done
}

# component_expected NAME: the duration of its last build, if known.
component_expected() {
  local seconds
  seconds=$(cat "$CACHE/bin/.$1.seconds" 2>/dev/null) || return 0
  echo ", which took ${seconds}s the last time"
}

# component_progress NAME reads the output of go build -v and reports progress every fifteen
# seconds; it prints the rest of Go's output.
component_progress() {
  awk -v name="$1" '
    function tell() {
      if (systime() - told < 15) return
      told = systime()
      printf "  %s: %d modules downloaded, %d packages compiled, %ds\n", name, modules, packages, told - began
      fflush()
    }
    BEGIN { began = told = systime() }
    /^go: downloading / { modules++; tell(); next }
    /^[a-z0-9][^ ]*$/ { packages++; tell(); next }
    { print; fflush() }'
}

# component_arrange NAME DIR adds other files that its users need to a build.
component_arrange() {
  local name=$1 dir=$2 program module
  case $name in
    kube)
      for program in "${KUBE_PROGRAMS[@]}"; do ln -s kube "$dir/$program"; done
      ;;
    cloudnative-pg)
      # The operator copies its own binary for its architecture into the pods that it creates;
      # its manifest starts /manager.
      program=operator/manager_$(go env GOARCH)
      mkdir -p "$dir/rootfs/operator"
      mv "$dir/$name" "$dir/rootfs/$program"
      ln -s "$program" "$dir/rootfs/manager"
      module=$(cd "$(component_root "$name")" && go list -m -f '{{.Dir}}' "$(component_module "$name")")
      install -m 0644 "$module/releases/cnpg-$(component_version "$name" | tr -d v).yaml" "$dir/install.yaml"
      ;;
  esac
}
