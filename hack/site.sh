#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation as a site in site/, and fails if a link or an anchor is broken, or
# if a page loads anything from another host.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

pinned=$root/hack/site/requirements.txt
cache=${PERFLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/perflab}
tools=$cache/tools/site-$(sha256sum "$pinned" | cut -c1-16)

if [ ! -d "$tools" ]; then
  ensure python3 python3
  python3 -c 'import ensurepip' 2>/dev/null || install_packages python3-venv
  rm -rf "$tools.part"
  python3 -m venv "$tools.part"
  "$tools.part/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$pinned"
  mv "$tools.part" "$tools"
fi
cd "$root"
rm -rf site
"$tools/bin/python" -m sphinx --quiet --fail-on-warning --jobs auto --fresh-env --builder html --doctree-dir site/.doctrees --conf-dir hack/site . site
rm -r site/.doctrees
if grep -rlE '<(link|script|img|iframe|source)[^>]* (src|href)="(https?:)?//' --include='*.html' site; then
  die "the pages above load content from another host"
fi
