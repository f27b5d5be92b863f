# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts in this directory share: where the cluster is and how they
# speak to people.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export CLUSTER=${CLUSTER:-perflab}

say() { printf '\n\033[1m== %s\033[0m\n' "$*" >&2; }

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# use_cluster points KUBECONFIG and kubectl at the cluster. A KUBECONFIG that is
# already set wins, so that the same scripts work on any cluster.
use_cluster() {
  KUBECONFIG=${KUBECONFIG:-$("$root/hack/cluster/cluster.sh" kubeconfig)}
  KUBECTL=${KUBECTL:-$("$root/hack/cluster/cluster.sh" kubectl-path)}
  export KUBECONFIG KUBECTL
}

kubectl() { command "$KUBECTL" "$@"; }
