# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The control group of the cluster's pods, in version 1 and 2 of the interface.

CGROUP_ROOT=/sys/fs/cgroup

cgroup_is_v2() { [[ -f $CGROUP_ROOT/cgroup.controllers ]]; }

# cgroup_hierarchies prints the directory of each hierarchy; a machine can have one of version
# 2 in addition to those of version 1.
cgroup_hierarchies() {
  awk -v root="$CGROUP_ROOT" '$3 ~ /^cgroup2?$/ && index($2 "/", root "/") == 1 { print $2 }' /proc/self/mounts
}

cgroup_make() {
  local hierarchy
  for hierarchy in $(cgroup_hierarchies); do
    if cgroup_is_v2; then cgroup_enable_controllers "$hierarchy"; fi
    if [[ -f $hierarchy/cgroup.clone_children && -f $hierarchy/cpuset.cpus ]]; then
      echo 1 >"$hierarchy/cgroup.clone_children" # otherwise a new group has no CPU
    fi
    mkdir -p "$hierarchy$CGROUP"
  done
}

# cgroup_enable_controllers enables for the cluster's group all that a kubelet limits.
cgroup_enable_controllers() {
  local directory=$1 part controller
  for part in "" perflab "$CLUSTER"; do
    directory=$directory${part:+/$part}
    mkdir -p "$directory"
    for controller in cpu cpuset memory pids io hugetlb; do
      grep -qw "$controller" "$directory/cgroup.controllers" || continue
      echo "+$controller" >"$directory/cgroup.subtree_control" ||
        die "cannot use control groups: $directory has processes of its own, so it cannot delegate $controller"
    done
  done
}

# cgroup_remove removes the groups; a group whose last process has just ended can be busy for a
# moment.
cgroup_remove() {
  local hierarchy
  for hierarchy in $(cgroup_hierarchies); do
    [[ -d $hierarchy$CGROUP ]] || continue
    wait_for 20 "$hierarchy$CGROUP to be empty" cgroup_remove_tree "$hierarchy$CGROUP"
    rmdir --ignore-fail-on-non-empty "$hierarchy/perflab"
  done
}

cgroup_remove_tree() {
  find "$1" -depth -type d -exec rmdir {} + 2>/dev/null
  [[ ! -d $1 ]]
}
