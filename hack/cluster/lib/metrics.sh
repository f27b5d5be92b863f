# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# metrics-server, the same for both providers.

metrics_server_manifest() {
  echo "---"
  sed -e "s|@METRICS_SERVER@|$(image_reference metrics-server)|" "$ROOT/hack/cluster/addons/metrics-server.yaml"
}

# metrics_ready waits for the first measurement of the node.
metrics_ready() {
  wait_for 120 "node metrics (kubectl top)" kubectl get --raw /apis/metrics.k8s.io/v1beta1/nodes/"$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')" || {
    kubectl -n kube-system logs deployment/metrics-server --tail=15 >&2 || true
    return 1
  }
}
