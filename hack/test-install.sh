#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a release as its users do, and runs the demo to its verdict: the chart and the images
# come from a registry, the command line and the demo from the release's files. It creates and
# deletes its own cluster. On a local one, Strimzi and k6-operator are emulated.
#
#   RELEASE   directory of a release that is pushed already; without it one of this commit is
#             made, and pushed to a registry of the local cluster
#   REGISTRY  where the release was pushed, HOST/PATH
#   KEEP=1    keeps the cluster
set -euo pipefail
CLUSTER=${CLUSTER:-perflab}-install
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

release=${RELEASE:-}
registry=${REGISTRY:-}
namespace=demo
work=$(mktemp -d)

clean_up() {
  rm -rf "$work"
  [ -n "${KEEP:-}" ] || "$root/hack/cluster/cluster.sh" down
}

# step TEXT COMMAND...: the seconds of each step are part of the result.
step() {
  local started=$SECONDS
  say "$1"
  "${@:2}"
  printf '   %s: %ss\n' "$1" "$((SECONDS - started))" >&2
}

# bring_up creates a cluster as its users have: with the other operators, without PerfLab.
bring_up() {
  "$root/hack/cluster/cluster.sh" up
  unset KUBECONFIG
  use_cluster
  if has_real_operators; then return; fi
  make -C "$root" --no-print-directory build-emulators
  "$root/hack/images/images.sh" load emulators kafka >/dev/null
  "$root/test/emulators/install.sh"
}

# make_release is for this machine's platform, and has the local registry.
make_release() {
  local host java platform
  host=$("$root/hack/cluster/cluster.sh" registry)
  registry=$host/perflab
  java=$("$root/hack/images/images.sh" push java "$host/java")
  platform=$(go env GOOS)/$(go env GOARCH)
  make -C "$root" --no-print-directory bin/release
  "$root/bin/release" build --allow-dirty --source "$root" --out "$work/dist" --version v0.0.0-test \
    --registry "$registry" --java-image "$java" --platform "$platform"
  release=$work/dist/v0.0.0-test
}

push_release() { "$root/bin/release" push "$release" --registry "$registry"; }

# unpack puts the command line on the PATH.
unpack() {
  mkdir "$work/bin"
  tar -xzf "$release/perflab_$(version)_$(go env GOOS)_$(go env GOARCH).tar.gz" -C "$work/bin"
  cp "$release/demo.yaml" "$work/"
  ln -s "$KUBECTL" "$work/bin/kubectl"
  ln -s "$("$root/hack/cluster/build.sh" helm)/helm" "$work/bin/helm"
  cd "$work"
  PATH=$work/bin:$PATH
}

version() { basename "$release"; }

# is_clean: no image of PerfLab has been loaded.
is_clean() {
  local loaded
  loaded=$(kubectl get nodes -o 'jsonpath={.items[*].status.images[*].names}' | grep -oE 'perflab/(operator|collector|k6|sample)\b' || true)
  [ -z "$loaded" ] || die "the nodes already have PerfLab images: $loaded"
}

install_chart() {
  local plain=()
  [[ $registry != localhost:* ]] || plain=(--plain-http)
  helm install perflab "oci://$registry/charts/perflab" --version "$(version | sed 's/^v//')" "${plain[@]}" \
    --namespace perflab-system --create-namespace --wait --timeout 5m
  helm test perflab --namespace perflab-system
}

run_demo() {
  kubectl create namespace "$namespace"
  kubectl label namespace "$namespace" pod-security.kubernetes.io/enforce=restricted
  kubectl perflab run -n "$namespace" -f demo.yaml
}

# check: the demo has its known verdict, and the node pulled the four images that it took.
check() {
  local verdict images
  verdict=$(kubectl -n "$namespace" get perfexperiment demo -o 'jsonpath={.status.comparisons[?(@.primary==true)].verdict}')
  images=$(kubectl get nodes -o 'jsonpath={.items[*].status.images[*].names}' | grep -oE "$registry/[a-z0-9]+@sha256" | sort -u)
  printf '   verdict %s, with images\n%s\n' "$verdict" "$images" >&2
  [ "$verdict" = Worse ] || die "the verdict is \"$verdict\", not Worse"
  [ "$(wc -l <<<"$images")" -ge 4 ] || die "the nodes did not pull 4 images from $registry"
}

main() {
  trap clean_up EXIT
  step "Creating a cluster" bring_up
  is_clean
  if [ -z "$release" ]; then
    step "Making a release" make_release
    step "Pushing it to $registry" push_release
  fi
  unpack
  step "Installing it" install_chart
  kubectl perflab doctor
  step "Running its demo" run_demo
  check
}

main "$@"
