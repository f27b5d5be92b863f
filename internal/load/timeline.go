// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/load/steps"
	"perflab.dev/perflab/payload"
)

// Action is the next action for one load.
type Action struct {
	Load v1alpha1.Load
	// Start the load.
	Start bool
	// Stop the load, because the load in until has ended.
	Stop bool
	// At is when a future load is due.
	At time.Time
}

// Timeline returns the loads of a scenario to start or to stop now. The scenario begins
// when the first load without a delay has started, so that delays count from the first
// request, not from the first pod. The delay of a load with after counts from the end of
// the other load.
func Timeline(loads []v1alpha1.Load, statuses []v1alpha1.LoadStatus, states map[string]State, now time.Time) []Action {
	byName := map[string]v1alpha1.LoadStatus{}
	for _, status := range statuses {
		byName[status.Name] = status
	}
	begin := beginning(loads, byName)
	var actions []Action
	for _, load := range loads {
		status := byName[load.Name]
		switch {
		case status.CreateTime == nil:
			if action, ok := start(load, origin(load, begin, byName, states), now); ok {
				actions = append(actions, action)
			}
		case load.Until != "" && status.StopTime == nil && states[load.Until].Ended && states[load.Name].Started && !states[load.Name].Ended:
			actions = append(actions, Action{Load: load, Stop: true})
		}
	}
	return actions
}

// origin returns the time from which a load's delay counts; zero if unknown.
func origin(load v1alpha1.Load, begin time.Time, statuses map[string]v1alpha1.LoadStatus, states map[string]State) time.Time {
	if load.After == "" {
		return begin
	}
	if finish := statuses[load.After].FinishTime; finish != nil && states[load.After].Ended {
		return finish.Time
	}
	return time.Time{}
}

func start(load v1alpha1.Load, from, now time.Time) (Action, bool) {
	delay := load.StartAfterOrDefault()
	if delay == 0 && load.After == "" {
		return Action{Load: load, Start: true}, true
	}
	if from.IsZero() {
		return Action{}, false
	}
	due := from.Add(delay)
	if now.Before(due) {
		return Action{Load: load, At: due}, true
	}
	return Action{Load: load, Start: true}, true
}

// beginning returns when the scenario began; zero if it has not. Admission ensures that a
// scenario has a load without a delay.
func beginning(loads []v1alpha1.Load, statuses map[string]v1alpha1.LoadStatus) time.Time {
	var begin time.Time
	for _, load := range loads {
		status := statuses[load.Name]
		if load.StartAfterOrDefault() != 0 || load.After != "" || status.StartTime == nil {
			continue
		}
		if begin.IsZero() || status.StartTime.Time.Before(begin) {
			begin = status.StartTime.Time
		}
	}
	return begin
}

// Active reports whether any of a load's pods may still run.
func Active(pods []corev1.Pod) bool {
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			return true
		}
	}
	return false
}

// Progress describes the progress of the run's loads.
func Progress(run *v1alpha1.PerfRun, states map[string]State, now time.Time) string {
	byName := map[string]v1alpha1.LoadStatus{}
	for _, status := range run.Status.Loads {
		byName[status.Name] = status
	}
	stepped, levels, _ := steps.FromScenario(run.Spec.Scenario, run.Spec.Measurement, run.Spec.Levels)
	parts := make([]string, 0, len(run.Spec.Scenario.Loads))
	for _, load := range run.Spec.Scenario.Loads {
		if batch, is := kinds.ForLoad(load).(kind.SteppedBatch); is && load.Name == stepped.Name {
			load = batch.Whole(levels)
		}
		state, status := states[load.Name], byName[load.Name]
		part := state.Message
		if state.Started && !state.Ended && status.StartTime != nil {
			part = running(load, ProgressStep(now.Sub(status.StartTime.Time)))
			if last := live(load, status.Progress); last != "" {
				part += ", " + last
			}
		}
		parts = append(parts, load.Name+": "+part)
	}
	return strings.Join(parts, "; ")
}

const (
	// firstReport is when a load's progress is first reported: its runners have reported by
	// then.
	firstReport = payload.ProgressEvery
	// reportInterval is the time between reports after that. Each is a write.
	reportInterval = 50 * time.Second
)

// ProgressStep returns the time of the last report of a load that has run for this long.
func ProgressStep(elapsed time.Duration) time.Duration {
	switch {
	case elapsed < firstReport:
		return 0
	case elapsed < reportInterval:
		return firstReport
	default:
		return elapsed.Truncate(reportInterval)
	}
}

func running(load v1alpha1.Load, elapsed time.Duration) string {
	switch {
	case load.Duration != nil:
		return fmt.Sprintf("running %s of %s", elapsed, load.Duration.Duration)
	case load.Until != "":
		return fmt.Sprintf("running %s, until %s ends", elapsed, load.Until)
	default:
		return fmt.Sprintf("running %s", elapsed)
	}
}
