# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What runs on the cluster from the start: names, storage, metrics, PostgreSQL.

ADDONS=(
  kube-system/coredns
  kube-system/storage
  kube-system/metrics-server
  cnpg-system/cnpg-controller-manager
)

addons_up() {
  local directory=$CONFIG/addons
  mkdir -p "$directory"
  addon_manifests >"$directory/addons.yaml"
  cnpg_kustomization "$directory"
  addon_apply -f "$directory/addons.yaml"
  addon_apply -k "$directory/cnpg"
  local addon
  for addon in "${ADDONS[@]}"; do addon_ready "$addon"; done
  metrics_ready
}

addon_apply() {
  kubectl apply --server-side --force-conflicts "$@" >"$LOGS/addons.log" 2>&1 || {
    tail_log "$LOGS/addons.log"
    return 1
  }
}

addon_manifests() {
  sed -e "s|@DNS_ADDRESS@|$DNS_ADDRESS|" -e "s|@VOLUMES@|$STATE/volumes|" \
    -e "s|@COREDNS@|$(image_reference coredns)|" -e "s|@STORAGE@|$(image_reference storage)|" \
    "$ROOT/hack/cluster/addons/coredns.yaml" "$ROOT/hack/cluster/addons/storage.yaml"
  metrics_server_manifest
}

# cnpg_kustomization DIRECTORY: the operator's own manifest, with our images in it.
cnpg_kustomization() {
  local directory=$1/cnpg manifest
  manifest=$(component_build cloudnative-pg)/install.yaml
  mkdir -p "$directory"
  cp "$manifest" "$directory/install.yaml"
  cat >"$directory/kustomization.yaml" <<EOF
resources: [install.yaml]
patches:
- target: {kind: Deployment, name: cnpg-controller-manager}
  patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: cnpg-controller-manager}
    spec:
      template:
        spec:
          containers:
          - name: manager
            image: $(image_reference cloudnative-pg)
            imagePullPolicy: IfNotPresent
            env:
            - {name: OPERATOR_IMAGE_NAME, value: "$(image_reference cloudnative-pg)"}
            - {name: POSTGRES_IMAGE_NAME, value: "$(image_reference postgresql)"}
EOF
}

addon_ready() {
  local namespace=${1%/*} name=${1#*/}
  kubectl -n "$namespace" rollout status "deployment/$name" --timeout=180s >/dev/null 2>"$LOGS/rollout.log" || {
    log "error: waited 180s for deployment $name in $namespace"
    tail_log "$LOGS/rollout.log" 5
    kubectl -n "$namespace" get pods -o wide >&2 || true
    kubectl -n "$namespace" logs "deployment/$name" --tail=10 >&2 || true
    kubectl -n "$namespace" get events --sort-by=.lastTimestamp 2>&1 | tail -n 10 >&2 || true
    return 1
  }
}

cluster_report() {
  KUBE=$(component_build kube) # for kubectl
  kubectl get nodes -o wide || return 1
  echo
  kubectl get pods -A -o wide || return 1
  echo
  containerd_ctr images ls | awk '$1 ~ /^localhost\// { print "  " $1 "  " $4 " " $5 }'
  local addon
  for addon in "${ADDONS[@]}"; do
    kubectl -n "${addon%/*}" rollout status "deployment/${addon#*/}" --watch=false | grep -q "successfully" || return 1
  done
}
