#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks every shell script of the project.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ensure shellcheck shellcheck
cd "$root"
git ls-files -z '*.sh' .ci/run | xargs -0 shellcheck -x
