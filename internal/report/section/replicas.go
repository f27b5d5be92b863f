// SPDX-License-Identifier: Apache-2.0

package section

import (
	"maps"
	"math"
	"slices"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

// shareTable shows how the pods of replicated modules share their CPU.
func shareTable(_ *Record, under *scenario) []document.Block {
	result := &document.Table{
		Caption: "The busiest pod's share of its module's CPU under " + under.Name + ": mean over runs",
		Columns: document.TextColumns("Module"),
		Folded:  true,
	}
	byModule := map[string]map[string][]results.PodShare{}
	for _, arm := range under.armsInTables() {
		result.Columns = append(result.Columns, document.SeriesColumn(arm.Name, arm.Name))
		for module, shares := range podShares(under.validRuns(arm.Name)) {
			if byModule[module] == nil {
				byModule[module] = map[string][]results.PodShare{}
			}
			byModule[module][arm.Name] = shares
		}
	}
	modules := slices.Sorted(maps.Keys(byModule))
	for _, module := range modules[:min(len(modules), maxModules)] {
		cells := []document.Cell{nameCell(module)}
		for _, arm := range under.armsInTables() {
			cells = append(cells, document.Cell{Text: podShareText(byModule[module][arm.Name])})
		}
		result.Rows = append(result.Rows, document.Row{Cells: cells})
	}
	result.More = max(len(modules)-maxModules, 0)
	return result.Blocks()
}

// podShares are the shares of the busiest pods, one per run, by module.
func podShares(runs journal) map[string][]results.PodShare {
	found := map[string][]results.PodShare{}
	for _, run := range runs {
		if run.Status.Servers == nil {
			continue
		}
		for module, share := range results.PodShares(run.Status.Servers.Pods) {
			found[module] = append(found[module], share)
		}
	}
	return found
}

// podShareText is the mean over runs, and the maximum number of pods.
func podShareText(shares []results.PodShare) string {
	if len(shares) == 0 {
		return digits.Dash
	}
	sum, pods := 0.0, 0
	for _, share := range shares {
		sum, pods = sum+share.Percent, max(pods, share.Pods)
	}
	return withUnit(digits.Fixed(math.Round(sum/float64(len(shares))), 0), metric.UnitPercent) + ", " + prose.Counted(pods, "pod")
}
