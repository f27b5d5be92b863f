// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// addRestarts takes those that the collector saw under load, in the order of time.
func (t *Trace) addRestarts(samples *payload.Samples, load results.Window) {
	for _, one := range results.Ends(samples, load) {
		t.restarts = append(t.restarts, restart{one, minutes(load.From, one.At)})
	}
	slices.SortStableFunc(t.restarts, func(a, b restart) int { return a.At.Compare(b.At) })
}

// mostRestarts of a run are drawn; more would hide its line.
const mostRestarts = 8

// restartBands are the restarts to draw, each at its moment.
func restartBands(all []restart) []chart.Band {
	var bands []chart.Band
	for _, one := range all[:min(len(all), mostRestarts)] {
		bands = append(bands, one.band())
	}
	return bands
}

func (r restart) band() chart.Band { return chart.Band{Name: r.text(), From: r.minute, To: r.minute} }

// text name who ended, and why.
func (r restart) text() string {
	text := r.component() + " restarted"
	if r.Count > 1 {
		text += " " + timesText(r.Count)
	}
	if why := r.reason(); why != "" {
		text += " (" + why + ")"
	}
	return text
}

// component ended: a module by its name, other components as metrics name them.
func (r restart) component() string { return strings.TrimPrefix(r.Component, metric.Module+"/") }

// reason it ended, as far as the kubelet told. Error is all it says of any exit code.
func (r restart) reason() string {
	if r.ExitCode != 0 && (r.Reason == "" || r.Reason == "Error") {
		return fmt.Sprintf("exit code %d", r.ExitCode)
	}
	return r.Reason
}

// restartsText says in words which restarts a line bears.
func restartsText(all []restart) string {
	text := ""
	for _, one := range restartBands(all) {
		text += fmt.Sprintf("%s into the load: %s. ", timeIntoLoad(one), one.Name)
	}
	if more := len(all) - mostRestarts; more > 0 {
		text += fmt.Sprintf("And %s. ", prose.Counted(more, "further restart"))
	}
	return text
}
