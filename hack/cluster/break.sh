#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Breaks a part of the local cluster, for tests of faults. `cluster.sh up` restarts what was
# killed. See usage below.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
source "$here/lib/common.sh"
# shellcheck source=lib/packages.sh
source "$here/lib/packages.sh"
# shellcheck source=lib/components.sh
source "$here/lib/components.sh"
# shellcheck source=lib/provider.sh
source "$here/lib/provider.sh"
# shellcheck source=lib/kubectl.sh
source "$here/lib/kubectl.sh"

usage() {
  cat <<EOF
usage: break.sh kill|pause|resume DAEMON
       break.sh kill-container|exhaust-container ID
       break.sh bound-volumes MIB | fill-volumes | free-volumes
       break.sh move-clock SECONDS

kill               ends a daemon of the cluster as kill -9 does
pause, resume      a daemon that is there and does not answer
kill-container     ends a container's processes as kill -9 does
exhaust-container  uses up the container's memory, so that the kernel kills its first process
bound-volumes      gives all volumes together this much room, once, before there are any
fill-volumes       takes the room that is left on them, free-volumes gives it back
move-clock         moves the clock of THIS MACHINE by so many seconds, back with a minus

DAEMON   one of: ${DAEMONS[*]}
CLUSTER  the cluster's name, now "$CLUSTER"; only the local provider can be broken
EOF
}

# signal_daemon NAME SIGNAL
signal_daemon() {
  [[ " ${DAEMONS[*]} " == *" $1 "* ]] || die "unknown daemon \"$1\": choose from ${DAEMONS[*]}"
  daemon_alive "$1" || die "$1 is not running"
  sandbox_run bash -c "kill -$2 $(<"$RUN/$1.pid")"
}

kill_container() { containerd_ctr tasks kill --signal SIGKILL "$1"; }

# container_group ID prints the control group that limits its memory.
container_group() {
  local base=$CGROUP_ROOT
  cgroup_is_v2 || base=$CGROUP_ROOT/memory
  find "$base$CGROUP" -type d -name "*$1*" -print -quit
}

# exhaust_container joins the group and allocates memory until the kernel kills one of its
# processes: preferably one of the container.
exhaust_container() {
  local group pid
  group=$(container_group "$1")
  [[ -n $group ]] || die "container $1 is not running"
  while read -r pid; do echo 1000 >"/proc/$pid/oom_score_adj"; done <"$group/cgroup.procs"
  # shellcheck disable=SC2016 # expanded inside
  bash -c 'echo $$ >"$0/cgroup.procs"; echo 0 >/proc/self/oom_score_adj; exec timeout 20 tail /dev/zero' "$group" 2>/dev/null || true
}

# bound_volumes MIB: a separate file system, created before the first volume.
bound_volumes() {
  local image=$STATE/volumes.img
  if volumes_bounded; then return; fi
  [[ -z $(ls -A "$STATE/volumes") ]] || die "volumes already exist: run bound-volumes before the first one is created"
  require_packages mkfs.ext4:e2fsprogs
  truncate -s "$1M" "$image"
  mkfs.ext4 -q -m 0 "$image"
  sandbox_run mount -o loop "$image" "$STATE/volumes"
  sandbox_run rmdir "$STATE/volumes/lost+found"
  # The provisioner still sees the directory below the mount.
  kubectl -n kube-system rollout restart deployment/storage
  kubectl -n kube-system rollout status deployment/storage --timeout=60s
}

volumes_bounded() { sandbox_run mountpoint -q "$STATE/volumes"; }

fill_volumes() {
  volumes_bounded || die "volumes without a limit would fill the machine's disk: run break.sh bound-volumes first"
  sandbox_run dd if=/dev/zero of="$STATE/volumes/ballast" bs=1M status=none 2>/dev/null || true
}

free_volumes() { sandbox_run rm -f "$STATE/volumes/ballast"; }

move_clock() { date --set="@$(($(date +%s) + $1))" >/dev/null; }

main() {
  local action=${1:-help}
  [[ $(provider_name) == local ]] || die "break.sh works only with the local provider, and this is $(provider_name)"
  provider_select
  shift || true
  case $action in
    kill) signal_daemon "$1" KILL ;;
    pause) signal_daemon "$1" STOP ;;
    resume) signal_daemon "$1" CONT ;;
    kill-container) kill_container "$1" ;;
    exhaust-container) exhaust_container "$1" ;;
    bound-volumes) bound_volumes "$1" ;;
    fill-volumes) fill_volumes ;;
    free-volumes) free_volumes ;;
    move-clock) move_clock "$1" ;;
    help | -h | --help) usage ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
}

main "$@"
