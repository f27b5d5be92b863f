#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs local samples on the cluster and writes their results and reports to docs/examples.
# The operator and its images must be installed.
#
#   hack/examples.sh [SAMPLE...]   names of files in config/samples/local, without .yaml;
#                                  by default those of the published reports
#   BLOCKS=2                       number of blocks, instead of enough for a verdict
#
# Each takes half an hour to an hour, on an idle machine.
# kraft-vs-zookeeper needs its own cluster:
#   CLUSTER=perflab-zk STRIMZI=0.45.2 make cluster-up images deploy
#   CLUSTER=perflab-zk hack/examples.sh kraft-vs-zookeeper
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

blocks=${BLOCKS:-}
samples=$root/config/samples/local
kept=$root/docs/examples

sample() {
  if [ -z "$blocks" ]; then
    cat "$samples/$1.yaml"
  else
    sed -E "s/\bblocks: [0-9]+/blocks: $blocks/; /^ *target: /d" "$samples/$1.yaml"
  fi
}

keep() {
  local namespace=example-$1 experiment
  say "Running $1"
  kubectl create namespace "$namespace"
  kubectl label namespace "$namespace" pod-security.kubernetes.io/enforce=restricted
  sample "$1" | "$root/bin/perflab" run -n "$namespace" -f "$samples/library.yaml" -f -
  experiment=$(kubectl -n "$namespace" get perfexperiments -o jsonpath='{.items[0].metadata.name}')
  "$root/bin/perflab" export "$experiment" -n "$namespace" | gzip -9 -n >"$kept/$1.yaml.gz"
  kubectl delete namespace "$namespace" --timeout=300s
}

use_cluster
mkdir -p "$kept"
for name in "${@:-maxram-vs-xmx read-write-split pubsub-partitions placement}"; do
  # One word each, also of the default.
  for one in $name; do keep "$one"; done
done
say "Writing the reports"
cd "$root"
go test ./cmd/perflab -run TestExamples -update
