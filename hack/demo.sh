#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the demo experiment from nothing: cluster, operators, experiment,
# results. Ends with an error, and the reason, if the experiment does not
# complete.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

sample=${SAMPLE:-$root/config/samples/demo.yaml}
namespace=${NAMESPACE:-perflab-demo}
limit_minutes=${LIMIT_MINUTES:-40}

bring_up() {
  say "Bringing up the cluster $CLUSTER"
  "$root/hack/cluster/cluster.sh" up
  say "Building the images"
  make -C "$root" --no-print-directory images
  use_cluster
  "$root/hack/deploy.sh"
}

apply() {
  say "Applying ${sample#"$root"/}"
  kubectl create namespace "$namespace" --dry-run=client -o yaml | kubectl apply -f -
  kubectl label namespace "$namespace" pod-security.kubernetes.io/enforce=restricted --overwrite
  # A demo of an earlier day would be complete already.
  kubectl -n "$namespace" delete perfexperiment demo --ignore-not-found --timeout=300s
  kubectl -n "$namespace" apply -f "$sample"
}

field() { kubectl -n "$namespace" get perfexperiment demo -o "jsonpath={$1}"; }

# watch prints a line whenever something changed, until the experiment is over.
watch() {
  local last="" line deadline=$((SECONDS + limit_minutes * 60))
  while true; do
    line=$(field '.status.phase} {.status.progress} {.status.current.run} {.status.waitingFor')
    if [ "$line" != "$last" ]; then
      printf '%s  %s\n' "$(date +%H:%M:%S)" "$line"
      last=$line
    fi
    case $line in
      Complete*) return ;;
      Stalled*) give_up "the experiment stalled: $(field '.status.conditions[?(@.type=="Stalled")].message')" ;;
    esac
    [ "$SECONDS" -lt "$deadline" ] || give_up "the experiment was not complete after $limit_minutes minutes; last seen: $line"
    sleep 2
  done
}

give_up() {
  kubectl -n "$namespace" get perfruns,pods >&2 || true
  die "$1"
}

results() {
  say "Runs"
  kubectl -n "$namespace" get perfruns --sort-by=.spec.position
  say "Results (descriptive: mean over runs; delta against the baseline arm)"
  kubectl -n "$namespace" get perfexperiment demo -o go-template-file="$root/hack/results.gotmpl" | column -t -s '|'
}

main() {
  bring_up
  apply
  watch
  results
  say "All of it: kubectl --kubeconfig $KUBECONFIG -n $namespace get perfexperiment demo -o yaml"
}

main "$@"
