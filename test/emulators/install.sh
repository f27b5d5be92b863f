#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the emulators of Strimzi and k6-operator on the cluster that
# KUBECONFIG names: their CRDs, then the Deployment, and waits for it. The image
# localhost/perflab/emulators:dev has to be on the nodes already. Run it again to update.
#
#   PERFLAB_CRDS      directory of CRDs to use (see crds/generate.sh)
#   INSTALL_TIMEOUT   how long to wait, default 120s
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kubectl=${KUBECTL:-kubectl}
timeout=${INSTALL_TIMEOUT:-120s}
crds=(kafkas.kafka.strimzi.io kafkanodepools.kafka.strimzi.io kafkatopics.kafka.strimzi.io testruns.k6.io)

main() {
  local dir
  dir=$(mktemp -d)
  # The path is to be expanded now: it is gone from scope when the trap runs.
  # shellcheck disable=SC2064
  trap "rm -rf '$dir'" EXIT
  "$here/crds/generate.sh" "$dir"
  "$kubectl" apply --server-side --force-conflicts -f "$dir/strimzi-1.2.0" -f "$dir/k6-operator-1.6.0"
  "$kubectl" wait --for=condition=Established --timeout="$timeout" "${crds[@]/#/crd/}"
  "$kubectl" apply --server-side --force-conflicts -f "$here/deploy"
  if ! "$kubectl" -n perflab-emulators rollout status deployment/emulators --timeout="$timeout"; then
    echo "install.sh: the emulators did not become ready within $timeout:" >&2
    "$kubectl" -n perflab-emulators get pods -o wide >&2
    "$kubectl" -n perflab-emulators describe pods >&2
    exit 1
  fi
}

main "$@"
