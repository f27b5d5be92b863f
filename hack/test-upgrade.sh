#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests upgrades and rollbacks: the operator of an earlier commit runs half of some
# experiments and today's the rest, and vice versa. Without the project's history it
# exits with 69.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

from=${UPGRADE_FROM:-e0fb959}
back=${ROLLBACK_TO:-900562c2}
cd "$root"
for commit in "$from" "$back"; do
  if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
    say "Skipping the tests of upgrades: commit $commit is missing; clone the project with its history (git fetch --unshallow)"
    exit 69
  fi
done
KUBEBUILDER_ASSETS=$(hack/cluster/envtest.sh)
export KUBEBUILDER_ASSETS
UPGRADE_FROM=$from ROLLBACK_TO=$back go test -count=1 -timeout 20m -run '^(TestUpgradeDuringExperiments|TestRollbackDuringExperiments)$' ./controllers
