# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Common functions of the scripts in this directory: the cluster's address and messages.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export CLUSTER=${CLUSTER:-perflab}

say() { printf '\n\033[1m== %s\033[0m\n' "$*" >&2; }

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# use_cluster points KUBECONFIG and kubectl at the cluster. An existing KUBECONFIG wins, so
# that the same scripts work on any cluster.
use_cluster() {
  KUBECONFIG=${KUBECONFIG:-$("$root/hack/cluster/cluster.sh" kubeconfig)}
  KUBECTL=${KUBECTL:-$("$root/hack/cluster/cluster.sh" kubectl-path)}
  export KUBECONFIG KUBECTL
}

kubectl() { command "$KUBECTL" "$@"; }

# has_real_operators: the cluster has Strimzi and k6-operator, so that no emulators are needed.
has_real_operators() { kubectl get namespace strimzi-system k6-operator-system >/dev/null 2>&1; }

# cluster_with_images creates the cluster and builds the images in parallel, because both
# wait for the network at times, and then loads the images.
cluster_with_images() {
  local builder
  say "Creating the cluster $CLUSTER and building the images"
  # Its own process group, so that all its processes can be ended.
  set -m
  { make -C "$root" --no-print-directory images-build 2>&1 | sed -u -e '/^go: downloading /d' -e 's/^/images: /' >&2; } &
  builder=$!
  set +m
  # shellcheck disable=SC2064 # expand the builder's id now
  trap "kill -- -$builder 2>/dev/null; exit 130" INT TERM
  if ! "$root/hack/cluster/cluster.sh" up; then
    kill -- "-$builder" 2>/dev/null || true
    die "the cluster did not start"
  fi
  say "Loading the images into the cluster"
  wait "$builder" || die "building the images failed: see the lines above that start with \"images:\""
  trap - INT TERM
  "$root/hack/images/images.sh" load
}

# install_packages NAME...: installs Debian packages, one caller at a time: apt-get fails if
# another one runs.
install_packages() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    die "missing: $* (the names of Debian's packages): install them and retry"
  fi
  say "Installing $*"
  local locks=${PERFLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/perflab}/locks
  mkdir -p "$locks"
  (
    flock 9
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" >/dev/null
  ) 9>"$locks/apt"
}

# ensure PROGRAM PACKAGE...: installs packages if a program is missing.
ensure() { command -v "$1" >/dev/null || install_packages "${@:2}"; }

# npm_package NAME VERSION SHA512 DIRECTORY: downloads a package from npm's registry, and
# refuses it if its digest differs.
npm_package() {
  local packed
  command -v npm >/dev/null || die "npm is missing: install the package npm"
  packed=$(mktemp -d)
  (cd "$packed" && npm pack --silent "$1@$2" >/dev/null)
  [ "$(openssl dgst -sha512 -binary "$packed/$1-$2.tgz" | base64 -w0)" = "$3" ] || die "$1 $2 does not have the reviewed digest"
  mkdir -p "$4"
  tar -xzf "$packed/$1-$2.tgz" -C "$4" --strip-components=1
  rm -r "$packed"
}
