# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Builds without a daemon. All of buildah's state is in the cache.

# contained COMMAND... runs it so that its mounts and processes end with it, and it ends with
# this script.
contained() { unshare --mount --pid --fork --kill-child --mount-proc --propagation private "$@"; }

buildah_run() {
  mkdir -p "$CACHE/buildah"
  contained buildah --root "$CACHE/buildah/storage" --runroot "$CACHE/buildah/run" --storage-driver overlay "$@"
}

buildah_require() {
  [[ $EUID -eq 0 ]] || die "building images without Docker needs root"
  require_packages buildah:buildah mmdebstrap:mmdebstrap runc:runc
}

# image_make_with_buildah REFERENCE DOCKERFILE CONTEXT ARCHIVE
image_make_with_buildah() {
  local reference=$1 dockerfile=$2 context=$3 archive=$4 arguments=()
  buildah_require
  if image_wants_base "$dockerfile"; then
    local base
    base=$(base_ensure)
    arguments=(--build-arg "BASE=$base")
  fi
  buildah_run bud --quiet --isolation chroot --layers --format docker --network host \
    "${arguments[@]}" --tag "$reference" --file "$dockerfile" "$context" >/dev/null
  buildah_run push --quiet "$reference" "docker-archive:$archive:$reference" >&2
}

# image_push_with_buildah REFERENCE ARCHIVE REPOSITORY
image_push_with_buildah() {
  local digest
  buildah_require
  digest=$(mktemp)
  buildah_run pull --quiet "docker-archive:$2" >&2
  # Like Docker, without TLS only on the loopback.
  buildah_run push --quiet --tls-verify="$([[ $3 == localhost:* ]] && echo false || echo true)" --digestfile "$digest" "$1" "docker://$3" >&2
  echo "$3@$(<"$digest")"
  rm "$digest"
}
