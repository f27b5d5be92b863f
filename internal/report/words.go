// SPDX-License-Identifier: Apache-2.0

package report

import (
	"regexp"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
)

// describeScenario says what a scenario puts on.
func describeScenario(scenario v1alpha1.Scenario) string {
	parts := make([]string, 0, len(scenario.Loads))
	for _, load := range scenario.Loads {
		if load.Name == scenario.Name {
			parts = append(parts, describeLoad(load))
			continue
		}
		parts = append(parts, load.Name+" ("+describeLoad(load)+")")
	}
	return listed(parts)
}

// describeLoad says in a few words what a load does.
func describeLoad(load v1alpha1.Load) string {
	text := kinds.Of(load).Describe()
	switch {
	case load.Duration != nil:
		text += ", " + prose.Duration(load.Duration.Duration)
	case load.Until != "":
		text += ", until " + load.Until + " ends"
	}
	switch {
	case load.After != "":
		text += ", after " + load.After
		if delay := load.StartAfterOrDefault(); delay > 0 {
			text += " and " + prose.Duration(delay)
		}
	case load.StartAfterOrDefault() > 0:
		text += ", from " + prose.Duration(load.StartAfterOrDefault()) + " on"
	}
	if runners := load.ParallelismOrDefault(); runners > 1 {
		text += ", from " + prose.Counted(runners, "runner")
	}
	return text
}

func timeOf(at *metav1.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.Time
}

// capital begins a sentence.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// opened begins a sentence with a phrase of a metric. A name at its beginning stays as it is.
func opened(m metric.Metric, phrase string) string {
	if m.BeginsWithName() {
		return phrase
	}
	return capital(phrase)
}

// plainly are the names of metrics as people read them.
func plainly(metrics []string) []string {
	plain := make([]string, len(metrics))
	for i, one := range metrics {
		plain[i] = metric.Plain(one)
	}
	return plain
}

// listed joins names as a sentence does.
func listed(names []string) string { return prose.List(names, "and") }

func either(names []string) string { return prose.List(names, "or") }

func name(name string) cell { return cell{Text: metric.Plain(name), Name: true} }

// ofArm names the arm that a row is about.
func ofArm(name string) cell { return cell{Text: name, Name: clusterName.MatchString(name), Arm: true} }

func names(names ...string) []cell {
	cells := make([]cell, 0, len(names))
	for _, one := range names {
		cells = append(cells, name(one))
	}
	return cells
}

// clusterName is what the cluster calls something by.
var clusterName = regexp.MustCompile(`^[a-z0-9.-]+$`)

// What is shown as verdicts are: that there is none, and that a run does not count.
const (
	noVerdict  = "No verdict"
	invalidRun = "Invalid"
)
