#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the end-to-end tests on the cluster of KUBECONFIG, where PerfLab and its images must be
# installed (for TestKeycloak also make image-keycloak), or on a local one that it creates.
#
#   KEEP=1   keeps a cluster that was created here
#   RUN      only tests whose names match, as go test -run; without it all but
#            the injected effect (make e2e-effect), which takes half an hour
#   TIME_LIMIT  of the tests (75m)
#   STRIMZI  the release of Strimzi on a cluster that is created: 1.2.0 (default) or 0.45.2
#   SUITE=argocd  runs the tests of a real Argo CD instead, which installs PerfLab
#            itself: the cluster must have neither
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

suite=${SUITE:-perflab}
events=$PERFLAB_CACHE/ci/events
brought_up=

own_cluster() {
  if "$root/hack/cluster/cluster.sh" status >/dev/null 2>&1; then
    say "Using the running cluster $CLUSTER"
  else
    brought_up=yes
    trap take_down EXIT
  fi
  cluster_with_images
  if wants_keycloak; then make -C "$root" --no-print-directory image-keycloak; fi
  use_cluster
  if [ "$suite" = argocd ]; then
    "$root/test/emulators/install.sh"
  else
    "$root/hack/deploy.sh"
  fi
}

# wants_keycloak: only one test needs Keycloak, so it is not downloaded for others.
wants_keycloak() {
  local chosen=${RUN:-}
  [[ $suite == perflab && TestKeycloak =~ ${chosen%%/*} ]]
}

take_down() {
  if [ -z "$brought_up" ] || [ -n "${KEEP:-}" ]; then return; fi
  brought_up=
  "$root/hack/cluster/cluster.sh" down
}

# under_argocd needs Argo CD's programs, and Helm for its repo server.
under_argocd() {
  use_cluster
  ARGOCD=$("$root/hack/cluster/build.sh" argocd)/argocd
  HELM=$("$root/hack/cluster/build.sh" helm)/helm
  export ARGOCD HELM
  cd "$root/test/argocd"
  tests 40m ./live
}

against_operator() {
  local chosen
  if [ -n "${RUN:-}" ]; then
    chosen=(-run "$RUN")
  else
    # One test judges noise, at a level where it fails one time in a hundred; the other breaks
    # the cluster.
    chosen=(-skip "TestInjectedEffect|TestChaos")
  fi
  cd "$root"
  tests "${TIME_LIMIT:-75m}" "${chosen[@]}" ./test/e2e
}

# tests TIME-LIMIT ARGUMENT...: repeats failures at the end, after half an hour of other
# output.
tests() {
  local limit=$1
  shift
  mkdir -p "$events"
  "$GOTESTSUM" --format standard-verbose --jsonfile "$events/${CHECK:-e2e}.json" -- -tags e2e -count=1 -timeout "$limit" "$@"
}

case $suite in
  perflab) judge=against_operator ;;
  argocd) judge=under_argocd ;;
  *) die "SUITE is perflab or argocd, not $suite" ;;
esac
[ -n "${KUBECONFIG:-}" ] || own_cluster
say "End-to-end tests"
"$judge"
