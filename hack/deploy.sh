#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the operator into the cluster and, on the local cluster, the
# emulators of the operators it works with. Run it again to update.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# restart DEPLOYMENT: pods keep the image they started with, and its tag stays
# the same from build to build.
restart() {
  kubectl -n "$1" rollout restart "deployment/$2"
  kubectl -n "$1" rollout status "deployment/$2" --timeout=120s
}

install_emulators() {
  # With the real operators in place there is nothing to emulate.
  if kubectl get namespace strimzi-system k6-operator-system >/dev/null 2>&1; then
    return
  fi
  "$root/test/emulators/install.sh"
  restart perflab-emulators emulators
}

use_cluster
say "Installing the operators"
install_emulators
kubectl apply --server-side --force-conflicts -k "$root/config/default"
restart perflab-system perflab-operator
