# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The base image of buildah builds: Debian, made from packages alone.

BASE_SUITE=bookworm
BASE_MIRROR=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
BASE_SECURITY_MIRROR=${DEBIAN_SECURITY_MIRROR:-http://deb.debian.org/debian-security}

# base_sources prints the package sources the base is made from and keeps.
base_sources() {
  echo "deb $BASE_MIRROR $BASE_SUITE main"
  echo "deb $BASE_MIRROR $BASE_SUITE-updates main"
  echo "deb $BASE_SECURITY_MIRROR $BASE_SUITE-security main"
}

# base_filesystem TARBALL makes the file system of the base.
base_filesystem() {
  # shellcheck disable=SC2016 # expanded by mmdebstrap
  base_sources | contained mmdebstrap --quiet --mode=root --variant=minbase --include=ca-certificates \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*.bin "$1"/etc/resolv.conf "$1"/etc/hostname' \
    "$BASE_SUITE" "$1" - >&2
}

# base_reference names the base after what it is made from.
base_reference() {
  local hash
  hash=$({ declare -f base_filesystem; base_sources; } | sha256sum | cut -c1-12)
  echo "localhost/perflab/base:$BASE_SUITE-$hash"
}

# base_ensure makes the base unless it is there, and prints its reference.
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
