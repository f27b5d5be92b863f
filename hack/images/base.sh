# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The base image of buildah builds: Debian, from packages only.

BASE_SUITE=bookworm
# DEBIAN_MIRROR replaces Debian's own package server.
DEBIAN_MIRROR=${DEBIAN_MIRROR:-}

# base_filesystem TARBALL builds the file system of the base.
base_filesystem() {
  # shellcheck disable=SC2016 # expanded by mmdebstrap
  contained mmdebstrap --quiet --mode=root --variant=minbase --include=ca-certificates \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*.bin "$1"/etc/resolv.conf "$1"/etc/hostname' \
    "$BASE_SUITE" "$1" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >&2
}

# base_reference names the base after its inputs.
base_reference() {
  local hash
  hash=$({ declare -f base_filesystem; echo "$DEBIAN_MIRROR"; } | sha256sum | cut -c1-12)
  echo "localhost/perflab/base:$BASE_SUITE-$hash"
}

# base_ensure builds the base unless it exists, and prints its reference.
base_ensure() {
  local reference
  reference=$(base_reference)
  buildah_run inspect --type image "$reference" >/dev/null 2>&1 || base_make "$reference"
  echo "$reference"
}

base_make() {
  local reference=$1 started=$SECONDS partial=$CACHE/images/.base
  local tarball=$partial/base.tar
  log "making the Debian base image"
  rm -rf "$partial"
  mkdir -p "$partial"
  TMPDIR=$partial base_filesystem "$tarball"
  local container
  container=$(buildah_run from scratch)
  buildah_run add --quiet "$container" "$tarball" / >/dev/null
  buildah_run config --cmd /bin/bash "$container" >&2
  buildah_run commit --quiet --rm "$container" "$reference" >/dev/null
  rm -rf "$partial"
  log "made the base image in $((SECONDS - started))s"
}
