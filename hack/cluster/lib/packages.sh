# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Debian packages of required programs.

# require_packages PROGRAM:PACKAGE... installs the packages of missing programs, or lists them
# all in one error. A PROGRAM can be a path.
require_packages() {
  local pair missing=()
  for pair in "$@"; do
    have "${pair%%:*}" || missing+=("${pair#*:}")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $EUID -ne 0 ]] || ! have apt-get; then
    die "these Debian packages are missing: ${missing[*]} (as root: apt-get install ${missing[*]})"
  fi
  with_lock apt install_packages "${missing[@]}"
}

install_packages() {
  log "installing Debian packages: $*"
  local output
  output=$(mktemp)
  if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    -o DPkg::Lock::Timeout=300 "$@"; } >"$output" 2>&1; then
    tail_log "$output"
    rm -f "$output"
    die "could not install: $*"
  fi
  rm -f "$output"
}
