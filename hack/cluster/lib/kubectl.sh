# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Access to the cluster from the host.

# kubectl has the cluster's version and a timeout.
kubectl() {
  CLUSTER_KUBECTL=${CLUSTER_KUBECTL:-$(component_build kube)/kubectl}
  "$CLUSTER_KUBECTL" --kubeconfig "$KUBECONFIG_FILE" --request-timeout=60s "$@"
}
