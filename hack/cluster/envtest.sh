#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints a directory with kube-apiserver, etcd and kubectl, for KUBEBUILDER_ASSETS, and builds
# them if necessary. Needs only Go.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
source "$here/lib/common.sh"
# shellcheck source=lib/components.sh
source "$here/lib/components.sh"

main() {
  local kube etcd dir
  kube=$(component_build kube)
  etcd=$(component_build etcd)
  dir=$CACHE/envtest/$(basename "$kube")-$(basename "$etcd")
  mkdir -p "$dir"
  ln -sfn "$kube/kube-apiserver" "$dir/kube-apiserver"
  ln -sfn "$kube/kubectl" "$dir/kubectl"
  ln -sfn "$etcd/etcd" "$dir/etcd"
  echo "$dir"
}

main "$@"
