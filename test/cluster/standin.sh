#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A stub of docker, kind, helm, kubectl, ctr and others: records its calls, and answers what the
# scripts of hack/ need. STANDIN is a directory: calls lists the calls, node exists while a node
# does, broken while it can't be started, pulls how many waits a pull takes, images has a name and the digest of its configuration
# per line.
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
  # A later image of a name replaces the earlier one.
  sed -i "\|^$name |d" "$STANDIN/images"
  printf '%s %s\n' "$name" "$id" >>"$STANDIN/images"
}

docker_like() {
  case "$1 ${2:-}" in
    "inspect "*) [[ -e $STANDIN/node ]] ;;
    "image inspect") grep -qxF "$3" "$STANDIN/engine" ;;
    "save --help") echo "${DOCKER_SAVE_HELP:-}" ;;
    "save --platform") archive "$5" "$6" ;;
    "save "*) archive "$3" "$4" ;;
    "version --format") echo linux/arm64 ;;
    "info --format") echo "${DOCKER_CGROUP:-2}" ;;
    "start "*) [[ ! -e $STANDIN/broken ]] || { echo "Error: port is already allocated" >&2 && return 1; } ;;
    "exec "*) [[ -e $STANDIN/node ]] && shift 2 && ctr_like "$@" ;;
  esac
}

# ctr_like COMMAND... lists images with the digests of their manifests, and prints a manifest.
ctr_like() {
  local all=$*
  case $all in
    *"images ls name=="*)
      echo "REF TYPE DIGEST SIZE"
      awk -v name="${all##*name==}" '$1 == name { print $1, "type", "sha256:" $2, "1 MiB" }' "$STANDIN/images"
      ;;
    *"content get "*) printf '{"schemaVersion": 2,\n "config": {"size": 7, "digest": "%s"}, "layers": [{"digest": "sha256:%064d"}]}' "${all##* }" 0 ;;
  esac
}

kind_like() {
  case "$1 ${2:-}" in
    "create cluster")
      touch "$STANDIN/node"
      echo kubeconfig >"$(sed -E 's/.*--kubeconfig ([^ ]+).*/\1/' <<<"$*")"
      ;;
    "delete cluster") rm -f "$STANDIN/node" "$STANDIN/images" && touch "$STANDIN/images" ;;
    "load image-archive") take "$3" ;;
    "get nodes") printf 'stand-in-control-plane\n' ;;
  esac
}

# rollout fails as long as the file pulls has a number above 0, and counts it down.
rollout() {
  local left
  left=$(cat "$STANDIN/pulls" 2>/dev/null || echo 0)
  if ((left > 0)); then
    echo $((left - 1)) >"$STANDIN/pulls"
    echo "error: timed out waiting for the condition" >&2
    return 1
  fi
  echo "deployment successfully rolled out"
}

kubectl_like() {
  case "$*" in
    "version --client"*) printf '{\n  "clientVersion": {\n    "minor": "%s"\n  }\n}' "${KUBECTL_MINOR:-}" ;;
    *"get nodes -o jsonpath={.items[*].status.conditions"*) printf True ;;
    *"get nodes -o jsonpath"*) printf node ;;
    *"rollout status"*) rollout ;;
    *"get pods -o jsonpath"*) if (($(cat "$STANDIN/pulls") > 0)); then echo "True ContainerCreating"; else echo "True "; fi ;;
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
