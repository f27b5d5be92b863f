#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints a directory holding kube-apiserver, etcd and kubectl, for
# KUBEBUILDER_ASSETS, building them if need be. Needs Go and nothing else.
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
