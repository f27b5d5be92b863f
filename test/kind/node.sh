#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Arranges a node's file system as images/base of kind does, for Debian's containerd and for a
# machine with cgroup v1. mmdebstrap calls it: node.sh WORK ROOT
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$1 root=$2

services() {
  find "$root/lib/systemd/system/sysinit.target.wants/" -name systemd-tmpfiles-setup.service -delete
  rm -f "$root"/lib/systemd/system/multi-user.target.wants/* "$root"/etc/systemd/system/*.wants/* \
    "$root"/lib/systemd/system/local-fs.target.wants/* "$root"/lib/systemd/system/sockets.target.wants/*udev* \
    "$root"/lib/systemd/system/sockets.target.wants/*initctl* "$root"/lib/systemd/system/basic.target.wants/*
  echo "ReadKMsg=no" >>"$root/etc/systemd/journald.conf"
  ln -sf /usr/lib/systemd/systemd "$root/sbin/init"
  cat >"$root/etc/systemd/system/import-images.service" <<EOF
[Unit]
Description=Imports the node's images, instead of an import when the image is built
After=containerd.service
Requires=containerd.service
Before=kubelet.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/kind/bin/import-images.sh
[Install]
WantedBy=multi-user.target
EOF
  cat >"$root/kind/bin/import-images.sh" <<'EOF'
#!/bin/bash
set -eu
for archive in /kind/images/*.tar; do ctr --namespace k8s.io images import "$archive"; done
while read -r name image; do ctr --namespace k8s.io images tag --force "$image" "$name"; done </kind/images/names
EOF
  chmod 0755 "$root"/kind/bin/*.sh
  chroot "$root" systemctl enable kubelet.service containerd.service undo-mount-hacks.service import-images.service
  chroot "$root" systemctl mask systemd-binfmt.service
}

containerd() {
  local program
  for program in containerd ctr containerd-shim-runc-v2; do ln -s "/usr/bin/$program" "$root/usr/local/bin/$program"; done
  mkdir -p "$root/usr/local/sbin" "$root/opt/cni"
  ln -s /usr/sbin/runc "$root/usr/local/sbin/runc"
  ln -s /usr/lib/cni "$root/opt/cni/bin"
  sed -i '/OOMScoreAdjust/d; /^Limit/d' "$root/etc/systemd/system/containerd.service" "$root/etc/systemd/system/kubelet.service"
  sed -i 's/restrict_oom_score_adj = false/restrict_oom_score_adj = true/' "$root/etc/containerd/config.toml"
  chroot "$root" ctr oci spec |
    jq '.hooks.createContainer[.hooks.createContainer| length] |= . + {"path": "/kind/bin/mount-product-files.sh"} | del(.process.rlimits)' >"$root/etc/containerd/cri-base.json"
}

kubernetes() {
  install -m 0755 "$work/programs/kube" "$work/programs/kubeadm" "$root/usr/bin/"
  ln -s kube "$root/usr/bin/kubelet"
  ln -s kube "$root/usr/bin/kubectl"
  mkdir -p "$root/etc/kubernetes/manifests" "$root/kind/manifests" "$root/etc/cni/net.d"
  cp "$work/version" "$root/kind/version"
  cp -r "$work/kind/images" "$root/kind/"
  cp "$work/storage.yaml" "$root/kind/manifests/default-storage.yaml"
  cp "$here/network.yaml" "$root/kind/manifests/default-cni.yaml"
  echo 'KUBELET_EXTRA_ARGS=--runtime-cgroups=/system.slice/containerd.service --fail-cgroupv1=false --feature-gates=KubeletInUserNamespace=true' >"$root/etc/default/kubelet"
}

cp -r "$work/files/." "$root/"
chmod 0755 "$root"/usr/local/bin/* "$root"/kind/bin/*
services
containerd
kubernetes
