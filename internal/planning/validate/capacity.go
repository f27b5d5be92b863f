// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/load/steps"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/planning/generator"
	"perflab.dev/perflab/internal/text/prose"
)

// minMeasured is the shortest measured time of a level: the histograms' time buckets and the
// servers' samples must fit in.
const minMeasured = 5 * time.Second

// judgeCapacities rejects capacities that can't be measured.
func judgeCapacities(j *judgement, spec *v1alpha1.PerfExperimentSpec, scripts *scripts) {
	for i, scenario := range spec.Scenarios {
		if scenario.Capacity == nil {
			continue
		}
		path := field.NewPath("spec", "scenarios").Index(i).Child("capacity")
		load, found := scenario.Capacity.LoadOf(scenario.Loads)
		if !found {
			j.refuse(field.Invalid(path.Child("load"), scenario.Capacity.Load, "name the load whose level changes: "+strings.Join(loadNames([]v1alpha1.Scenario{scenario}), ", ")))
			continue
		}
		if _, is := kinds.ForLoad(load).(kind.Stepped); !is {
			j.refuse(field.Invalid(path.Child("load"), load.Name, "results of another tool have no levels: name a load that PerfLab runs"))
			continue
		}
		judgeLevels(j, path, *scenario.Capacity, load)
		if blocks := spec.DesignOrDefault().MostBlocks(); blocks == verdict.MinimumBlocks {
			j.advise("scenario %q: the first block mostly searches for the capacity, and a verdict needs %d more: raise design.blocks to %d",
				scenario.Name, verdict.MinimumBlocks, verdict.MinimumBlocks+1)
		}
		if load.DataImport == nil {
			judgeSteps(j, path, scenario, load, spec.Measurement)
		} else {
			judgeImportLevels(j, path, *scenario.Capacity, load)
		}
		judgeGenerator(j, scenario, load, scripts)
		judgeStages(j, path, load, scripts)
		judgeObjectives(j, path.Child("objectives"), scenario, scripts)
	}
}

// judgeLevels validates the range.
func judgeLevels(j *judgement, path *field.Path, capacity v1alpha1.Capacity, load v1alpha1.Load) {
	most := capacity.MaxOrDefault(load)
	switch users := load.CheckInCheckOut; {
	case load.DataImport != nil && load.DataImport.Parallel > 0 && most > load.DataImport.Parallel:
		j.refuse(field.Invalid(path.Child("max"), most, fmt.Sprintf("load %q has %s: raise dataImport.parallel, or lower max",
			load.Name, prose.Counted(load.DataImport.Parallel, "parallel import"))))
	case load.DataImport != nil && load.DataImport.Parallel == 0 && most > load.DataImport.Records:
		j.refuse(field.Invalid(path.Child("max"), most, fmt.Sprintf("load %q has %s: raise dataImport.records, or lower max",
			load.Name, prose.Counted(load.DataImport.Records, "record"))))
	case most == 0:
		j.refuse(field.Required(path.Child("max"), "the highest level of a script is unknown: write the highest target of its stages"))
	case users != nil && users.Arrivals == nil && most > users.Users:
		j.refuse(field.Invalid(path.Child("max"), most, fmt.Sprintf("load %q has %s: raise checkInCheckOut.users, or lower max",
			load.Name, prose.Counted(users.Users, "user"))))
	case users != nil && users.Arrivals != nil && most > users.Arrivals.PerMinute:
		j.refuse(field.Invalid(path.Child("max"), most, fmt.Sprintf("load %q has %d arrivals a minute: raise checkInCheckOut.arrivals.perMinute, or lower max",
			load.Name, users.Arrivals.PerMinute)))
	case most <= capacity.Min:
		j.refuse(field.Invalid(path.Child("min"), capacity.Min, fmt.Sprintf("the range is empty: write a min below max, which is %d", most)))
	case most-capacity.Min+1 < capacity.LevelsOrDefault():
		j.refuse(field.Invalid(path.Child("levels"), capacity.LevelsOrDefault(), fmt.Sprintf("from %d to %d there are only %d levels: widen the range, or write fewer levels",
			capacity.Min, most, most-capacity.Min+1)))
	case capacity.Required != nil && (*capacity.Required < capacity.Min || *capacity.Required > most):
		j.refuse(field.Invalid(path.Child("required"), *capacity.Required, fmt.Sprintf("the search for the capacity covers only %d to %d: write a load in this range, or widen the range",
			capacity.Min, most)))
	}
}

// judgeSteps validates the times.
func judgeSteps(j *judgement, path *field.Path, scenario v1alpha1.Scenario, load v1alpha1.Load, measurement v1alpha1.Measurement) {
	_, timetable, _ := steps.FromScenario(scenario, measurement, nil)
	measured := timetable.Step - timetable.Settle
	switch given := scenario.Capacity.Step; {
	case given != nil && load.Script == nil:
		j.refuse(field.Forbidden(path.Child("step"), fmt.Sprintf("the duration of load %q determines the step: remove step, and set the duration to measurement.warmUp plus %d steps", load.Name, scenario.Capacity.LevelsOrDefault())))
	case given == nil && load.Script != nil:
		j.refuse(field.Required(path.Child("step"), "a script has no declared duration: write the time at each level, for example 3m"))
	case given == nil && load.Duration == nil:
		j.refuse(field.Invalid(path.Child("load"), load.Name, "its levels need a duration: write duration instead of until"))
	case timetable.Step <= timetable.Settle:
		j.refuse(field.Invalid(path, timetable.Step.String(), fmt.Sprintf("a step of %s leaves no measured time after settling for %s: lengthen the load, or shorten settle or measurement.warmUp",
			prose.Duration(max(timetable.Step, 0)), prose.Duration(timetable.Settle))))
	case measured < minMeasured:
		j.refuse(field.Invalid(path, measured.String(), fmt.Sprintf("a level is measured for %s: lengthen the load, so that this is %s or more",
			prose.Duration(measured.Round(100*time.Millisecond)), prose.Duration(minMeasured))))
	case measured < 2*measurement.IntervalOrDefault() && slices.ContainsFunc(scenario.Capacity.Objectives, isOfServer):
		j.warn("scenario %q: a level is measured for %s, and servers are sampled every %s, so objectives of servers may have no sample: lower measurement.interval",
			scenario.Name, prose.Duration(measured.Round(time.Second)), prose.Duration(measurement.IntervalOrDefault()))
	}
}

func isOfServer(objective v1alpha1.Objective) bool { return metric.Parse(objective.Metric).IsServer() }

// judgeGenerator warns of levels that exceed k6's limits.
func judgeGenerator(j *judgement, scenario v1alpha1.Scenario, load v1alpha1.Load, scripts *scripts) {
	most := scenario.Capacity.MaxOrDefault(load)
	need, known := generator.AtLevel(load, most, scripts.configMaps)
	if !known {
		return
	}
	for _, excess := range need.Excesses() {
		j.warn("scenario %q, level %d of load %q: %s, or lower capacity.max", scenario.Name, most, load.Name, excess)
	}
}

// judgeImportLevels validates levels that are imports, or parallel imports.
func judgeImportLevels(j *judgement, path *field.Path, capacity v1alpha1.Capacity, load v1alpha1.Load) {
	for name, given := range map[string]*metav1.Duration{"step": capacity.Step, "settle": capacity.Settle} {
		if given != nil {
			j.refuse(field.Forbidden(path.Child(name), fmt.Sprintf("each level of load %q is an import, which has no fixed duration: remove %s", load.Name, name)))
		}
	}
	if load.DataImport.Imports > 1 {
		j.refuse(field.Forbidden(path.Child("load"), fmt.Sprintf("each level of load %q is an import: remove dataImport.imports", load.Name)))
	}
	for i, objective := range capacity.Objectives {
		if known := kinds.ForLoad(load).(kind.SteppedBatch).LevelMetrics(); !isOfServer(objective) && !slices.Contains(known, objective.Metric) {
			j.refuse(field.Invalid(path.Child("objectives").Index(i).Child("metric"), objective.Metric,
				fmt.Sprintf("the levels of an import do not have this metric: write %s, or a metric of a server", strings.Join(known, ", "))))
		}
	}
}

// judgeStages rejects scripts that ignore their levels.
func judgeStages(j *judgement, path *field.Path, load v1alpha1.Load, scripts *scripts) {
	script := kinds.ForLoad(load)
	if script.Results() != v1alpha1.ResultsHistograms {
		j.refuse(field.Invalid(path.Child("load"), load.Name, "a capacity needs the response times of each level: set script.results to Histograms"))
	}
	key := script.Source().ConfigMap
	if key == nil {
		return
	}
	if text, available := scripts.configMaps[key.Name][key.Key]; available && !strings.Contains(text, steps.Variable) {
		j.refuse(field.Invalid(path.Child("load"), load.Name, fmt.Sprintf(
			"%s does not use the variable %s, so all levels would be the same: write stages: JSON.parse(__ENV.%s) in a scenario with the executor ramping-vus or ramping-arrival-rate",
			script.Source(), steps.Variable, steps.Variable)))
	}
}

// judgeErrorObjective warns of an objective that always holds, because the load's transactions have
// no outcomes.
func judgeErrorObjective(j *judgement, objective, of string, loads []v1alpha1.Load) {
	for _, load := range loads {
		if load.Name == of && neverFails(load) {
			j.warn("objective %s is always 0, because k6 does not report whether a group failed: set script.transactions of load %q to {by: Trend}, or to {by: Tag} with a tag", objective, load.Name)
		}
	}
}

// judgeObjectives rejects objectives of unknown metrics, or in another unit.
func judgeObjectives(j *judgement, path *field.Path, scenario v1alpha1.Scenario, scripts *scripts) {
	plain := scenario
	plain.Capacity = nil
	for i, objective := range scenario.Capacity.Objectives {
		judgeMetric(j, path.Index(i).Child("metric"), objective.Metric, []v1alpha1.Scenario{plain}, scripts)
		of := metric.Parse(objective.Metric)
		if of.Statistic == metric.Errors {
			judgeErrorObjective(j, objective.Metric, of.Of, scenario.Loads)
		}
		if of.Window != "" {
			j.refuse(field.Invalid(path.Index(i).Child("metric"), objective.Metric, "an objective applies to each level: remove the window "+of.Window))
		}
		name, text := "max", objective.Max
		if text == "" {
			name, text = "min", objective.Min
		}
		if in := metric.Unit(of.Statistic); !of.IsServer() && in != "" {
			if _, err := results.ParseLimit(text, in); err != nil {
				j.refuse(field.Invalid(path.Index(i).Child(name), text, err.Error()))
			}
		}
	}
}
