// SPDX-License-Identifier: Apache-2.0

package results

import (
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
)

// Judgement describes which of a run's results are valid.
type Judgement struct {
	// Fault describes why none is valid; nil if some are.
	Fault *Fault
	// unsound are the invalid windows of a valid run.
	unsound []unsound
}

// unsound is an invalid window of a load.
type unsound struct {
	load, window string
	fault        *Fault
}

// Judge judges all loads. By default a run is valid as a whole or not; if validity requires it,
// each window is judged separately.
func Judge(loads []v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement, validity v1alpha1.Validity) Judgement {
	var judged Judgement
	for _, load := range loads {
		fault := Check(load, measured, measurement, validity)
		switch {
		case !validity.LeavesOutUnsound() || measured[load.Name].Summary != nil:
			judged.blame(fault)
		case kinds.IsBatch(load):
			judged.leaveOutBatch(load, fault)
		default:
			judged.leaveOutWindows(load, fault, loads, measured, measurement, validity)
		}
	}
	if judged.Fault == nil && !judged.anythingSound(loads, measured) {
		judged.Fault = judged.unsound[0].fault
	}
	return judged
}

func (j *Judgement) blame(fault *Fault) {
	if j.Fault == nil {
		j.Fault = fault
	}
}

// leaveOutBatch excludes the time of a failed batch: other loads were not measured next to a
// batch that did its work.
func (j *Judgement) leaveOutBatch(load v1alpha1.Load, fault *Fault) {
	switch {
	case fault == nil:
	case fault.Reason == v1alpha1.ReasonResultsMissing:
		j.blame(fault)
	default:
		j.unsound = append(j.unsound, unsound{load.Name, "", fault}, unsound{"", metric.During(load.Name), fault})
	}
}

// leaveOutWindows judges the windows of a steady load one by one. A fault of its generator affects
// all of them.
func (j *Judgement) leaveOutWindows(load v1alpha1.Load, whole *Fault, loads []v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement, validity v1alpha1.Validity) {
	own := measured[load.Name]
	if fault := checkGenerator(load.Name, own); fault != nil || !own.Histograms.Final {
		j.blame(whole)
		return
	}
	if whole != nil {
		j.unsound = append(j.unsound, unsound{load.Name, "", whole})
	}
	for _, window := range Windows(loads, measured) {
		part := window.Within(steady(load, measured, measurement))
		if part.empty() {
			continue
		}
		counted := own.Histograms.Between(part.From, part.To)
		if len(counted.Transactions()) == 0 {
			continue
		}
		if fault := checkCounted(load, counted, validity); fault != nil {
			j.unsound = append(j.unsound, unsound{load.Name, window.Name, fault})
		}
	}
}

// anythingSound reports whether some window of some load is valid.
func (j *Judgement) anythingSound(loads []v1alpha1.Load, measured map[string]Measured) bool {
	if len(j.unsound) == 0 {
		return true
	}
	names := []string{""}
	for _, window := range Windows(loads, measured) {
		names = append(names, window.Name)
	}
	return slices.ContainsFunc(loads, func(load v1alpha1.Load) bool {
		return slices.ContainsFunc(names, func(window string) bool {
			return !j.leavesOut(load.Name, window) && (window == "" || !kinds.IsBatch(load))
		})
	})
}

// leavesOut reports whether a load's results in a window are invalid.
func (j *Judgement) leavesOut(load, window string) bool {
	return slices.ContainsFunc(j.unsound, func(one unsound) bool {
		return one.window == window && (one.load == load || one.load == "")
	})
}

// Counting returns the valid observations. Those of servers are valid over the whole run, because
// use is use, and in windows in which every load is valid. A single import of a series has
// observations only if it succeeded.
func (j Judgement) Counting(observations []v1alpha1.Observation) []v1alpha1.Observation {
	return slices.DeleteFunc(observations, func(observation v1alpha1.Observation) bool {
		name, window := metric.CutWindow(observation.Metric)
		if of := metric.Parse(name); of.Part > 0 {
			return false
		} else if of.IsServer() {
			return window != "" && slices.ContainsFunc(j.unsound, func(one unsound) bool { return one.window == window })
		}
		owner, _ := metric.CutOwner(name)
		return j.leavesOut(owner, window)
	})
}

// LeftOut returns the invalid loads and windows.
func (j Judgement) LeftOut() []v1alpha1.LeftOut {
	var parts []v1alpha1.LeftOut
	for _, one := range j.unsound {
		if one.load != "" {
			parts = append(parts, v1alpha1.LeftOut{Load: one.load, Window: one.window, Reason: one.fault.Reason, Message: one.fault.Message})
		}
	}
	return parts
}

// DescribeLeftOut describes which part of a run is invalid, and why.
func DescribeLeftOut(part v1alpha1.LeftOut) string {
	where := "over the whole run"
	if part.Window != "" {
		where = metric.WindowPhrase(part.Window)
	}
	return where + ": " + part.Message
}
