# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Talking to the cluster from the host.

# kubectl is of the cluster's own version and never waits for ever.
kubectl() {
  CLUSTER_KUBECTL=${CLUSTER_KUBECTL:-$(component_build kube)/kubectl}
  "$CLUSTER_KUBECTL" --kubeconfig "$KUBECONFIG_FILE" --request-timeout=60s "$@"
}
