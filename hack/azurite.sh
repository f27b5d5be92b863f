#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the path of Azurite, Microsoft's emulator of Azure Storage, and installs it first,
# with the digests in its package-lock.json.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

locked=$root/test/archive/azurite
installed=${PERFLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/perflab}/tools/azurite-$(sha256sum "$locked/package-lock.json" | cut -c1-16)

if [ ! -d "$installed" ]; then
  command -v npm >/dev/null || die "npm is missing: install the package npm"
  rm -rf "$installed.part"
  mkdir -p "$installed.part"
  cp "$locked"/package*.json "$installed.part"
  (cd "$installed.part" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2)
  mv "$installed.part" "$installed"
fi
echo "$installed/node_modules/azurite/dist/src/blob/main.js"
