#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The first process of the sandbox: prepares it for a node, then becomes the process that keeps
# it open. sandbox.sh starts it in new namespaces.
set -euo pipefail

state=$1 run=$2 node_address=$3 pause=$4 tag=$5

prepare_mounts() {
  # Fixed directories of daemons must be separate from those of the host and of other clusters.
  mkdir -p "$state"/{run,log,cni,kubelet} /var/lib/{cni,kubelet}
  mount --bind "$run" "$state/run"
  mount -t tmpfs -o mode=0755 tmpfs /run
  mkdir -p "$run"
  mount --move "$state/run" "$run"
  mount --bind "$state/log" /var/log
  mount --bind "$state/cni" /var/lib/cni
  mount --bind "$state/kubelet" /var/lib/kubelet

  # cAdvisor, in the kubelet, expects containerd only here.
  mkdir /run/containerd
  ln -s "$run/containerd.sock" /run/containerd/containerd.sock

  pretend_setting vm/overcommit_memory 1
  pretend_setting vm/panic_on_oom 0
  pretend_setting kernel/panic 10
  pretend_setting kernel/panic_on_oops 1
  pretend_setting kernel/keys/root_maxkeys 1000000
  pretend_setting kernel/keys/root_maxbytes 25000000

  # Pods can request mount propagation.
  mount --make-rshared /
}

# pretend_setting NAME VALUE: the kubelet requires these values and would otherwise set them
# for the whole machine; it reads the wanted value instead.
pretend_setting() {
  local file=/run/pretend/$1
  [[ -e /proc/sys/$1 ]] || return 0
  mkdir -p "$(dirname "$file")"
  echo "$2" >"$file"
  mount --bind "$file" "/proc/sys/$1"
}

prepare_network() {
  ip link set lo up
  # A bridge without ports: every kernel that runs pods has bridges.
  ip link add node0 type bridge
  ip address add "$node_address/24" dev node0
  ip link set node0 up
  # A route to nowhere, with which programs find the machine's main address.
  ip route add default dev node0
  echo 1 >/proc/sys/net/ipv4/ip_forward
  echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables
}

prepare_mounts
prepare_network
exec "$pause" "$tag"
