#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs end-to-end tests on the running cluster, with the installed operator.
# Usage: on-cluster.sh TESTS, as go test -run takes them
set -euo pipefail
# shellcheck source=../lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
use_cluster
RUN=$1 exec "$root/hack/e2e.sh"
