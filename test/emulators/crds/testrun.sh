#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes k6.io_testruns.yaml, our TestRun CRD, from the Go types of the k6-operator emulator
# and the Kubernetes types of k6-operator.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
controller_gen=sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0

main() {
  local bin
  bin=$(mktemp -d)
  # Expand the path now: it is out of scope when the trap runs.
  # shellcheck disable=SC2064
  trap "rm -rf '$bin'" EXIT
  GOBIN=$bin go install "$controller_gen"
  cd "$here"
  GOFLAGS="-mod=mod -modfile=$here/kubernetes-1.36.mod" "$bin/controller-gen" \
    crd:maxDescLen=0 paths=../k6operator/api/... output:crd:dir=.
}

main
