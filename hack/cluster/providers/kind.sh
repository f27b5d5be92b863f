# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A cluster of nodes in containers, by kind, with the real operators from their official
# sources. The node image is that of this release of kind, by its digest; it determines the
# version of Kubernetes.
#
#   NODES          number of nodes, by default one; the first one also has the control plane
#   KIND_NODE      another node image, which the Docker engine has
#   KIND_MOUNT     HOST:NODE, a directory of the host in all nodes
#   KIND_PULLS=no  pulls nothing: CloudNativePG is built here, and Strimzi and k6-operator are
#                  left to the emulators, which hack/deploy.sh installs

LOGS=$CLUSTER_DIR/log
K6_OPERATOR_CHART_VERSION=4.6.0
KIND_PULLS=${KIND_PULLS:-yes}

ADDONS=(kube-system/metrics-server cnpg-system/cnpg-controller-manager)
if [[ $KIND_PULLS == yes ]]; then
  ADDONS+=(strimzi-system/strimzi-cluster-operator k6-operator-system/k6-operator-controller-manager)
fi

kind() { "$(component_build kind)/kind" "$@"; }

helm() { "$(component_build helm)/helm" --kubeconfig "$KUBECONFIG_FILE" "$@"; }

# kind_image NAME prints its reference in images.txt.
kind_image() { awk -v name="$1" '$1 == name { print $2 }' "$ROOT/hack/cluster/kind/images.txt"; }

kind_node() { echo "$CLUSTER-control-plane"; }

provider_up() {
  docker_answers || die "the kind provider needs a running Docker engine. $(docker_error)"
  with_lock "cluster-$CLUSTER" kind_up
}

kind_up() {
  [[ ${NODES:-1} =~ ^[1-9]$ ]] || die "NODES \"$NODES\": write a number from 1 to 9"
  mkdir -p "$LOGS"
  if ! docker inspect "$(kind_node)" >/dev/null 2>&1; then
    kind_create
  elif [[ -s $KUBECONFIG_FILE ]]; then
    kind_start
  else
    # kind writes the kubeconfig when the cluster works: this one never did.
    kind delete cluster --name "$CLUSTER" --kubeconfig "$KUBECONFIG_FILE" >&2
    kind_create
  fi
  # With workers, kind keeps pods off the control plane's node.
  kubectl taint nodes "$(kind_node)" node-role.kubernetes.io/control-plane:NoSchedule- >/dev/null 2>&1 || true
  kind_addons
  log "cluster \"$CLUSTER\" is up: export KUBECONFIG=$KUBECONFIG_FILE"
}

# kind_start starts existing nodes, for example after a reboot. A cluster that can't be started
# is left as it is: it has results.
kind_start() {
  local nodes
  mapfile -t nodes < <(kind get nodes --name "$CLUSTER")
  [[ ${NODES:-${#nodes[@]}} -eq ${#nodes[@]} ]] ||
    die "cluster \"$CLUSTER\" has ${#nodes[@]} node(s), and NODES is $NODES: kind can't add nodes, so leave NODES empty, choose another CLUSTER, or delete it with its results (make cluster-down)"
  if ! docker start "${nodes[@]}" >/dev/null ||
    ! kind export kubeconfig --name "$CLUSTER" --kubeconfig "$KUBECONFIG_FILE" --quiet ||
    ! wait_for 90 "the nodes to be ready" nodes_ready; then
    die "cluster \"$CLUSTER\" exists and can't be started, for the reason above: remove the cause and try again, or delete it with its results (make cluster-down)"
  fi
}

kind_create() {
  # Other images may allow version 1.
  [[ -n ${KIND_NODE:-} || $(docker info --format '{{.CgroupVersion}}') != 1 ]] ||
    die "the Docker engine's machine has control groups of version 1, with which Kubernetes' nodes don't start: boot it with systemd.unified_cgroup_hierarchy=1"
  kind_config >"$CLUSTER_DIR/kind.yaml"
  kind create cluster --name "$CLUSTER" --config "$CLUSTER_DIR/kind.yaml" --image "${KIND_NODE:-$(kind_image node)}" \
    --kubeconfig "$KUBECONFIG_FILE" --wait 180s >&2
  wait_for 90 "the nodes to be ready" nodes_ready
}

kind_config() {
  local node role=control-plane
  printf 'kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n'
  for ((node = 1; node <= ${NODES:-1}; node++)); do
    echo "- role: $role"
    [[ -z ${KIND_MOUNT:-} ]] || echo "  extraMounts: [{hostPath: ${KIND_MOUNT%%:*}, containerPath: ${KIND_MOUNT#*:}}]"
    role=worker
  done
}

nodes_ready() {
  local states
  states=$(kubectl get nodes -o 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}')
  [[ -n $states && $states != *False* && $states != *Unknown* ]]
}

cnpg_version() { component_version cloudnative-pg | tr -d v; }

# cnpg_manifest prints the path of the manifest in the operator's Go module.
cnpg_manifest() {
  local module
  module=$(component_module cloudnative-pg)
  (cd "$(component_root cloudnative-pg)" && go mod download "$module" &&
    echo "$(go list -m -f '{{.Dir}}' "$module")/releases/cnpg-$(cnpg_version).yaml")
}

kind_addons() {
  local addon images=(metrics-server postgresql) cnpg
  cnpg=$(kind_image cloudnative-pg)
  if [[ $KIND_PULLS != yes ]]; then
    images+=(cloudnative-pg)
    cnpg=$(image_reference cloudnative-pg)
  fi
  "$ROOT/hack/images/images.sh" load "${images[@]}" >/dev/null
  metrics_server_manifest >"$CLUSTER_DIR/metrics-server.yaml"
  cnpg_kustomization "$CLUSTER_DIR/cnpg" "$(cnpg_manifest)" "$cnpg"
  addon_apply -f "$CLUSTER_DIR/metrics-server.yaml"
  addon_apply -k "$CLUSTER_DIR/cnpg"
  [[ $KIND_PULLS != yes ]] || kind_operators
  for addon in "${ADDONS[@]}"; do addon_ready "$addon"; done
  metrics_ready
}

kind_operators() {
  addon_apply -f "$ROOT/hack/cluster/addons/namespaces.yaml"
  helm upgrade --install strimzi oci://quay.io/strimzi-helm/strimzi-kafka-operator --version "$STRIMZI" \
    --namespace strimzi-system --values "$ROOT/hack/cluster/addons/strimzi-values.yaml" --timeout 5m >&2
  helm upgrade --install k6-operator k6-operator --repo https://grafana.github.io/helm-charts \
    --version "$K6_OPERATOR_CHART_VERSION" \
    --namespace k6-operator-system --values "$ROOT/hack/cluster/addons/k6-operator-values.yaml" --timeout 5m >&2
}

provider_down() {
  docker_answers || die "the kind provider needs a running Docker engine. $(docker_error)"
  with_lock "cluster-$CLUSTER" kind_down
}

kind_down() {
  kind delete cluster --name "$CLUSTER" --kubeconfig "$KUBECONFIG_FILE" >&2
  rm -rf "$CLUSTER_DIR"
  log "deleted cluster \"$CLUSTER\""
}

provider_status() {
  if ! docker inspect "$(kind_node)" >/dev/null 2>&1; then
    echo "cluster \"$CLUSTER\" (kind) is not running"
    return 1
  fi
  echo "cluster \"$CLUSTER\" (kind), nodes: $(kind get nodes --name "$CLUSTER" | sort | tr '\n' ' ')"
  addons_report "${ADDONS[@]}" || return 1
  echo
  provider_ctr images ls | awk '$1 ~ /^localhost\// { print "  " $1 "  " $4 " " $5 }'
}

provider_registry() {
  die "the kind provider has no registry: make one as https://kind.sigs.k8s.io/docs/user/local-registry/ describes, or load images with make image-load"
}

provider_ctr() { docker exec "$(kind_node)" ctr --namespace k8s.io "$@"; }

provider_running() { docker exec "$(kind_node)" true >/dev/null 2>&1; }

provider_load_archive() { kind load image-archive "$1" --name "$CLUSTER"; }
