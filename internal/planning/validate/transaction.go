// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload/label"
)

// scripts parses the available scripts of the loads, each once.
type scripts struct {
	scenarios  []v1alpha1.Scenario
	configMaps kind.ConfigMaps
	read       map[string]written
}

// written are the transactions in a script.
type written struct {
	names    []string
	complete bool
}

func newScripts(scenarios []v1alpha1.Scenario, configMaps kind.ConfigMaps) *scripts {
	return &scripts{scenarios: scenarios, configMaps: configMaps, read: map[string]written{}}
}

// in returns the transactions of a load's script.
func (s *scripts) in(load v1alpha1.Load) written {
	script, is := kinds.ForLoad(load).(kind.ScriptKind)
	if !is {
		return written{}
	}
	key, err := json.Marshal(load.Script)
	if found, known := s.read[string(key)]; known || err != nil {
		return found
	}
	names, complete := script.DeclaredTransactions(s.configMaps)
	s.read[string(key)] = written{names, complete}
	return s.read[string(key)]
}

// forConfigMap returns the transactions of the loads of a name, in any scenario; none if
// there may be others.
func (s *scripts) forConfigMap(name string) []string {
	var all []string
	for _, scenario := range s.scenarios {
		for _, load := range scenario.Loads {
			if load.Name != name {
				continue
			}
			found := s.in(load)
			if !found.complete {
				return nil
			}
			all = append(all, found.names...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// judgeTransactions warns of a script without transactions.
func judgeTransactions(j *judgement, path *field.Path, load v1alpha1.Load, scripts *scripts) {
	script, is := kinds.ForLoad(load).(kind.ScriptKind)
	if found := scripts.in(load); is && found.complete && len(found.names) == 0 {
		j.add(Warning{Warning: script.NoTransactions(path)})
	}
}

// transactionWarning reports that no available script has the transaction of a metric. It
// is no error: the script may change before the run.
func transactionWarning(name string, scripts *scripts) string {
	name, _ = metric.CutWindow(name)
	load, rest := metric.CutOwner(name)
	transaction, _ := metric.CutStatistic(rest)
	known := scripts.forConfigMap(load)
	if transaction == "" || len(known) == 0 || isTransaction(transaction, known) {
		return ""
	}
	return unknownTransaction(transaction, known)
}

// unknownTransaction returns the outermost unknown part of a transaction.
func unknownTransaction(transaction string, known []string) string {
	path, _ := label.Cut(transaction)
	at := slices.IndexFunc(path, func(part string) bool { return !slices.Contains(known, part) })
	meant := cmp.Or(prose.Closest(path[at], known), prose.Closest(metric.Plain(transaction), known))
	return fmt.Sprintf("the script has no transaction %s: %s one of its transactions (%s)", path[at], write(meant), choices(known))
}

// isTransaction reports whether the transaction is known, a request of a known one, or
// nested in one.
func isTransaction(written string, known []string) bool {
	path, _ := label.Cut(written)
	return slices.Contains(known, metric.Plain(written)) ||
		!slices.ContainsFunc(path, func(part string) bool { return !slices.Contains(known, part) })
}

// statisticFault validates the last part of a load's metric; the part before it is a
// transaction.
func statisticFault(load, rest string, known []string) string {
	switch of, statistic := metric.CutStatistic(rest); {
	case !slices.Contains(known, statistic):
		return fmt.Sprintf("%q is not a statistic of a transaction: end with one of these (%s)", statistic, strings.Join(known, ", "))
	case of == "":
		return fmt.Sprintf("the metric does not name a transaction of load %q: write %s/<transaction>/%s", load, load, statistic)
	default:
		return ""
	}
}

// lagMetricFault validates a metric of servers after a fault. Only the lag of consumers is measured.
func lagMetricFault(name, fault string, scenarios []v1alpha1.Scenario) string {
	known := []string{metric.Name(metric.KafkaLag, metric.DrainTime), metric.Name(metric.KafkaLag, metric.Max)}
	switch {
	case !slices.Contains(known, name):
		return fmt.Sprintf("after a fault, the lag of Kafka's consumers is the only metric of servers: write %s", strings.Join(known, " or "))
	case !slices.ContainsFunc(scenarios, func(scenario v1alpha1.Scenario) bool { return hasFault(scenario, fault) }):
		return fmt.Sprintf("the window is after fault %q, and no scenario has a fault of this name", fault)
	}
	return ""
}

func serverMetricFault(name string) string {
	known := metric.ServerStatistics()
	if _, statistic := metric.CutStatistic(name); !slices.Contains(known, statistic) {
		return fmt.Sprintf("%q is not a statistic of servers: end with one of these (%s), for example %s",
			statistic, strings.Join(known, ", "), metric.Name(name, metric.Average))
	}
	return ""
}
