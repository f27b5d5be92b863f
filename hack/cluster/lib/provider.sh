# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The two ways to have a cluster, behind one interface. A provider defines:
#
#   provider_up                      makes the cluster whole, whatever state it is in
#   provider_down                    leaves nothing of it
#   provider_status                  prints how it is; fails unless it is well
#   provider_image_identity REF      prints the configuration digest of an image the
#                                    cluster has, nothing if it has not got it
#   provider_load_archive FILE OLD   gives the cluster the image in a docker archive; OLD is
#                                    the identity that its reference had before, if any

# docker_answers is asked often: the answer is kept.
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

# identity_in_listing REF reads what "ctr images ls" prints. The kubelet's
# interface names each image a second time by the digest of its configuration.
identity_in_listing() {
  awk -v ref="$1" '
    { digest[$1] = $3 }
    $1 ~ /^sha256:/ { identity[$3] = substr($1, 8) }
    END { if (ref in digest) print identity[digest[ref]] }'
}
