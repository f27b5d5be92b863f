#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz test: FUZZTIME each, a minute by default, or a number of inputs (20000x).
# Failing inputs are written to testdata/fuzz, to be committed.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$root"
time=${FUZZTIME:-60s}

for file in $(git grep -l --untracked '^func Fuzz' -- '*_test.go'); do
  package=$(dirname "$file")
  module=$package
  until [ -f "$module/go.mod" ]; do module=$(dirname "$module"); done
  sed -n 's/^func \(Fuzz[A-Za-z]*\)(.*/\1/p' "$file" | while read -r target; do
    say "$package: $target for $time"
    (cd "$package" && go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" . </dev/null)
  done
done
