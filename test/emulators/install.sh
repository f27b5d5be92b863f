#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the emulators of Strimzi and k6-operator on the cluster of KUBECONFIG: their CRDs,
# then the Deployment, and waits for it. The image localhost/perflab/emulators:dev must already
# be on the nodes. Run it again to update.
#
#   STRIMZI           the release to emulate: 1.2.0 (default) or 0.45.2; its Kafka image must be on the nodes, too
#   PERFLAB_CRDS      directory of CRDs to use (see crds/generate.sh)
#   INSTALL_TIMEOUT   how long to wait, default 120s
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kubectl=${KUBECTL:-kubectl}
timeout=${INSTALL_TIMEOUT:-120s}
export STRIMZI=${STRIMZI:-1.2.0}
crds=(kafkas.kafka.strimzi.io kafkanodepools.kafka.strimzi.io kafkatopics.kafka.strimzi.io strimzipodsets.core.strimzi.io testruns.k6.io)

# check_release fails if the cluster has another release's CRDs: an API server can't have both,
# and objects of one release are unreadable with the other's.
check_release() {
  local served wanted=v1
  [[ $STRIMZI != 0.45.2 ]] || wanted=v1beta2
  served=$("$kubectl" get crd kafkas.kafka.strimzi.io --ignore-not-found -o 'jsonpath={.status.storedVersions[*]}')
  [[ -z $served || $served == "$wanted" ]] && return
  echo "install.sh: this cluster serves Strimzi's $served, and Strimzi $STRIMZI needs $wanted:" \
    "use a cluster of its own, as in CLUSTER=zk STRIMZI=0.45.2 make cluster-up images deploy" >&2
  exit 1
}

main() {
  local dir
  check_release
  dir=$(mktemp -d)
  # Expand the path now: it is out of scope when the trap runs.
  # shellcheck disable=SC2064
  trap "rm -rf '$dir'" EXIT
  "$here/crds/generate.sh" "$dir"
  "$kubectl" apply --server-side --force-conflicts -f "$dir/strimzi-$STRIMZI" -f "$dir/k6-operator-1.6.0"
  "$kubectl" wait --for=condition=Established --timeout="$timeout" "${crds[@]/#/crd/}"
  "$kubectl" apply --server-side --force-conflicts -f - \
    < <(sed "s/--strimzi=1\.2\.0/--strimzi=$STRIMZI/" "$here/deploy/emulators.yaml")
  if ! "$kubectl" -n perflab-emulators rollout status deployment/emulators --timeout="$timeout"; then
    echo "install.sh: the emulators did not become ready within $timeout:" >&2
    "$kubectl" -n perflab-emulators get pods -o wide >&2
    "$kubectl" -n perflab-emulators describe pods >&2
    exit 1
  fi
}

main "$@"
