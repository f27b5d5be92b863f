#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that the programs of the Makefile exist: installs missing ones if it can (Debian,
# root), or else names them.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The Debian package of each program that it can install.
declare -A packages=([mvn]=maven [javac]=openjdk-17-jdk-headless [jq]=jq)
# Without a browser the tests of the report's page are skipped, unless they are required.
[ -z "${PERFLAB_REQUIRE_CHROMIUM:-}" ] || packages[chromium]=chromium

# minimum version of Go in go.mod.
go_minimum() { awk '$1 == "go" {print $2}' "$root/go.mod"; }

check_go() {
  local minimum have
  minimum=$(go_minimum)
  command -v go >/dev/null || die "Go is missing: install Go $minimum or newer"
  have=$(GOTOOLCHAIN=local go env GOVERSION)
  have=${have#go}
  if [ "$(printf '%s\n' "$minimum" "$have" | sort -V | head -n 1)" != "$minimum" ]; then
    die "Go $have is too old: install Go $minimum or newer"
  fi
}

missing_packages() {
  local program
  for program in "${!packages[@]}"; do
    command -v "$program" >/dev/null || echo "${packages[$program]}"
  done
}

check_go
mapfile -t missing < <(missing_packages)
[ "${#missing[@]}" = 0 ] || install_packages "${missing[@]}"
