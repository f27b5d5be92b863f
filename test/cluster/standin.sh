#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A stub of docker, kind, helm, kubectl, ctr and others: records its calls, and answers what the
# scripts of hack/ need. STANDIN is a directory: calls lists the calls, node exists while a node
# does, images is the output of "ctr images ls".
set -euo pipefail
program=${0##*/}
printf '%s %s\n' "$program" "$*" >>"$STANDIN/calls"

identity() { printf '%s' "$1" | sha256sum | cut -c1-64; }

# archive FILE REFERENCE writes an archive as docker save does.
archive() {
  local folder
  folder=$(mktemp -d)
  printf '[{"Config":"blobs/sha256/%s","RepoTags":["%s"],"Layers":[]}]' "$(identity "$2")" "$2" >"$folder/manifest.json"
  tar -C "$folder" -cf "$1" manifest.json
  rm -r "$folder"
}

# take FILE loads an image into the node, under its name in the runtime.
take() {
  local manifest name id
  manifest=$(tar -xOf "$1" manifest.json)
  name=$(sed -E 's/.*"RepoTags":\["([^"]*)".*/\1/' <<<"$manifest")
  id=$(grep -Eom1 '[0-9a-f]{64}' <<<"$manifest")
  case $name in
    localhost/* | *.*/*) ;;
    */*) name=docker.io/$name ;;
    *) name=docker.io/library/$name ;;
  esac
  printf '%s type sha256:m%s 1 MiB\nsha256:%s type sha256:m%s 1 MiB\n' "$name" "$id" "$id" "$id" >>"$STANDIN/images"
}

docker_like() {
  case "$1 ${2:-}" in
    "inspect "*) [[ -e $STANDIN/node ]] ;;
    "image inspect") grep -qxF "$3" "$STANDIN/engine" ;;
    "save "*) archive "$3" "$4" ;;
    "exec "*) cat "$STANDIN/images" ;;
  esac
}

kind_like() {
  case "$1 ${2:-}" in
    "create cluster") touch "$STANDIN/node" ;;
    "delete cluster") rm -f "$STANDIN/node" "$STANDIN/images" && touch "$STANDIN/images" ;;
    "load image-archive") take "$3" ;;
  esac
}

kubectl_like() {
  case "$*" in
    *"get node "*) printf True ;;
    *"get nodes -o jsonpath"*) printf node ;;
    *"rollout status"*) echo "deployment successfully rolled out" ;;
  esac
}

buildah_like() {
  local last=${!#}
  case "$*" in
    *" push "*) archive "$(cut -d: -f2 <<<"$last")" "$(cut -d: -f3- <<<"$last")" ;;
  esac
}

case $program in
  docker) docker_like "$@" ;;
  kind) kind_like "$@" ;;
  kubectl) kubectl_like "$@" ;;
  buildah) buildah_like "$@" ;;
esac
