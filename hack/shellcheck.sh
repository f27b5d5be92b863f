#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks every shell script of the project.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if ! command -v shellcheck >/dev/null; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    die "shellcheck is missing: install the package shellcheck"
  fi
  apt-get -qq update
  apt-get -qq install -y shellcheck >/dev/null
fi
cd "$root"
git ls-files -z '*.sh' .ci/run | xargs -0 shellcheck -x
