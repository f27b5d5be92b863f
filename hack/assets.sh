#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Downloads third-party JavaScript in the source from npm's registry, in the versions below:
# uPlot, which draws the charts of a report's page, and axe-core, which tests that page. A
# file with another digest is refused. Needed only to change a version: change it with its
# digest ("npm view uplot@VERSION dist.integrity"), and run this again.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# place DIRECTORY FILE...: copies files there, with a list of their digests.
place() {
  local directory=$1
  shift
  install -D -m 644 -t "$directory" "$@"
  (cd "$directory" && sha256sum -- "${@##*/}" | sort -k 2 >SHA256SUMS)
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

npm_package uplot 1.6.32 KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw== "$work/uplot"
place "$root/internal/report/format/assets/uplot" "$work"/uplot/dist/{uPlot.iife.min.js,uPlot.min.css} "$work/uplot/LICENSE"

npm_package axe-core 4.14.1 FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ== "$work/axe-core"
place "$root/internal/testing/browser/axe" "$work"/axe-core/{axe.min.js,LICENSE,LICENSE-3RD-PARTY.txt}
