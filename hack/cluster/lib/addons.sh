# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The initial workloads of a cluster, for both providers.

addon_apply() {
  kubectl apply --server-side --force-conflicts "$@" >"$LOGS/addons.log" 2>&1 || {
    tail_log "$LOGS/addons.log"
    return 1
  }
}

# addon_ready NAMESPACE/DEPLOYMENT waits for it. Pulling its images may take any time.
addon_ready() {
  local namespace=${1%/*} name=${1#*/} left=300 pulling=
  until kubectl -n "$namespace" rollout status "deployment/$name" --timeout=30s >/dev/null 2>"$LOGS/rollout.log"; do
    if is_pulling "$namespace"; then
      [[ -n $pulling ]] || log "pulling images in $namespace"
      pulling=yes
      sleep 0.5
      continue
    fi
    left=$((left - 30))
    ((left <= 0)) || continue
    log "error: waited 300s for deployment $name in $namespace"
    tail_log "$LOGS/rollout.log" 5
    kubectl -n "$namespace" get pods -o wide >&2 || true
    kubectl -n "$namespace" logs "deployment/$name" --tail=10 >&2 || true
    kubectl -n "$namespace" get events --sort-by=.lastTimestamp 2>&1 | tail -n 10 >&2 || true
    return 1
  done
}

# is_pulling NAMESPACE: a pod pulls an image while its sandbox is ready and its container is being
# created. Volumes are mounted before; a failed pull has another reason.
is_pulling() {
  local pods
  pods=$(kubectl -n "$1" get pods -o 'jsonpath={range .items[*]}{.status.conditions[?(@.type=="PodReadyToStartContainers")].status} {.status.containerStatuses[*].state.waiting.reason}{"\n"}{end}')
  [[ $pods == *"True ContainerCreating"* ]]
}

metrics_server_manifest() {
  sed -e "s|@METRICS_SERVER@|$(image_reference metrics-server)|" "$ROOT/hack/cluster/addons/metrics-server.yaml"
}

# metrics_ready waits for the first metrics of a node.
metrics_ready() {
  local node
  node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
  wait_for 300 "the metrics of node $node" kubectl get --raw "/apis/metrics.k8s.io/v1beta1/nodes/$node" || {
    kubectl -n kube-system logs deployment/metrics-server --tail=15 >&2 || true
    return 1
  }
}

# cnpg_kustomization DIRECTORY MANIFEST IMAGE writes CloudNativePG's own manifest, with IMAGE
# for the operator, and our PostgreSQL as the default image of clusters.
cnpg_kustomization() {
  local directory=$1 manifest=$2 image=$3
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
            image: $image
            imagePullPolicy: IfNotPresent
            env:
            - {name: OPERATOR_IMAGE_NAME, value: "$image"}
            - {name: POSTGRES_IMAGE_NAME, value: "$(image_reference postgresql)"}
EOF
}

# addons_report prints nodes and pods; it fails unless every addon is ready.
addons_report() {
  kubectl get nodes -o wide || return 1
  echo
  kubectl get pods -A -o wide || return 1
  local addon
  for addon in "$@"; do
    kubectl -n "${addon%/*}" rollout status "deployment/${addon#*/}" --watch=false | grep -q successfully || {
      echo "$addon is not ready"
      return 1
    }
  done
}
