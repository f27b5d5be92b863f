// SPDX-License-Identifier: Apache-2.0

// Package script is the kind of loads that are any k6 script.
package script

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/k6options"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/steps"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// summaryStatistics are the requested statistics of k6's summary.
const summaryStatistics = "avg,min,med,max,p(75),p(95),p(99),count"

// counterRequests is k6's counter of requests.
const counterRequests = "http_reqs"

type script struct {
	kind.Defaults
	*v1alpha1.Script
	load v1alpha1.Load
}

// FromLoad returns the load if it is of this kind; else false.
func FromLoad(load v1alpha1.Load) (kind.Kind, bool) {
	return script{Script: load.Script, load: load}, load.Script != nil
}

func (s script) Source() kind.Source {
	return kind.Source{ConfigMap: s.ConfigMap, Volume: s.PersistentVolumeClaim, File: s.Path}
}

// LevelUnit is unknown: a script's levels are users, or a rate.
func (script) LevelUnit() string { return "" }

// LevelsAreUsers depends on the executors in the script.
func (s script) LevelsAreUsers(configMaps kind.ConfigMaps) bool {
	_, isOpen, err := s.execution(configMaps)
	return err == nil && !isOpen
}

// execution of the script, and whether it is open, as far as the script is available.
func (s script) execution(configMaps kind.ConfigMaps) (execution k6options.Execution, isOpen bool, err error) {
	run := s.run(configMaps)
	if run.Script == nil {
		return execution, false, k6options.ErrAbsent
	}
	if execution, err = k6options.Read(run); err == nil {
		isOpen, err = execution.IsOpen()
	}
	return execution, isOpen, err
}

// userBytes is the memory of a user of a simple script, by k6's guide to large tests: 1 to 5 MB.
const userBytes = 1 << 20

// Effort is that of all users of an open load, whatever the level, else of the level's users. The
// work of an iteration is unknown.
func (s script) Effort(level int32, configMaps kind.ConfigMaps) (kind.Effort, bool) {
	execution, isOpen, err := s.execution(configMaps)
	users := int64(level)
	if err == nil && isOpen {
		users, err = execution.Users()
	}
	return kind.Effort{Users: users, UserBytes: userBytes}, err == nil
}

// LevelVariables are the stages.
func (script) LevelVariables(levels steps.Steps) []corev1.EnvVar {
	return []corev1.EnvVar{{Name: steps.Variable, Value: levels.Stages()}}
}

func (s script) Image() string { return s.Script.Image }

func (s script) Arguments() []string { return s.Script.Arguments }

func (s script) Results() v1alpha1.ScriptResults { return s.ResultsOrDefault() }

func (s script) isSummary() bool { return s.Results() == v1alpha1.ResultsSummary }

// Environment configures the script's results and passes on the user's variables, which
// come last and may override ours.
func (s script) Environment(time.Duration) []corev1.EnvVar {
	var env []corev1.EnvVar
	if by := transactions(s.Script.Transactions); by != "" {
		env = []corev1.EnvVar{{Name: "PERFLAB_TRANSACTIONS", Value: by}}
	}
	if s.isSummary() {
		// Not as arguments: k6-operator passes those of a script in the image to a shell,
		// which can't parse p(95).
		env = []corev1.EnvVar{
			{Name: "K6_SUMMARY_EXPORT", Value: "/dev/stdout"},
			{Name: "K6_SUMMARY_TREND_STATS", Value: summaryStatistics},
		}
	}
	return append(env, s.Env...)
}

// byTrend is the only kind of transactions that counts failures. It is the output's
// default.
const byTrend = "Trend"

// byGroup is the value of PERFLAB_TRANSACTIONS with which the output measures groups.
const byGroup = "group"

func transactions(by *v1alpha1.ScriptTransactions) string {
	switch {
	case by == nil || by.By == "Group":
		return byGroup
	case by.By == byTrend:
		return ""
	}
	return "tag:" + by.Tag
}

// WritesFiles is true: a user's script may have its own output.
func (script) WritesFiles() bool { return true }

// Transactions is empty: those of a script are unknown.
func (script) Transactions() []string { return nil }

func (s script) Statistics() []string {
	if s.isSummary() {
		return metric.SummaryStatistics()
	}
	return metric.TransactionStatistics()
}

// JudgesRequests is true except for transactions by trend: k6 does not report whether a
// group succeeded.
func (s script) JudgesRequests() bool {
	return s.isSummary() || s.Script.Transactions == nil || s.Script.Transactions.By != byTrend
}

// Check finds requests outside of transactions.
func (s script) Check(measured *payload.Payload, _ v1alpha1.Validity) *kind.Fault {
	requests := int64(measured.Total(counterRequests))
	if len(measured.Transactions()) > 0 || requests == 0 {
		return nil
	}
	return kind.Faultf(v1alpha1.ReasonResultsMissing,
		"load %q sent %s in its window, and none belongs to a transaction: put them into k6 groups, use one of their tags as the transaction, for example script.transactions {by: Tag, tag: name}, or record your own trend (by: Trend)",
		s.load.Name, prose.Counted(requests, "request"))
}

// Describe returns the script and k6's arguments.
func (s script) Describe() string {
	text := "the k6 script " + s.Source().String()
	if s.Script.Image != "" {
		text += " in image " + s.Script.Image
	}
	given := map[string]string{}
	for _, flag := range k6options.Flags(s.Script.Arguments) {
		given[flag.Name] = flag.Value
	}
	for _, option := range []struct{ noun, flag string }{{"user", "vus"}, {"iteration", "iterations"}} {
		if number, err := strconv.Atoi(given[option.flag]); err == nil {
			text += ", " + prose.Counted(number, option.noun)
		}
	}
	if lasts := given["duration"]; lasts != "" && s.load.Duration == nil && s.load.Until == "" {
		text += ", " + lasts
	}
	return text
}
