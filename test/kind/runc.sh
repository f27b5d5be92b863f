#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# runc on a machine whose root lacks a capability: it takes CAP_SYS_RESOURCE and negative
# adjustments of the OOM score from containers, and from processes in them.
set -euo pipefail

without='if .process then .process |= clean else clean end'
# shellcheck disable=SC2016 # a variable of jq
clean='def clean: (.capabilities // {}) as $all | .capabilities = ($all | map_values(map(select(. != "CAP_SYS_RESOURCE"))))
  | if (.oomScoreAdj // 0) < 0 then .oomScoreAdj = 0 else . end | del(.rlimits);'

edit() {
  local edited
  edited=$(jq "$clean $without" "$1")
  printf '%s' "$edited" >"$1"
}

previous=
for argument in "$@"; do
  case $previous in
    --bundle | -b) edit "$argument/config.json" ;;
    --process | -p) edit "$argument" ;;
  esac
  previous=$argument
done
exec runc "$@"
