# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Access to the cluster from the host.

# kubectl has a timeout.
kubectl() {
  CLUSTER_KUBECTL=${CLUSTER_KUBECTL:-$(kubectl_path)}
  "$CLUSTER_KUBECTL" --kubeconfig "$KUBECONFIG_FILE" --request-timeout=60s "$@"
}

# kubectl_path prints a kubectl for the cluster: the one that is built with the local cluster's
# Kubernetes, or else the machine's own, or else one that is built alone.
kubectl_path() {
  if [[ $(provider_name) == local || -d $(component_dir kube) ]]; then
    echo "$(component_build kube)/kubectl"
  else
    machine_kubectl || echo "$(component_build kubectl)/kubectl"
  fi
}

# machine_kubectl prints the path of the kubectl on the PATH. It fails if there is none, or if it is
# more than a minor version from the cluster's, as Kubernetes supports.
machine_kubectl() {
  local path minor wanted
  path=$(type -P kubectl) || return 1
  minor=$("$path" version --client --output json 2>/dev/null | tr -d ' \n' | grep -Eo '"minor":"[0-9]+' | grep -Eo '[0-9]+$') || return 1
  wanted=$(component_version kube | cut -d. -f2)
  ((minor >= wanted - 1 && minor <= wanted + 1)) || return 1
  echo "$path"
}
