#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Stands in for a machine with Docker and image registries: Debian's Docker engine in its own
# network namespace, and a node image for kind from Debian's packages and the programs of the
# local cluster. Everything else of kind is real.
#
#   engine.sh up              starts the engine and builds the node image; exits with 69 if this
#                             machine can't run an engine
#   engine.sh run COMMAND...  runs a command in the engine's network, with the settings for kind
#   engine.sh down            stops the engine and its clusters; its data stays in the cache
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../../hack/cluster/lib/common.sh
source "$here/../../hack/cluster/lib/common.sh"
# shellcheck source=../../hack/cluster/lib/packages.sh
source "$ROOT/hack/cluster/lib/packages.sh"
# shellcheck source=../../hack/cluster/lib/components.sh
source "$ROOT/hack/cluster/lib/components.sh"
# shellcheck source=../../hack/images/catalogue.sh
source "$ROOT/hack/images/catalogue.sh"
# shellcheck source=../../hack/images/buildah.sh
source "$ROOT/hack/images/buildah.sh"
# shellcheck source=../../hack/images/base.sh
source "$ROOT/hack/images/base.sh"

NETWORK=perflab-kind
STATE=/run/perflab-kind
DATA=$CACHE/kind

in_network() { nsenter --net="/run/netns/$NETWORK" "$@"; }

engine() { DOCKER_HOST=unix://$STATE/docker.sock docker "$@"; }

engine_answers() { engine version; }

engine_up() {
  if engine_answers >/dev/null 2>&1; then return; fi
  require_packages dockerd:docker.io mmdebstrap:mmdebstrap jq:jq ip:iproute2 iptables:iptables
  mkdir -p "$STATE" "$DATA/docker"
  [[ -e /run/netns/$NETWORK ]] || ip netns add "$NETWORK"
  ip -n "$NETWORK" link set lo up
  in_network bash -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
  install -m 0755 "$here/runc.sh" "$STATE/runc"
  in_network setsid --fork dockerd --data-root "$DATA/docker" --exec-root "$STATE/exec" --pidfile "$STATE/docker.pid" \
    --host "unix://$STATE/docker.sock" --add-runtime "limited=$STATE/runc" --default-runtime limited \
    </dev/null >"$STATE/dockerd.log" 2>&1
  wait_for 30 "the Docker engine" engine_answers || {
    tail_log "$STATE/dockerd.log"
    exit 69
  }
}

engine_down() {
  local pid
  pid=$(cat "$STATE/docker.pid" 2>/dev/null || true)
  if [[ -n $pid ]] && kill "$pid" 2>/dev/null; then
    wait_for 60 "the Docker engine to stop" bash -c "! kill -0 $pid"
  fi
  ! [[ -e /run/netns/$NETWORK ]] || ip netns delete "$NETWORK"
  rm -rf "$STATE"
}

# node_reference names the node image after its inputs.
node_reference() {
  local hash name
  hash=$({
    cat "$here"/engine.sh "$here"/node.sh "$here"/network.yaml "$here"/Dockerfile "$ROOT/hack/cluster/addons/storage.yaml"
    for name in kube kubeadm etcd coredns pause storage; do component_hash "$name"; done
    component_version kind
    base_reference
  } | sha256sum | cut -c1-12)
  echo "localhost/perflab/kind-node:$(component_version kube)-$hash"
}

node_ensure() {
  local reference
  reference=$(node_reference)
  engine image inspect "$reference" >/dev/null 2>&1 || node_make "$reference"
}

# node_make imports a file system of Debian's packages, kind's own files and our programs.
node_make() {
  local reference=$1 work=$DATA/node started=$SECONDS
  log "building the node image $reference"
  rm -rf "$work"
  mkdir -p "$work/kind/images"
  node_programs "$work"
  node_images "$work"
  TMPDIR=$work contained mmdebstrap --quiet --mode=root --variant=minbase \
    --include=systemd,containerd,runc,containernetworking-plugins,conntrack,iptables,iproute2,ethtool,socat,util-linux,mount,kmod,libseccomp2,nfs-common,e2fsprogs,ca-certificates,curl,jq,procps \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --customize-hook="bash '$here/node.sh' '$work' \"\$1\"" "$BASE_SUITE" "$work/node.tar" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >&2
  engine import "$work/node.tar" "$reference-files" >/dev/null
  # The settings of images/base.
  DOCKER_BUILDKIT=0 engine build --quiet --tag "$reference" - >/dev/null <<EOF
FROM $reference-files
ENV container=docker
STOPSIGNAL SIGRTMIN+3
ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]
EOF
  rm -rf "$work"
  log "built the node image in $((SECONDS - started))s"
}

# node_programs WORK collects kind's files and the programs of a node.
node_programs() {
  local module
  module=$(cd "$(component_root kind)" && go mod download sigs.k8s.io/kind && go list -m -f '{{.Dir}}' sigs.k8s.io/kind)
  cp -r "$module/images/base/files" "$1/files"
  chmod -R u+w "$1/files"
  mkdir "$1/programs"
  cp "$(component_build kube)/kube" "$1/programs/"
  cp "$(component_build kubeadm)/kubeadm" "$1/programs/"
  component_version kube >"$1/version"
  sed -e "s|@STORAGE@|$(image_reference storage)|" -e "s|@VOLUMES@|/var/lib/perflab-volumes|" "$ROOT/hack/cluster/addons/storage.yaml" >"$1/storage.yaml"
}

# node_images WORK writes the archives that a node imports when it starts, and the names that
# kubeadm gives them.
node_images() {
  local work=$1 name version
  version=$(component_version kube)
  mkdir -p "$work/context/bin"
  cp "$(component_build coredns)/coredns" "$work/context/"
  cp "$(component_build kube)/kube" "$(component_build etcd)/etcd" "$work/context/bin/"
  for name in kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubectl; do ln -s kube "$work/context/bin/$name"; done
  for name in control-plane coredns; do
    buildah_run bud --quiet --isolation chroot --format docker --network host --build-arg "BASE=$(base_ensure)" --target "$name" \
      --tag "localhost/perflab/kind-$name" --file "$here/Dockerfile" "$work/context" >/dev/null
    buildah_run push --quiet "localhost/perflab/kind-$name" "docker-archive:$work/kind/images/$name.tar:localhost/perflab/kind-$name:latest"
  done
  for name in pause storage; do
    "$ROOT/hack/images/images.sh" build "$name"
    cp "$CACHE/images/$name-"????????????.tar "$work/kind/images/$name.tar"
  done
  "$work/programs/kubeadm" config images list --kubernetes-version "$version" 2>/dev/null | while read -r name; do
    case $name in
      */pause:*) echo "$name $(image_reference pause)" ;;
      */coredns:*) echo "$name localhost/perflab/kind-coredns:latest" ;;
      *) echo "$name localhost/perflab/kind-control-plane:latest" ;;
    esac
  done >"$work/kind/images/names"
  # The name in containerd's configuration.
  echo "registry.k8s.io/pause:3.10 $(image_reference pause)" >>"$work/kind/images/names"
}

run() {
  # The image's provisioner makes directories on its own node, so all nodes share them.
  mkdir -p "$DATA/volumes"
  DOCKER_HOST=unix://$STATE/docker.sock PROVIDER=kind KIND_PULLS=no KIND_NODE=$(node_reference) IMAGE_BUILDER=buildah \
    KIND_MOUNT="$DATA/volumes:/var/lib/perflab-volumes" in_network "$@"
}

case ${1:-} in
  up)
    engine_up
    node_ensure
    ;;
  run) run "${@:2}" ;;
  down) engine_down ;;
  *)
    sed -n '3,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
