# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The namespaces of the cluster, and the process that keeps them open.

# The holder is identified by its arguments, so no file can be stale.
SANDBOX_TAG=perflab-cluster=$CLUSTER

# sandbox_pid prints the holder's process id, or nothing.
sandbox_pid() {
  local directory arguments
  for directory in /proc/[0-9]*; do
    { mapfile -d '' -t arguments <"$directory/cmdline"; } 2>/dev/null || continue
    if [[ ${arguments[0]:-} == */pause && ${arguments[1]:-} == "$SANDBOX_TAG" ]]; then
      echo "${directory#/proc/}"
      return
    fi
  done
}

sandbox_alive() { [[ -n $(sandbox_pid) ]]; }

sandbox_ensure() {
  if sandbox_alive; then return; fi
  cgroup_remove # pods from before a crash
  cgroup_make
  load_kernel_modules
  rm -rf "${RUN:?}"/*
  # The holder is process 1 in the sandbox: it reaps, and its end ends all others.
  setsid --fork unshare --mount --net --pid --fork --mount-proc --propagation private \
    bash "$ROOT/hack/cluster/providers/local/init.sh" "$STATE" "$RUN" "$NODE_ADDRESS" "$PAUSE/pause" "$SANDBOX_TAG" \
    </dev/null >"$LOGS/sandbox.log" 2>&1
  wait_for 10 "the sandbox" sandbox_alive || {
    tail_log "$LOGS/sandbox.log"
    return 1
  }
}

# load_kernel_modules loads modules that are not built into the kernel. A machine without
# modprobe has none to load.
load_kernel_modules() {
  have modprobe || return 0
  local module
  for module in overlay br_netfilter nf_conntrack; do
    modprobe --quiet "$module" || true
  done
}

# sandbox_end kills the holder; the kernel ends it only after all others.
sandbox_end() {
  local pid
  pid=$(sandbox_pid)
  [[ -n $pid ]] || return 0
  kill -KILL "$pid"
  wait_for 60 "the processes of cluster \"$CLUSTER\" to end" sandbox_gone
}

sandbox_gone() { ! sandbox_alive; }

# sandbox_run COMMAND... runs it with the cluster's processes, mounts and links.
sandbox_run() { sandbox_enter "$(sandbox_pid)" --net "$@"; }

# sandbox_run_on_host_network is the same, with the host's links.
sandbox_run_on_host_network() { sandbox_enter "$(sandbox_pid)" "$@"; }

sandbox_enter() {
  local pid=$1
  shift
  [[ -n $pid ]] || die "cluster \"$CLUSTER\" is not running"
  nsenter --target "$pid" --mount --pid "$@"
}
