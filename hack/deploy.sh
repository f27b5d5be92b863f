#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the operator into the cluster and, on the local cluster, the emulators of other
# operators. Run it again to update.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# restart DEPLOYMENT: pods keep the image that they started with, and its tag stays the same
# in all builds.
restart() {
  kubectl -n "$1" rollout restart "deployment/$2"
  kubectl -n "$1" rollout status "deployment/$2" --timeout=300s
}

install_emulators() {
  if has_real_operators; then return; fi
  "$root/test/emulators/install.sh"
  restart perflab-emulators emulators
}

# await_answer waits until the API server reaches the operator's webhook, which it calls
# before it stores an experiment. The webhook is reachable a moment after the operator is
# ready.
await_answer() {
  local deadline=$((SECONDS + 180))
  until kubectl apply --dry-run=server -f "$root/config/samples/demo.yaml" >/dev/null 2>&1; do
    if [ "$SECONDS" -ge "$deadline" ]; then
      kubectl apply --dry-run=server -f "$root/config/samples/demo.yaml"
      return
    fi
    sleep 1
  done
}

use_cluster
say "Installing the operators"
install_emulators
kubectl apply --server-side --force-conflicts -k "$root/config/default"
restart perflab-system perflab-operator
await_answer
