#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the demo, and the end-to-end tests that need several nodes, on a kind cluster of three
# nodes, by the project's own scripts, on an engine of engine.sh. Exits with 69 if this machine
# can't run an engine.
#
#   KEEP=1  keeps the cluster and the engine
#   RUN     other end-to-end tests, as go test -run
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export CLUSTER=${CLUSTER:-perflab}-kind NODES=3 RUN=${RUN:-TestNodesSample|TestDrainedNode|TestLanesOfNodes}

clean_up() {
  [[ -z ${KEEP:-} ]] || return 0
  "$here/engine.sh" run "$here/../../hack/cluster/cluster.sh" down || true
  "$here/engine.sh" down
}

trap clean_up EXIT
# With the network that the engine lacks.
make -C "$here/../.." --no-print-directory build tools
IMAGE_BUILDER=buildah "$here/../../hack/images/images.sh" build
"$here/../../hack/cluster/build.sh" kind helm >/dev/null
"$here/engine.sh" up
"$here/engine.sh" run make -C "$here/../.." --no-print-directory demo
"$here/engine.sh" run make -C "$here/../.." --no-print-directory e2e
