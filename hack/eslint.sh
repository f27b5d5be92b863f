#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the scripts of a report's page with ESLint, from the single package
# eslint-linter-browserify (MIT).
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

version=9.39.2
digest=X4oD9ymZLMaNcSRZkNyDEcwObLPTg9QsQM/YHnfWJbnqUJpmmgicXtgi9UGgk+ntC9Aydnp3RW7+uWrkoUbWbg==
linter=${PERFLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/perflab}/tools/eslint-$version

ensure npm npm
if [ ! -d "$linter" ]; then
  rm -rf "$linter.part"
  npm_package eslint-linter-browserify "$version" "$digest" "$linter.part"
  mv "$linter.part" "$linter"
fi
cd "$root"
node hack/eslint.mjs "$linter/linter.cjs" internal/report/format/assets/*.js
