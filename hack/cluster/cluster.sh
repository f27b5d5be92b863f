#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A real Kubernetes cluster. See usage below and README.md.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
source "$here/lib/common.sh"
# shellcheck source=lib/packages.sh
source "$here/lib/packages.sh"
# shellcheck source=lib/components.sh
source "$here/lib/components.sh"
# shellcheck source=lib/provider.sh
source "$here/lib/provider.sh"
# shellcheck source=lib/kubectl.sh
source "$here/lib/kubectl.sh"
# shellcheck source=lib/addons.sh
source "$here/lib/addons.sh"
# shellcheck source=../images/catalogue.sh
source "$here/../images/catalogue.sh"

usage() {
  cat <<EOF
usage: cluster.sh up|down|status|registry|kubeconfig|kubectl-path|help

up            creates the cluster, or repairs it; does nothing if it is healthy
down          deletes the cluster with all that it left on the machine, except caches
status        shows the state of each part; fails unless all are healthy
registry      starts an image registry that you push to and the cluster pulls from, until the
              cluster is deleted, and prints its name
kubeconfig    prints the path of the kubeconfig
kubectl-path  prints the path of a kubectl for the cluster

CLUSTER   the cluster's name, now "$CLUSTER"; several can run at the same time
NODES     number of nodes of a new cluster, by default one; more only with kind
PROVIDER  kind or local; now "$(provider_name)" (kind if a Docker engine runs)
PERFLAB_CACHE  directory of built programs and images, now $CACHE
EOF
}

main() {
  case ${1:-help} in
    up)
      provider_select
      provider_up
      ;;
    down)
      provider_select
      provider_down
      ;;
    status)
      provider_select
      provider_status
      ;;
    registry)
      provider_select
      provider_require
      provider_registry
      ;;
    kubeconfig) echo "$KUBECONFIG_FILE" ;;
    kubectl-path) kubectl_path ;;
    help | -h | --help) usage ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
}

main "$@"
