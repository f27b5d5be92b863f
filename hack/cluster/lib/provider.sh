# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The two kinds of cluster, behind one interface. A provider defines:
#
#   provider_up                      creates or repairs the cluster
#   provider_down                    deletes the cluster
#   provider_status                  prints the cluster's state; fails unless it is healthy
#   provider_image_identity REF      prints the configuration digest of an image in the
#                                    cluster, or nothing
#   provider_load_archive FILE OLD   loads the image in a docker archive; OLD is the
#                                    previous identity of its reference, if any

# docker_answers is called often, so its result is cached.
docker_answers() {
  if [[ -z ${DOCKER_ANSWERS:-} ]]; then
    DOCKER_ANSWERS=no
    ! timeout 10 docker info >/dev/null 2>&1 || DOCKER_ANSWERS=yes
    export DOCKER_ANSWERS
  fi
  [[ $DOCKER_ANSWERS == yes ]]
}

provider_name() {
  if [[ -n ${PROVIDER:-} ]]; then echo "$PROVIDER"; elif docker_answers; then echo kind; else echo local; fi
}

# provider_select defines the functions above.
provider_select() {
  [[ $CLUSTER =~ ^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$ ]] ||
    die "CLUSTER \"$CLUSTER\" must be at most 32 lower-case letters, digits and dashes"
  [[ $STRIMZI == 1.2.0 || $STRIMZI == 0.45.2 ]] || die "unknown STRIMZI \"$STRIMZI\": choose 1.2.0 or 0.45.2"
  local name
  name=$(provider_name)
  [[ $name == local || $name == kind ]] || die "unknown PROVIDER \"$name\": choose local or kind"
  # shellcheck source=/dev/null
  source "$ROOT/hack/cluster/providers/$name.sh"
}

# identity_in_listing REF reads the output of "ctr images ls". The kubelet's interface adds a
# second name for each image, with the digest of its configuration.
identity_in_listing() {
  awk -v ref="$1" '
    { digest[$1] = $3 }
    $1 ~ /^sha256:/ { identity[$3] = substr($1, 8) }
    END { if (ref in digest) print identity[digest[ref]] }'
}
