# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# containerd, the kubelet and kube-proxy.

node_up() {
  mkdir -p "$CONFIG/cni"
  containerd_config >"$CONFIG/containerd.toml"
  pod_network_config >"$CONFIG/cni/pods.conflist"
  kubelet_config >"$CONFIG/kubelet.yaml"
  kube_proxy_config >"$CONFIG/kube-proxy.yaml"
  : >"$CONFIG/resolv.conf" # pods that bypass the cluster's DNS have none

  daemon containerd "$CONFIG/containerd.toml" "$(command -v containerd)" --config "$CONFIG/containerd.toml" --log-level warn
  daemon_ready containerd 30 containerd_ctr version
  load_images pause coredns storage metrics-server cloudnative-pg

  daemon kubelet "$CONFIG/kubelet.yaml $CONFIG/kubelet.kubeconfig" "$KUBE/kubelet" \
    --config="$CONFIG/kubelet.yaml" --kubeconfig="$CONFIG/kubelet.kubeconfig" \
    --hostname-override="$NODE" --node-ip="$NODE_ADDRESS" \
    --node-labels=node.kubernetes.io/instance-type=local
  daemon kube-proxy "$CONFIG/kube-proxy.yaml $CONFIG/kube-proxy.kubeconfig" "$KUBE/kube-proxy" \
    --config="$CONFIG/kube-proxy.yaml"
  daemon_ready kubelet 120 node_ready
}

node_ready() {
  [[ $(kubectl get node "$NODE" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}') == True ]]
}

# load_images NAME... loads images into the node, which has no registry.
load_images() { "$ROOT/hack/images/images.sh" load "$@" >/dev/null; }

containerd_ctr() { ctr --address "$RUN/containerd.sock" --namespace k8s.io "$@"; }

provider_ctr() { containerd_ctr "$@"; }

provider_running() { containerd_ctr version >/dev/null 2>&1; }

provider_load_archive() {
  # In the sandbox, because unpacking creates mounts, which must end with it.
  sandbox_run ctr --address "$RUN/containerd.sock" --namespace k8s.io images import "$1" >/dev/null
  # Nothing else deletes the replaced image; running containers keep its files.
  [[ -z ${2:-} ]] || containerd_ctr images rm "sha256:$2" >/dev/null 2>&1 || true
}
