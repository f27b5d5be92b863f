# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# DNS, storage, metrics and PostgreSQL: a kind node has or pulls them; here they are built.

ADDONS=(
  kube-system/coredns
  kube-system/storage
  kube-system/metrics-server
  cnpg-system/cnpg-controller-manager
)

addons_up() {
  local addon cnpg
  cnpg=$(component_build cloudnative-pg)
  mkdir -p "$CONFIG/addons"
  addon_manifests >"$CONFIG/addons/addons.yaml"
  cnpg_kustomization "$CONFIG/addons/cnpg" "$cnpg/install.yaml" "$(image_reference cloudnative-pg)"
  addon_apply -f "$CONFIG/addons/addons.yaml"
  addon_apply -k "$CONFIG/addons/cnpg"
  load_images postgresql # the largest, and no addon runs it
  for addon in "${ADDONS[@]}"; do addon_ready "$addon"; done
  metrics_ready
}

addon_manifests() {
  sed -e "s|@DNS_ADDRESS@|$DNS_ADDRESS|" -e "s|@VOLUMES@|$STATE/volumes|" \
    -e "s|@COREDNS@|$(image_reference coredns)|" -e "s|@STORAGE@|$(image_reference storage)|" \
    "$ROOT/hack/cluster/addons/coredns.yaml" "$ROOT/hack/cluster/addons/storage.yaml"
  echo "---"
  metrics_server_manifest
}
