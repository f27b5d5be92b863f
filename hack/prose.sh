#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks texts for users with Vale: the words of docs/style.md, US spelling and the length of
# sentences. It checks the pages, which contain the API's and the commands' descriptions; the
# example reports; and the comments of the chart's values.
#
#   hack/prose.sh            all
#   hack/prose.sh FILE...    some
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# No later version builds: all require a module that the proxy lacks.
version=v3.22.0
tools=${PERFLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/perflab}/tools
vale=$tools/vale-$version
dictionary=$tools/dictionary-en-4.0.0
digest=3NHnE1uq33ZE/CIwaZ6gqxa4BnglHnxeAcTM0GJ7cmtRGcvX9InMK/IqLtYcUMFCUpUNgybH+DzkqdgAo3F1zg==

if [ ! -x "$vale" ]; then
  # Its parsers of code are written in C.
  ensure gcc gcc libc6-dev
  CGO_ENABLED=1 CGO_CFLAGS=-w GOBIN=$tools/install go install "github.com/vale-cli/vale/v3/cmd/vale@$version"
  mv "$tools/install/vale" "$vale"
fi
if [ ! -d "$dictionary" ]; then
  rm -rf "$dictionary.part"
  ensure npm npm
  npm_package dictionary-en 4.0.0 "$digest" "$dictionary.part"
  mv "$dictionary.part" "$dictionary"
fi
cd "$root"
mkdir -p hack/prose/config
ln -sfn "$dictionary" hack/prose/config/dictionaries

check() { "$vale" --config hack/prose/vale.ini --output line "$@"; }

# Each rule must find its errors.
check --no-exit hack/prose/sample.md | cut -d: -f1-4 | diff hack/prose/sample.txt - || die "the rules in hack/prose report other errors (>) than expected"

if [ $# = 0 ]; then
  mapfile -t texts < <(git ls-files -co --exclude-standard -- '*.md' ':!*/testdata/*' ':!hack/prose' charts/perflab/values.yaml)
  set -- "${texts[@]}"
fi
check "$@"
