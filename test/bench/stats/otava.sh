#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the path of a Python with Apache Otava, with which bench-stats compares its change
# points. Installs the required parts of Otava once, outside the project. If the installation
# fails, it reports the cause and prints no path.
set -euo pipefail

pinned="$(dirname "${BASH_SOURCE[0]}")/otava.txt"
home=${PERFLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/perflab}/otava-$(sha256sum "$pinned" | cut -c1-12)
if [ ! -x "$home/bin/python" ]; then
  command -v python3 >/dev/null || { echo "no python3: Apache Otava is left out" >&2; exit 0; }
  rm -rf "$home.part"
  # Without dependencies: only Otava's inputs and outputs need them.
  if ! { python3 -m venv "$home.part" && "$home.part/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$pinned"; } >&2; then
    echo "Apache Otava could not be installed and is left out" >&2
    exit 0
  fi
  mv "$home.part" "$home"
fi
echo "$home/bin/python"
