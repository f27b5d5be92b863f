#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the container images and loads them into the cluster. See usage below.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../cluster/lib/common.sh
source "$here/../cluster/lib/common.sh"
# shellcheck source=../cluster/lib/packages.sh
source "$here/../cluster/lib/packages.sh"
# shellcheck source=../cluster/lib/components.sh
source "$here/../cluster/lib/components.sh"
# shellcheck source=../cluster/lib/provider.sh
source "$here/../cluster/lib/provider.sh"
# shellcheck source=catalogue.sh
source "$here/catalogue.sh"
# shellcheck source=buildah.sh
source "$here/buildah.sh"
# shellcheck source=base.sh
source "$here/base.sh"
# shellcheck source=own.sh
source "$here/own.sh"

usage() {
  cat >&2 <<EOF
usage: images.sh build|load [--missing-ok] [NAME...]
       images.sh push NAME REPOSITORY
       images.sh give NAME:TAG [--archive FILE | --dockerfile DIRECTORY]
       images.sh list

build  builds the images whose inputs changed
load   builds images, loads missing ones into CLUSTER (now "$CLUSTER") and prints their
       names, so that callers can restart their workloads
push   builds an image, pushes it to a repository, HOST/PATH, and prints its name and digest
give   loads your own image into CLUSTER: from an archive of "docker save", built from
       the Dockerfile of a directory, or else from the Docker engine
list   prints each image with its reference and its state

NAME   of: ${IMAGES[*]}; without a name, all of: ${PRODUCT_IMAGES[*]} postgresql
EOF
  exit 2
}

# IMAGE_BUILDER is docker or buildah, by default docker if an engine runs.
image_builder() {
  if [[ -n ${IMAGE_BUILDER:-} ]]; then echo "$IMAGE_BUILDER"; elif docker_answers; then echo docker; else echo buildah; fi
}

# image_base: the value of the BASE argument.
image_base() { if [[ $(image_builder) == docker ]]; then echo default; else base_reference; fi; }

# image_archive NAME HASH: the built image; its digest is in *.id.
image_archive() { echo "$CACHE/images/$1-$2.tar"; }

# image_build NAME builds it if its inputs changed, and prints its archive.
image_build() {
  local name=$1 context hash archive
  context=$(image_context "$name")
  hash=$(image_hash "$name" "$context")
  archive=$(image_archive "$name" "$hash")
  [[ -s $archive.id ]] || with_lock images image_make "$name" "$context" "$archive"
  echo "$archive"
}

image_make() {
  local name=$1 context=$2 archive=$3 started=$SECONDS reference dockerfile
  [[ ! -s $archive.id ]] || return 0 # built while we waited for the lock
  reference=$(image_reference "$name")
  dockerfile=$(image_dockerfile "$name")
  log "building image $reference"
  mkdir -p "$CACHE/images"
  rm -f "$CACHE/images/$name-"????????????.tar{,.id} "$CACHE/images/.$name.partial"
  "image_make_with_$(image_builder)" "$reference" "$dockerfile" "$context" "$CACHE/images/.$name.partial"
  mv "$CACHE/images/.$name.partial" "$archive"
  archive_identity "$archive" >"$archive.id.partial"
  mv "$archive.id.partial" "$archive.id"
  log "built image $reference in $((SECONDS - started))s"
}

image_make_with_docker() {
  # Attestations would give equal images different identities.
  BUILDX_NO_DEFAULT_ATTESTATIONS=1 docker build --quiet --tag "$1" --file "$2" "$3" >&2
  docker save --output "$4" "$1"
}

# archive_identity ARCHIVE: the digest of the image's configuration, with which container
# runtimes identify an image.
archive_identity() {
  tar -xOf "$1" manifest.json | grep -Eo '"Config":"[^"]*"' | grep -Eom1 '[0-9a-f]{64}'
}

# image_load NAME builds it and prints its name if the cluster lacked it.
image_load() {
  local name=$1 archive reference present
  archive=$(image_build "$name")
  reference=$(image_reference "$name")
  present=$(provider_image_identity "$reference")
  [[ $present != "$(<"$archive.id")" ]] || return 0
  log "loading image $reference"
  provider_load_archive "$archive" "$present" >&2
  echo "$name"
}

# image_push NAME REPOSITORY
image_push() {
  local archive
  archive=$(image_build "$1")
  "image_push_with_$(image_builder)" "$(image_reference "$1")" "$archive" "$2"
}

image_push_with_docker() {
  docker load --quiet --input "$2" >&2
  docker tag "$1" "$3"
  docker push --quiet "$3" >&2
  docker inspect --format '{{index .RepoDigests 0}}' "$3"
}

image_list() {
  local name state
  for name in "${IMAGES[@]}"; do
    state="not built"
    [[ -f $(image_dockerfile "$name") ]] || state="no Dockerfile"
    ! compgen -G "$CACHE/images/$name-????????????.tar.id" >/dev/null || state=built
    printf '%-16s %-44s %s\n' "$name" "$(image_reference "$name")" "$state"
  done
}

# each_image ACTION MISSING_OK NAME... applies ACTION to the images that can be built.
each_image() {
  local action=$1 missing_ok=$2 name
  shift 2
  for name in "$@"; do
    if [[ -f $(image_dockerfile "$name") ]]; then
      "$action" "$name"
    elif [[ $missing_ok == yes ]]; then
      log "skipping image $name: $(image_dockerfile "$name") is missing"
    else
      die "image $name: $(image_dockerfile "$name") is missing"
    fi
  done
}

main() {
  [[ $# -gt 0 ]] || usage
  local command=$1 missing_ok=no names=() argument
  shift
  case $command in
    give)
      own_give "$@"
      return
      ;;
    push)
      [[ $# -eq 2 && " ${IMAGES[*]} " == *" $1 "* ]] || usage
      image_push "$@"
      return
      ;;
  esac
  for argument in "$@"; do
    case $argument in
      --missing-ok) missing_ok=yes ;;
      -*) usage ;;
      *)
        [[ " ${IMAGES[*]} " == *" $argument "* ]] || die "unknown image \"$argument\": choose from ${IMAGES[*]}"
        names+=("$argument")
        ;;
    esac
  done
  [[ ${#names[@]} -gt 0 ]] || names=("${PRODUCT_IMAGES[@]}" postgresql)
  case $command in
    build) each_image image_build "$missing_ok" "${names[@]}" >/dev/null ;;
    load)
      provider_select
      provider_require
      each_image image_load "$missing_ok" "${names[@]}"
      ;;
    list) image_list ;;
    *) usage ;;
  esac
}

main "$@"
