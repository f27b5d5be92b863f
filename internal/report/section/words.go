// SPDX-License-Identifier: Apache-2.0

package section

import (
	"regexp"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/prose"
)

// describeScenario describes a scenario's loads.
func describeScenario(scenario v1alpha1.Scenario) string {
	parts := make([]string, 0, len(scenario.Loads))
	for _, load := range scenario.Loads {
		if load.Name == scenario.Name {
			parts = append(parts, describeLoad(load))
			continue
		}
		parts = append(parts, load.Name+" ("+describeLoad(load)+")")
	}
	return joinAnd(parts)
}

// describeLoad describes a load in a few words.
func describeLoad(load v1alpha1.Load) string {
	text := kinds.ForLoad(load).Describe()
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

func timeValue(at *metav1.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.Time
}

// capitalize capitalizes the beginning of a sentence.
func capitalize(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// capitalizePhrase capitalizes a metric's phrase at the beginning of a sentence, unless it begins
// with a name.
func capitalizePhrase(m metric.Metric, phrase string) string {
	if m.BeginsWithName() {
		return phrase
	}
	return capitalize(phrase)
}

// plainNames are the names of metrics in plain words.
func plainNames(metrics []string) []string {
	plain := make([]string, len(metrics))
	for i, one := range metrics {
		plain[i] = metric.Plain(one)
	}
	return plain
}

// joinAnd joins names with "and".
func joinAnd(names []string) string { return prose.List(names, "and") }

func joinOr(names []string) string { return prose.List(names, "or") }

func nameCell(name string) document.Cell { return document.Cell{Text: metric.Plain(name), Name: true} }

// armCell names the arm of a row.
func armCell(name string) document.Cell {
	return document.Cell{Text: name, Name: clusterName.MatchString(name), IsSeries: true}
}

func nameCells(names ...string) []document.Cell {
	cells := make([]document.Cell, 0, len(names))
	for _, one := range names {
		cells = append(cells, nameCell(one))
	}
	return cells
}

// clusterName matches names of objects in the cluster.
var clusterName = regexp.MustCompile(`^[a-z0-9.-]+$`)

// Labels in the style of verdicts: for a missing verdict, and for an invalid run.
const (
	noVerdict  = "No verdict"
	invalidRun = "Invalid"
)

func timesText(number int32) string { return prose.Counted(number, "time") }
