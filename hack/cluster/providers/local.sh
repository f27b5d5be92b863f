# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A one-node cluster from Go modules and Debian packages: without a container engine, an image
# registry, or an uplink.
#
# All of it runs in one sandbox: a process, mount and network namespace that one process keeps
# open. When that process ends, the kernel ends all others in it and removes every mount,
# link and packet rule, so that nothing is left, in any state of the cluster.

STATE=/var/lib/perflab/$CLUSTER # survives a reboot
RUN=/run/perflab/$CLUSTER       # sockets; visible on both sides of the sandbox
LOGS=$STATE/log
PKI=$STATE/pki
CONFIG=$STATE/config
NODE=$CLUSTER

NODE_ADDRESS=10.89.0.2
POD_RANGE=10.244.0.0/16
SERVICE_RANGE=10.96.0.0/16
API_SERVICE_ADDRESS=10.96.0.1
DNS_ADDRESS=10.96.0.10
CGROUP=/perflab/$CLUSTER

# shellcheck source=local/sandbox.sh
source "$ROOT/hack/cluster/providers/local/sandbox.sh"
# shellcheck source=local/cgroup.sh
source "$ROOT/hack/cluster/providers/local/cgroup.sh"
# shellcheck source=local/daemon.sh
source "$ROOT/hack/cluster/providers/local/daemon.sh"
# shellcheck source=local/pki.sh
source "$ROOT/hack/cluster/providers/local/pki.sh"
# shellcheck source=local/config.sh
source "$ROOT/hack/cluster/providers/local/config.sh"
# shellcheck source=local/control_plane.sh
source "$ROOT/hack/cluster/providers/local/control_plane.sh"
# shellcheck source=local/node.sh
source "$ROOT/hack/cluster/providers/local/node.sh"
# shellcheck source=local/addons.sh
source "$ROOT/hack/cluster/providers/local/addons.sh"
# shellcheck source=local/registry.sh
source "$ROOT/hack/cluster/providers/local/registry.sh"

local_require() {
  [[ ${NODES:-1} == 1 ]] || die "NODES \"$NODES\": the local provider has one node; for more, use kind, which needs a Docker engine (PROVIDER=kind)"
  [[ $EUID -eq 0 ]] || die "the local provider needs root; without root, PerfLab needs a running Docker engine. $(docker_error)"
  require_packages containerd:containerd ctr:containerd runc:runc /usr/lib/cni/bridge:containernetworking-plugins \
    iptables:iptables conntrack:conntrack socat:socat ip:iproute2 openssl:openssl
}

provider_up() {
  local_require
  with_lock "cluster-$CLUSTER" local_up
}

local_up() {
  component_fetch "${LOCAL_COMPONENTS[@]}" &
  KUBE=$(component_build kube)
  ETCD=$(component_build etcd)
  PAUSE=$(component_build pause)
  mkdir -p "$STATE" "$LOGS" "$RUN" "$CONFIG"
  pki_ensure
  sandbox_ensure
  control_plane_up
  node_up
  addons_up
  log "cluster \"$CLUSTER\" is up: export KUBECONFIG=$KUBECONFIG_FILE"
}

provider_down() {
  [[ $EUID -eq 0 ]] || die "the local provider needs root"
  with_lock "cluster-$CLUSTER" local_down
}

local_down() {
  sandbox_end
  cgroup_remove
  if grep -q " ${STATE}[/ ]" /proc/self/mountinfo; then
    die "$STATE has a mount, whose content would be deleted: unmount it first"
  fi
  rm -rf "$STATE" "$RUN" "$CLUSTER_DIR"
  rmdir --ignore-fail-on-non-empty /run/perflab "$CACHE/clusters" 2>/dev/null || true
  # The last cluster removes the mount points, if nothing else uses them.
  if rmdir /var/lib/perflab 2>/dev/null; then rmdir /var/lib/{cni,kubelet} 2>/dev/null || true; fi
  log "deleted cluster \"$CLUSTER\""
}

provider_status() {
  local failed=0
  if ! sandbox_alive; then
    echo "cluster \"$CLUSTER\" (local) is not running"
    return 1
  fi
  echo "cluster \"$CLUSTER\" (local), state in $STATE, logs in $LOGS"
  daemons_status || failed=1
  ((failed)) || addons_report "${ADDONS[@]}" || failed=1
  echo
  containerd_ctr images ls 2>/dev/null | awk '$1 ~ /^localhost\// { print "  " $1 "  " $4 " " $5 }'
  return "$failed"
}
