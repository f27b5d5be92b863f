# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Programs that run as long as the cluster does.
#
# Each has its process id in $RUN/NAME.pid, in the sandbox's numbering, and its command line in
# $RUN/NAME.spec. Both are deleted with the sandbox, so they can't be stale.

DAEMONS=(etcd kube-apiserver api-inside api-outside kube-controller-manager kube-scheduler containerd kubelet kube-proxy)

# daemon_process NAME prints the /proc directory of the running daemon, as seen from outside,
# or nothing if it is not running.
daemon_process() {
  local name=$1 sandbox pid process arguments
  sandbox=$(sandbox_pid)
  [[ -n $sandbox && -s $RUN/$name.pid && -s $RUN/$name.spec ]] || return 0
  pid=$(<"$RUN/$name.pid")
  process=/proc/$sandbox/root/proc/$pid
  { mapfile -d '' -t arguments <"$process/cmdline"; } 2>/dev/null || return 0
  # The id may since belong to another process.
  [[ ${arguments[0]:-} == "$(head -n1 "$RUN/$name.spec")" ]] || return 0
  echo "$process"
}

daemon_alive() { [[ -n $(daemon_process "$1") ]]; }

# daemon NAME CONFIG_FILES COMMAND... makes COMMAND run in the sandbox with these arguments:
# it starts it if it is not running, and restarts it if its command line or one of its
# configuration files has changed.
daemon() { daemon_on sandbox_run "$@"; }

daemon_on_host_network() { daemon_on sandbox_run_on_host_network "$@"; }

daemon_on() {
  local run=$1 name=$2 files=$3 spec
  shift 3
  # shellcheck disable=SC2086 # a list of files
  spec=$(printf '%s\n' "$@" && { [[ -z $files ]] || sha256sum $files; })
  if daemon_alive "$name"; then
    [[ $spec != "$(<"$RUN/$name.spec")" ]] || return 0
    log "restarting $name: its settings have changed"
    daemon_stop "$name"
  fi
  rm -f "$RUN/$name.pid"
  printf '%s\n' "$spec" >"$RUN/$name.spec"
  printf -- '---- %s starts at %s\n' "$name" "$(date -u +%FT%TZ)" >>"$LOGS/$name.log"
  # shellcheck disable=SC2016 # expanded inside
  "$run" setsid --fork bash -c 'echo $$ >"$0"; exec "$@"' "$RUN/$name.pid" "$@" </dev/null >>"$LOGS/$name.log" 2>&1
  wait_for 10 "$name to start" daemon_started "$name"
}

# daemon_started: its process has become the daemon, or has already ended.
daemon_started() {
  [[ -s $RUN/$1.pid ]] || return 1
  daemon_alive "$1" || [[ ! -d /proc/$(sandbox_pid)/root/proc/$(<"$RUN/$1.pid") ]]
}

daemon_stop() {
  local name=$1
  sandbox_run bash -c "kill $(<"$RUN/$name.pid")"
  wait_for 20 "$name to stop" daemon_stopped "$name" ||
    sandbox_run bash -c "kill -KILL $(<"$RUN/$name.pid")"
}

daemon_stopped() { ! daemon_alive "$1"; }

# daemon_ready NAME SECONDS COMMAND... waits until COMMAND succeeds. It fails at once if the
# daemon has ended.
daemon_ready() {
  local name=$1 seconds=$2
  shift 2
  if wait_for "$seconds" "$name to be ready" ready_or_dead "$name" "$@" && daemon_alive "$name"; then return; fi
  daemon_alive "$name" || log "error: $name has ended"
  tail_log "$LOGS/$name.log"
  return 1
}

ready_or_dead() {
  local name=$1
  shift
  daemon_alive "$name" || return 0
  "$@"
}

daemons_status() {
  local name process failed=0
  for name in "${DAEMONS[@]}"; do
    process=$(daemon_process "$name")
    if [[ -n $process ]]; then
      printf '  %-24s running\n' "$name"
    else
      printf '  %-24s NOT RUNNING, see %s\n' "$name" "$LOGS/$name.log"
      failed=1
    fi
  done
  return "$failed"
}
