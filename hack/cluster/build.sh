#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds programs of the clusters into the cache and prints their directories, one a line;
# "all" are those of the local cluster.
# Usage: build.sh all | COMPONENT...
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
source "$here/lib/common.sh"
# shellcheck source=lib/components.sh
source "$here/lib/components.sh"

main() {
  [[ $# -gt 0 ]] || die "usage: build.sh all | COMPONENT... (of ${COMPONENTS[*]})"
  local names=("$@") name
  [[ $1 != all ]] || names=("${LOCAL_COMPONENTS[@]}")
  for name in "${names[@]}"; do component_build "$name"; done
}

main "$@"
