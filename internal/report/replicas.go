// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/decimal"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/prose"
)

// shares are those of the busiest pod in its module's CPU, in percent, one per
// run, and how many pods there were at the most.
type shares struct {
	percents []float64
	pods     int
}

func (s shares) shown() string {
	if len(s.percents) == 0 {
		return dash
	}
	sum := 0.0
	for _, percent := range s.percents {
		sum += percent
	}
	return withUnit(fixed(math.Round(sum/float64(len(s.percents))), 0), metric.UnitPercent) + ", " + prose.Counted(s.pods, "pod")
}

// cpu of the modules, and how their pods share it.
func (r *record) cpu() []block {
	blocks := r.moduleTables(metric.CPU)
	for _, scenario := range r.scenarios {
		if made := r.shareTable(scenario.Name); len(made.Rows) > 0 {
			blocks = append(blocks, block{Table: made})
		}
	}
	return blocks
}

func (r *record) shareTable(scenario string) *table {
	made := &table{
		Caption: "The busiest pod's share of its module's CPU under " + scenario + ": mean over the runs",
		Columns: words("Module"),
	}
	byArm, modules := map[string]map[string]shares{}, map[string]bool{}
	for _, arm := range r.arms {
		made.Columns = append(made.Columns, numbers(arm.Name)...)
		byArm[arm.Name] = sharesOf(r.valid(scenario, arm.Name))
		for module := range byArm[arm.Name] {
			modules[module] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(modules))
	for _, module := range sorted[:min(len(sorted), mostModules)] {
		cells := []cell{name(module)}
		for _, arm := range r.arms {
			cells = append(cells, cell{Text: byArm[arm.Name][module].shown()})
		}
		made.Rows = append(made.Rows, row{Cells: cells})
	}
	made.More = max(len(sorted)-mostModules, 0)
	return made
}

// sharesOf are those of the modules with several pods, over some runs.
func sharesOf(runs []*v1alpha1.PerfRun) map[string]shares {
	found := map[string]shares{}
	for _, run := range runs {
		for module, used := range podsOf(run) {
			all, most := 0.0, 0.0
			for _, cores := range used {
				all, most = all+cores, max(most, cores)
			}
			if all == 0 {
				continue
			}
			own := found[module]
			own.percents, own.pods = append(own.percents, 100*most/all), max(own.pods, len(used))
			found[module] = own
		}
	}
	return found
}

// podsOf are the cores that each pod used, by module.
func podsOf(run *v1alpha1.PerfRun) map[string][]float64 {
	found := map[string][]float64{}
	if run.Status.Servers == nil {
		return found
	}
	for _, pod := range run.Status.Servers.Pods {
		cores, err := decimal.Parse(cmp.Or(pod.CPU, "0"))
		if err != nil {
			continue
		}
		module := strings.TrimPrefix(pod.Name[:max(0, strings.LastIndexByte(pod.Name, '/'))], metric.Module+"/")
		found[module] = append(found[module], cores)
	}
	return found
}
