#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the end-to-end tests on the cluster KUBECONFIG names, where PerfLab and
# its images have to be installed, or on a local one it brings up itself.
#
#   KEEP=1   leaves a cluster that was brought up here for another look
#   RUN      only tests whose names match, as go test -run
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

own_cluster() {
  if "$root/hack/cluster/cluster.sh" status >/dev/null 2>&1; then
    say "Using the cluster $CLUSTER, which is up"
  else
    say "Bringing up the cluster $CLUSTER"
    [ -n "${KEEP:-}" ] || trap '"$root/hack/cluster/cluster.sh" down' EXIT
    "$root/hack/cluster/cluster.sh" up
  fi
  say "Building the images"
  make -C "$root" --no-print-directory images
  use_cluster
  "$root/hack/deploy.sh"
}

[ -n "${KUBECONFIG:-}" ] || own_cluster
say "End-to-end tests"
cd "$root"
go test -tags e2e -count=1 -timeout 40m -v ${RUN:+-run "$RUN"} ./test/e2e
