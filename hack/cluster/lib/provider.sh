# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The two kinds of cluster, behind one interface. A provider defines:
#
#   provider_up                      creates or repairs the cluster
#   provider_down                    deletes the cluster
#   provider_status                  prints the cluster's state; fails unless it is healthy
#   provider_registry                starts a registry and prints its name, HOST:PORT
#   provider_ctr ARGS...             runs containerd's ctr in the cluster
#   provider_running                 fails unless the cluster is running
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

# docker_error prints why Docker does not answer.
docker_error() {
  if have docker; then echo "docker info: $(timeout 10 docker info 2>&1 >/dev/null | head -n 1)"; else echo "docker is not installed"; fi
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
  [[ $(uname -s) == Linux ]] || die "the local cluster needs Linux, and this is $(uname -s): use a Linux virtual machine, or install PerfLab into a cluster that you have (docs/install.md)"
  name=$(provider_name)
  [[ $name == local || $name == kind ]] || die "unknown PROVIDER \"$name\": choose local or kind"
  # shellcheck source=/dev/null
  source "$ROOT/hack/cluster/providers/$name.sh"
}

# provider_require fails with advice unless the cluster is running.
provider_require() {
  provider_running || die "cluster \"$CLUSTER\" is not running: create or repair it with make cluster-up"
}

# provider_image_identity REF prints the digest of an image's configuration in the cluster,
# which also identifies it in archives, or nothing. The name sha256:... that the kubelet adds to
# an image is not reliable: containerd 1.6 does not add it again to a later image of a name.
provider_image_identity() {
  local digest
  digest=$(provider_ctr images ls "name==$1" 2>/dev/null | awk 'NR > 1 { print $3; exit }')
  [[ -z $digest ]] || provider_ctr content get "$digest" | config_digest || true
}

# config_digest reads an image's manifest.
config_digest() { tr -d ' \n\t' | grep -Eo '"config":\{[^}]*\}' | grep -Eom1 '[0-9a-f]{64}'; }
