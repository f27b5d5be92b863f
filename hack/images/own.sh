# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Loads an image of another project into the cluster.

# own_give REFERENCE [--archive FILE | --dockerfile DIRECTORY]
own_give() {
  [[ $# -eq 1 || $# -eq 3 ]] || usage
  local reference=$1 from=${2:-} source=${3:-} archive
  own_check_reference "$reference"
  provider_select
  provider_require
  case $from in
    --archive) archive=$(own_archive "$reference" "$source") ;;
    --dockerfile) archive=$(own_build "$reference" "$source") ;;
    "") archive=$(own_save "$reference") ;;
    *) usage ;;
  esac
  own_load "$reference" "$archive"
}

# own_check_reference refuses a reference that does not identify one image.
own_check_reference() {
  [[ $1 =~ ^[a-z0-9][a-z0-9._/:-]*:[A-Za-z0-9_][A-Za-z0-9._-]*$ && ${1##*/} == *:* ]] ||
    die "IMAGE \"$1\" has no tag: write NAME:TAG, for example shop/cart:1.0"
  [[ $1 != *:latest ]] || die "IMAGE \"$1\": Kubernetes always pulls latest instead of using the loaded image: use another tag"
}

# own_load REFERENCE ARCHIVE
own_load() {
  local reference=$1 archive=$2 identity present
  identity=$(archive_identity "$archive")
  present=$(provider_image_identity "$(image_full_name "$reference")")
  if [[ $present == "$identity" ]]; then
    log "cluster \"$CLUSTER\" has image $reference already"
    return
  fi
  log "loading image $reference"
  provider_load_archive "$archive" "$present" >&2
  [[ $(provider_image_identity "$(image_full_name "$reference")") == "$identity" ]] ||
    die "the cluster does not have image $reference after loading $archive: check the names in the archive"
}

# own_archive REFERENCE FILE checks an archive, and prints its path.
own_archive() {
  [[ -f $2 ]] || die "ARCHIVE \"$2\" does not exist"
  local names
  names=$(tar -xOf "$2" manifest.json 2>/dev/null) ||
    die "ARCHIVE \"$2\" has no manifest.json: write it with \"docker save\""
  [[ $(grep -o '"RepoTags"' <<<"$names" | wc -l) -eq 1 ]] || die "ARCHIVE \"$2\" has several images: save each in a separate archive"
  grep -q "\"$1\"" <<<"$names" || grep -q "\"$(image_full_name "$1")\"" <<<"$names" ||
    die "ARCHIVE \"$2\" does not have $1, only: $(grep -Eo '"RepoTags":\[[^]]*\]' <<<"$names")"
  realpath "$2"
}

# own_build REFERENCE DIRECTORY builds its Dockerfile, and prints the archive.
own_build() {
  [[ -f $2/Dockerfile ]] || die "DOCKERFILE \"$2\" is not a directory with a Dockerfile"
  local archive
  archive=$(own_place "$1")
  log "building image $1"
  "image_make_with_$(image_builder)" "$1" "$2/Dockerfile" "$2" "$archive.partial"
  mv "$archive.partial" "$archive"
  echo "$archive"
}

# own_save REFERENCE takes an image from the Docker engine, and prints the archive.
own_save() {
  docker_answers || die "no Docker engine is running to build or find $1: set ARCHIVE=file.tar, or DOCKERFILE=directory to build it"
  docker image inspect "$1" >/dev/null 2>&1 ||
    die "the Docker engine has no image $1: pull or build it, or set ARCHIVE=file.tar or DOCKERFILE=directory"
  local archive platform=()
  # An engine with containerd's image store lists all platforms of an image, also those that it lacks.
  ! docker save --help 2>/dev/null | grep -q -e --platform ||
    platform=(--platform "$(docker version --format '{{.Server.Os}}/{{.Server.Arch}}')")
  archive=$(own_place "$1")
  docker save "${platform[@]}" --output "$archive" "$1"
  echo "$archive"
}

# own_place REFERENCE prints the path of its archive: one for each name.
own_place() {
  mkdir -p "$CACHE/images/own"
  rm -f "$CACHE/images/own/${1//[\/:]/_}.tar"{,.partial}
  echo "$CACHE/images/own/${1//[\/:]/_}.tar"
}

# image_full_name REFERENCE: the name in a container runtime.
image_full_name() {
  local first=${1%%/*}
  case $1 in
    */*) [[ $first == *[.:]* || $first == localhost ]] && echo "$1" || echo "docker.io/$1" ;;
    *) echo "docker.io/library/$1" ;;
  esac
}
