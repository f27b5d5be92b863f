#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the demo experiment from scratch: cluster, operators, experiment, report. Fails,
# with the reason, if the experiment does not complete.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

sample=${SAMPLE:-$root/config/samples/demo.yaml}
namespace=${NAMESPACE:-perflab-demo}
limit_minutes=${LIMIT_MINUTES:-40}
page=${PAGE:-$root/dist/demo.html}

bring_up() {
  cluster_with_images
  use_cluster
  "$root/hack/deploy.sh"
}

follow() {
  say "Running ${sample#"$root"/}"
  kubectl create namespace "$namespace" --dry-run=client -o yaml | kubectl apply -f -
  kubectl label namespace "$namespace" pod-security.kubernetes.io/enforce=restricted --overwrite
  can_go_on || kubectl -n "$namespace" delete perfexperiment demo --ignore-not-found --timeout=300s
  timeout --foreground "${limit_minutes}m" "$root/bin/perflab" run -n "$namespace" -f "$sample" || give_up $?
}

# can_go_on: an earlier demo was interrupted and can continue. A finished one can't, nor
# one whose manifest has changed.
can_go_on() {
  case $(kubectl -n "$namespace" get perfexperiment demo -o 'jsonpath={.status.phase}' 2>/dev/null) in
    Pending | Running) kubectl -n "$namespace" apply --dry-run=server -f "$sample" >/dev/null 2>&1 ;;
    *) return 1 ;;
  esac
}

give_up() {
  kubectl -n "$namespace" get perfruns,pods >&2 || true
  # 124 is the exit code of timeout.
  if [ "$1" = 124 ]; then
    die "the experiment was not complete after $limit_minutes minutes"
  fi
  die "the experiment did not complete"
}

results() {
  say "Runs"
  kubectl -n "$namespace" get perfruns --sort-by=.spec.position
  mkdir -p "${page%/*}"
  "$root/bin/perflab" report demo -n "$namespace" -o html >"$page"
  say "The report: open ${page#"$PWD"/} in a browser"
  say "See also: export KUBECONFIG=$KUBECONFIG; bin/perflab status demo -n $namespace"
}

main() {
  bring_up
  follow
  results
}

main "$@"
