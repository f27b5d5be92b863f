#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches what the source carries of others' JavaScript from npm's registry, at the
# version that is named here, and puts it where it lies: uPlot, which draws the
# charts of a report's page, and axe-core, which tests that page. What has another
# digest than the one below is refused. Needed only to change a version: change it
# with its digest ("npm view uplot@VERSION dist.integrity"), and run this again.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# unpack PACKAGE VERSION SHA512: the package's files in $work/PACKAGE.
unpack() {
  local file=$work/$1-$2.tgz
  (cd "$work" && npm pack --silent "$1@$2" >/dev/null)
  [ "$(openssl dgst -sha512 -binary "$file" | base64 -w0)" = "$3" ] || die "$1 $2 is not what was looked at: its digest is another"
  mkdir "$work/$1"
  tar -xzf "$file" -C "$work/$1" --strip-components=1
}

# place DIRECTORY FILE...: copies files there, with a list of their digests.
place() {
  local directory=$1
  shift
  install -D -m 644 -t "$directory" "$@"
  (cd "$directory" && sha256sum -- "${@##*/}" | sort -k 2 >SHA256SUMS)
}

command -v npm >/dev/null || die "npm is missing (Debian: apt-get install npm)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

unpack uplot 1.6.32 KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==
place "$root/internal/report/assets/uplot" "$work"/uplot/dist/{uPlot.iife.min.js,uPlot.min.css} "$work/uplot/LICENSE"

unpack axe-core 4.14.1 FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==
place "$root/internal/report/testdata/axe" "$work"/axe-core/{axe.min.js,LICENSE,LICENSE-3RD-PARTY.txt}
