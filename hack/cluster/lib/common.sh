# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Directories, messages and waiting. Sourced by every script here and in hack/images.

shopt -s inherit_errexit

PATH=$PATH:/usr/sbin:/sbin # missing in some of root's shells

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
CACHE=${PERFLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/perflab}
CLUSTER=${CLUSTER:-perflab}
# STRIMZI is the cluster's release, real or emulated. The CRDs of two releases conflict.
STRIMZI=${STRIMZI:-1.2.0}
export ROOT CACHE CLUSTER STRIMZI

CLUSTER_DIR=$CACHE/clusters/$CLUSTER
KUBECONFIG_FILE=$CLUSTER_DIR/kubeconfig
export CLUSTER_DIR KUBECONFIG_FILE

# log uses standard error, because callers read results from standard output.
log() { printf '%s\n' "$*" >&2; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# wait_for SECONDS WHAT COMMAND... runs COMMAND until it succeeds. It fails after SECONDS with
# WHAT; the caller adds the relevant log.
wait_for() {
  local seconds=$1 what=$2 deadline
  shift 2
  deadline=$((SECONDS + seconds))
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS >= deadline)); then
      log "error: waited ${seconds}s for $what"
      return 1
    fi
    sleep 0.2
  done
}

# tail_log FILE shows the end of a log after a failure.
tail_log() {
  [[ -s $1 ]] || return 0
  log "---- last lines of $1"
  tail -n "${2:-25}" "$1" >&2
  log "----"
}

# with_lock NAME COMMAND... runs COMMAND while no other process of this user has the lock
# NAME, so that parallel callers don't do the same work twice. COMMAND runs in a subshell and
# without the descriptor, so that a daemon that it starts does not keep the lock.
with_lock() {
  local name=$1
  shift
  mkdir -p "$CACHE/locks"
  (
    flock -w 3600 9 || die "another process has held $CACHE/locks/$name for an hour"
    "$@" 9>&-
  ) 9>"$CACHE/locks/$name"
}
