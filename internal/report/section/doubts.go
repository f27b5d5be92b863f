// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

// doubters give reasons to trust the verdicts less, one sentence each: first those that withhold
// a verdict or give it another cause, last those that a better experiment would avoid.
var doubters = []func(*Record) []string{notCalibrated, errorRatesDiffer, runsDeleted, armsConfounded, invalidRunsOfOneArm, rebuiltBetweenRuns, otherWarnings, weakDesign, singleRun, serversSaturated, nodeSpeedVaries, stillWarmingUp, noiseFloorUnknown}

// doubts returns all doubts, the largest first.
func doubts(r *Record) []string {
	var sentences []string
	for _, doubter := range doubters {
		for _, sentence := range doubter(r) {
			if !slices.Contains(sentences, sentence) {
				sentences = append(sentences, sentence)
			}
		}
	}
	return sentences
}

// otherWarnings are the warnings that no other doubter covers. Warnings about the design are
// advice before the runs; weakDesign reports what it lacked.
func otherWarnings(r *Record) []string {
	status := &r.Experiment.Status
	var sentences []string
	for _, warning := range slices.Concat(r.answer.Warnings, status.Warnings) {
		if !slices.Contains(status.DesignWarnings, warning) {
			sentences = append(sentences, capitalize(strings.TrimSuffix(warning, "."))+".")
		}
	}
	return sentences
}

// notCalibrated reports a noise floor that is too high.
func notCalibrated(r *Record) []string {
	if len(r.answer.uncalibrated) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("The experiment is not calibrated: the A/A control %s differs from the baseline %s despite the same configuration (see Noise floor). Verdicts are withheld until the cause is found.", r.answer.Twin, r.answer.Baseline)}
}

// runsDeleted reports runs deleted without a reason, perhaps for their results.
func runsDeleted(r *Record) []string {
	unexplained := 0
	for _, one := range r.deleted() {
		if one.Reason == "" {
			unexplained++
		}
	}
	if unexplained == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s deleted without a reason: the results may be incomplete (see Validity).", prose.Counted(unexplained, "run")+" "+prose.Verb(unexplained, "was", "were"))}
}

// noiseFloorUnknown reports an experiment without an A/A control.
func noiseFloorUnknown(r *Record) []string {
	if r.answer.Twin != "" || r.isAlone() || r.measuredElsewhere() {
		return nil
	}
	return []string{"The noise floor was not measured: without an A/A control, the difference between identical configurations is unknown. Set design.calibrate: true."}
}

// armsConfounded reports arms that differ in more than one setting.
func armsConfounded(r *Record) []string {
	spec, system := &r.Experiment.Spec, &r.Experiment.Spec.System
	if spec.SystemRef != nil && setsAnything(spec, r.answer.Baseline) {
		return nil
	}
	if spec.SystemRef != nil {
		// A run of the baseline records the PerfSystem of its time.
		system = arms.RecordedSystem(r.Runs, r.answer.Baseline)
	}
	if system == nil {
		return nil
	}
	var sentences []string
	for _, one := range arms.ConfoundedArms(spec, *system) {
		sentences = append(sentences, capitalize(one.Warning())+".")
	}
	return sentences
}

func setsAnything(spec *v1alpha1.PerfExperimentSpec, name string) bool {
	for _, arm := range spec.Arms {
		if arm.Name == name {
			return arm.Set != nil
		}
	}
	return true
}

// weakDesign reports a design that leaves room for other causes.
func weakDesign(r *Record) []string {
	var sentences []string
	spec := &r.Experiment.Spec
	if blocks := spec.DesignOrDefault().Blocks; blocks > 0 && blocks < verdict.MinimumBlocks && r.answer.Question.Interim.Last == 0 && !r.describesOnly() && !r.isAlone() {
		sentences = append(sentences, fmt.Sprintf("%s %s too few for a verdict, which needs %d: the deltas describe these runs only.", prose.Counted(blocks, "block"), prose.Verb(blocks, "is", "are"), verdict.MinimumBlocks))
	}
	if r.measuredElsewhere() {
		return append(sentences, r.elsewhereDoubts()...)
	}
	if spec.Design.Order == v1alpha1.OrderFixed {
		sentences = append(sentences, "The order of the runs was fixed, so drift can look like an effect. Set design.order: Randomized.")
	}
	if spec.Reset == v1alpha1.ResetNone {
		sentences = append(sentences, "Modules kept running between runs (reset: None), so one run may affect the next.")
	}
	return sentences
}

// invalidRunsOfOneArm reports that attempts failed in only one arm.
func invalidRunsOfOneArm(r *Record) []string {
	const few = 3
	invalid := r.journal.invalid()
	if len(invalid) < few || len(r.arms) < 2 {
		return nil
	}
	arm := invalid[0].Spec.Arm
	if len(invalid.only(func(run *v1alpha1.PerfRun) bool { return run.Spec.Arm == arm })) < len(invalid) {
		return nil
	}
	return []string{fmt.Sprintf("All %d invalid attempts are from %s. Its valid runs may be a biased sample; check why the others failed.", len(invalid), arm)}
}

// errorRatesDiffer reports values that are not comparable because requests failed.
func errorRatesDiffer(r *Record) []string {
	var where []string
	for _, c := range r.answer.filter(func(c shownComparison) bool { return c.Primary }) {
		at := c.Arm + " under " + c.Scenario
		if c.Withheld.Code == comparison.CodeErrorRatesDiffer && !slices.Contains(where, at) {
			where = append(where, at)
		}
	}
	if len(where) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Error rates differ for %s, so response times are from different requests and are not compared.", joinAnd(where))}
}

// stillWarmingUp reports valid runs that were still warming up after the warm-up.
func stillWarmingUp(r *Record) []string {
	var longest time.Duration
	count := 0
	for _, run := range r.journal.valid() {
		if advised := run.Status.AdvisedWarmUp; advised != nil {
			count++
			longest = max(longest, advised.Duration)
		}
	}
	if count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("In %s, response times were still falling after the warm-up, so averages and percentiles include part of it. A measurement.warmUp of %s would exclude it; extend the loads by the same amount.",
		prose.Counted(count, "run"), prose.Duration(longest))}
}

// rebuiltBetweenRuns reports that PerfLab was upgraded during the experiment and rendered the
// same arms differently.
func rebuiltBetweenRuns(r *Record) []string {
	var sentences []string
	for _, run := range r.journal {
		if evidence := run.Status.Evidence; evidence != nil && evidence.RenderedChange != nil {
			sentences = append(sentences, fmt.Sprintf("Run %q was %s", run.Name, evidence.RenderedChange.Message))
		}
	}
	switch more := len(sentences) - 1; {
	case more < 0:
		return nil
	case more > 0:
		sentences[0] += fmt.Sprintf("; %s %s, or may have been, built differently", prose.Counted(more, "more run"), prose.Verb(more, "was", "were"))
	}
	return []string{sentences[0] + ". A block with runs of both builds compares more than the arms."}
}

// busyPercent is the use of a server, in percent, from which a measurement may show its queue
// rather than the arm.
const busyPercent = 90

// serversSaturated reports busy servers.
func serversSaturated(r *Record) []string {
	var sentences []string
	for _, scenario := range r.scenarios {
		for _, m := range scenario.metrics {
			if !isServerCPU(m) {
				continue
			}
			for _, arm := range scenario.arms {
				found := scenario.at(m.Name, arm.Name)
				if found != nil && found.unit == metric.UnitPercent && found.center() > busyPercent {
					sentences = append(sentences, fmt.Sprintf("%s under %s in %s is %s: so close to the limit, the results may reflect the server rather than the setting.",
						capitalizePhrase(m, m.Phrase()), scenario.Name, arm.Name, found.textWithUnit()))
				}
			}
		}
	}
	return sentences
}

const (
	// unevenSpeed is the largest ratio of the node's CPU speeds between runs of an arm that is
	// not reported.
	unevenSpeed = 1.15
	// leastLooks is the minimum average number of speed samples in a run: a sample takes a
	// millisecond, which something else may disturb.
	leastLooks = 4
)

// nodeSpeedVaries reports a node whose speed varied between runs. It compares runs of one arm,
// because an arm that keeps the node busier may slow its CPU.
func nodeSpeedVaries(r *Record) []string {
	worst, where := unevenSpeed, ""
	for _, scenario := range r.scenarios {
		for _, arm := range scenario.arms {
			found := scenario.at(metric.Name(metric.Node, metric.CPUSpeed, metric.Average), arm.Name)
			if found == nil || len(found.numbers) < 2 || found.samples < leastLooks*int64(len(found.numbers)) {
				continue
			}
			if slowest := slices.Min(found.numbers); slowest > 0 && slices.Max(found.numbers)/slowest > worst {
				worst, where = slices.Max(found.numbers)/slowest, arm.Name+" under "+scenario.Name
			}
		}
	}
	if where == "" {
		return nil
	}
	return []string{fmt.Sprintf("The speed of the node's CPU varied: the same work took up to %s times as long in one run of %s as in another (node/cpuSpeed), which is typical of machines that share a processor. This widens all intervals; runs of the same block, which follow each other, differ least.", digits.Fixed(worst, 2), where)}
}

func isServerCPU(m metric.Metric) bool {
	isServer := m.Component == metric.Postgres || m.Component == metric.Kafka
	// A server's peak minute does not limit a whole run.
	isCPU := m.Resource == metric.CPU || m.Resource == metric.CPUUsed && m.Statistic == metric.Average
	return isServer && isCPU && m.Window == "" && m.Statistic != metric.Slope
}
