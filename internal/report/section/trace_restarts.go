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

// addRestarts adds the restarts that the collector saw under load, in chronological order.
func (t *Trace) addRestarts(samples *payload.Samples, load results.Window) {
	for _, one := range results.Ends(samples, load) {
		t.restarts = append(t.restarts, restart{one, minutes(load.From, one.At)})
	}
	slices.SortStableFunc(t.restarts, func(a, b restart) int { return a.At.Compare(b.At) })
}

// mostRestarts is the number of restarts drawn for a run; more would hide its line.
const mostRestarts = 8

// restartBands are the restarts to draw, each at its time.
func restartBands(all []restart) []chart.Band {
	var bands []chart.Band
	for _, one := range all[:min(len(all), mostRestarts)] {
		bands = append(bands, one.band())
	}
	return bands
}

func (r restart) band() chart.Band { return chart.Band{Name: r.text(), From: r.minute, To: r.minute} }

// text names the component that ended, and the reason.
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

// component that ended: a module by its name, other components by their names in metrics.
func (r restart) component() string { return strings.TrimPrefix(r.Component, metric.Module+"/") }

// reason for the end, if the kubelet reported one. For any exit code, it reports only Error.
func (r restart) reason() string {
	if r.ExitCode != 0 && (r.Reason == "" || r.Reason == "Error") {
		return fmt.Sprintf("exit code %d", r.ExitCode)
	}
	return r.Reason
}

// restartsText describes the restarts of a line.
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
