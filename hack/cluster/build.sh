#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds programs of the local cluster into the cache and prints their
# directories, one a line. Usage: build.sh all | COMPONENT...
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
source "$here/lib/common.sh"
# shellcheck source=lib/components.sh
source "$here/lib/components.sh"

main() {
  [[ $# -gt 0 ]] || die "usage: build.sh all | COMPONENT... (of ${COMPONENTS[*]})"
  local name names=("$@")
  [[ $1 != all ]] || names=("${COMPONENTS[@]}")
  for name in "${names[@]}"; do component_build "$name"; done
}

main "$@"
