// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/text/decimal"
)

// outcomes configure the results of an arm's runs: how much longer they take, as a share, and how
// much they vary.
type outcomes struct {
	slower map[string]float64
	spread float64
	// errors is the arm's percentage of failed check-ins.
	errors map[string]float64
	// lasting is how long a run takes; 0: a minute.
	lasting time.Duration
}

// conduct lets the operator plan, start and compare runs, and simulates the runs: each finishes at once.
// The operator is restarted before every reconcile. It returns when no further run starts.
func (l *lab) conduct(name string, out outcomes) *v1alpha1.PerfExperiment {
	l.t.Helper()
	for idle := 0; idle < 3; {
		reconciler, _ := l.operator()
		_, err := reconciler.Reconcile(l.t.Context(), request(l.experiment(name)))
		l.judge("experiment "+name, err)
		l.checkStatuses()
		idle++
		for _, run := range l.runs() {
			if !run.Status.Phase.IsFinal() {
				l.finish(run, out)
				idle = 0
			}
		}
		if l.eachRound != nil {
			l.eachRound()
		}
	}
	return l.experiment(name)
}

// finish sets the observations of a run. They depend only on its arm and position.
func (l *lab) finish(run v1alpha1.PerfRun, out outcomes) {
	l.t.Helper()
	random := rand.New(rand.NewPCG(uint64(run.Spec.Position), uint64(len(run.Spec.Arm))))
	observe := func(metric, unit string, value float64) v1alpha1.Observation {
		return v1alpha1.Observation{Metric: metric, Unit: unit, Value: decimal.Format(value)}
	}
	noisy := func(value float64) float64 {
		return value * (1 + out.slower[run.Spec.Arm]) * math.Exp(out.spread*random.NormFloat64())
	}
	began := l.now
	l.now = l.now.Add(max(out.lasting, time.Minute))
	run.Status.Phase = v1alpha1.RunSucceeded
	run.Status.Timings.ProvisionStart = &metav1.Time{Time: began}
	run.Status.Timings.Finish = &metav1.Time{Time: l.now}
	run.Status.Observations = []v1alpha1.Observation{
		observe("cico/Check-In/average", "ms", noisy(400)),
		observe("cico/Check-In/p95", "ms", noisy(700)),
		observe("cico/Check-In/errors", "%", out.errors[run.Spec.Arm]),
		observe("cico/Check-Out/average", "ms", noisy(900)),
		observe("module/gateway/cpu/average", "%", 40+random.Float64()),
	}
	expect.NoError(l.t, l.admin.Status().Update(l.t.Context(), &run), "ending run %s", run.Name)
}

// blocks sets the number of blocks, with a control arm.
func blocks(count int32) func(*v1alpha1.PerfExperiment) {
	return func(e *v1alpha1.PerfExperiment) {
		e.Spec.Design.Blocks = count
		e.Spec.Design.Calibrate = true
		e.Spec.Cleanup.Policy = v1alpha1.CleanupRetain
	}
}

// until adds blocks until intervals are narrow enough.
func until(percent, most int32) func(*v1alpha1.PerfExperiment) {
	return func(e *v1alpha1.PerfExperiment) {
		e.Spec.Design.Calibrate = false
		e.Spec.Design.Target = &v1alpha1.PrecisionTarget{HalfWidthPercent: percent, MaxBlocks: most}
	}
}

// noDesign declares neither blocks nor a target.
func noDesign(e *v1alpha1.PerfExperiment) { e.Spec.Design = v1alpha1.Design{} }

// verdicts adds blocks until every primary metric has a verdict.
func verdicts(most int32) func(*v1alpha1.PerfExperiment) {
	return func(e *v1alpha1.PerfExperiment) {
		e.Spec.Design.Calibrate = false
		e.Spec.Design.Target = &v1alpha1.PrecisionTarget{Verdicts: true, MaxBlocks: most}
	}
}

func findComparison(t *testing.T, experiment *v1alpha1.PerfExperiment, metric, arm string) v1alpha1.Comparison {
	t.Helper()
	for _, c := range experiment.Status.Comparisons {
		if c.Metric == metric && c.Arm == arm {
			return c
		}
	}
	t.Fatalf("no comparison of %s in arm %s among %d", metric, arm, len(experiment.Status.Comparisons))
	return v1alpha1.Comparison{}
}

func parsed(t *testing.T, text string) float64 {
	t.Helper()
	value, err := decimal.Parse(text)
	expect.NoError(t, err)
	return value
}

func TestEffectIsFoundAndControlIsNot(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, blocks(6)))
	early := 0
	l.eachRound = func() {
		status := l.experiment("small").Status
		if status.Analysis == nil || status.Analysis.Hash == "" || len(status.Analysis.Primary) != 2 {
			t.Errorf("the question is not written down while %s runs are done: %+v", status.Progress, status.Analysis)
			return
		}
		if status.Analysis.Blocks > 0 && status.Analysis.Blocks < 6 {
			early++
			if status.Analysis.Final || status.Verdict != "no verdict below 6 blocks" || len(status.Comparisons) == 0 || status.Comparisons[0].Verdict != "" {
				t.Errorf("after %d blocks: verdict %q, %+v", status.Analysis.Blocks, status.Verdict, status.Comparisons)
			}
		}
	}
	done := l.conduct("small", outcomes{slower: map[string]float64{"slow": 0.1}, spread: 0.01})
	if early == 0 {
		t.Error("the comparisons were not updated block by block")
	}
	if done.Status.Phase != v1alpha1.ExperimentComplete || done.Status.Progress != "18/18" || done.Status.Verdict != "2 worse" {
		t.Fatalf("phase %s, progress %s, verdict %q, want Complete, 18/18 and 2 worse", done.Status.Phase, done.Status.Progress, done.Status.Verdict)
	}
	for _, metric := range []string{"cico/Check-In/average", "cico/Check-Out/average"} {
		slow, twin := findComparison(t, done, metric, "slow"), findComparison(t, done, metric, "as-is-twin")
		if slow.Verdict != v1alpha1.VerdictWorse || !slow.Primary || slow.Blocks != 6 || slow.Scale != "ratio" || !(parsed(t, slow.Low) < 10 && parsed(t, slow.High) > 10 && parsed(t, slow.Low) > 5) {
			t.Errorf("%s: %+v", metric, slow)
		}
		if !twin.Twin || twin.Verdict != "" || !(parsed(t, twin.Low) < 0 && parsed(t, twin.High) > 0) {
			t.Errorf("%s of the control arm: %+v", metric, twin)
		}
	}
	if p95 := findComparison(t, done, "cico/Check-In/p95", "slow"); p95.Primary || p95.Verdict != v1alpha1.VerdictWorse {
		t.Errorf("a guardrail: %+v", p95)
	}
	if slices.ContainsFunc(done.Status.Comparisons, func(c v1alpha1.Comparison) bool { return c.Twin && !c.Primary }) {
		t.Error("the control arm is among the exploratory comparisons")
	}
	l.expect(done.Status.Conditions, v1alpha1.ConditionCalibrated, metav1.ConditionTrue, v1alpha1.ReasonTwinAlike, `the A/A control "as-is-twin" does not differ`)
	l.expect(done.Status.Conditions, v1alpha1.ConditionComplete, metav1.ConditionTrue, v1alpha1.ReasonComplete, "verdict: 2 worse")
	checkArms(t, done.Status.Arms)
	if !done.Status.Analysis.Final || done.Status.Analysis.Blocks != 6 || done.Status.Analysis.Runs != 18 || done.Status.Analysis.Twin != "as-is-twin" {
		t.Errorf("analysis %+v", done.Status.Analysis)
	}
	reported := func(event string) bool {
		return strings.HasPrefix(event, `Normal Verdict: Against the baseline "as-is": arm "slow" cico/Check-In/average Worse by +`)
	}
	if !slices.ContainsFunc(l.events.reported, reported) {
		t.Errorf("no event has the verdict: %q", l.events.reported)
	}
}

func checkArms(t *testing.T, listed []v1alpha1.ArmStatus) {
	t.Helper()
	if len(listed) != 3 {
		t.Fatalf("arms %+v", listed)
	}
	slow, twin := listed[1], listed[2]
	if twin.Name != "as-is-twin" || !twin.Twin || twin.Verdicts != nil || len(twin.Differences) != 0 {
		t.Errorf("the control arm is %+v", twin)
	}
	if slow.Verdicts == nil || slow.Verdicts.Wins || slow.Verdicts.Worse != 2 || !slices.Equal(slow.Verdicts.WorseGuards, []string{"cico/Check-In/p95"}) {
		t.Errorf("the slow arm's verdicts are %+v", slow.Verdicts)
	}
}

func TestFasterArmWins(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, blocks(6)))
	done := l.conduct("small", outcomes{slower: map[string]float64{"slow": -0.1}, spread: 0.01})
	if verdicts := done.Status.Arms[1].Verdicts; verdicts == nil || !verdicts.Wins || verdicts.Better != 2 || done.Status.Verdict != "2 better" {
		t.Errorf("verdicts %+v, in short %q", verdicts, done.Status.Verdict)
	}
}

// Fewer errors would make an arm faster; its times are not compared.
func TestDifferentErrorRatesAreNotCompared(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, blocks(6)))
	done := l.conduct("small", outcomes{slower: map[string]float64{"slow": -0.1}, spread: 0.01, errors: map[string]float64{"slow": 0.9}})
	in, out := findComparison(t, done, "cico/Check-In/average", "slow"), findComparison(t, done, "cico/Check-Out/average", "slow")
	if in.Verdict != "" || in.Withheld != v1alpha1.ReasonErrorRatesDiffer || out.Withheld != "" || !strings.Contains(strings.Join(in.Warnings, ";"), "the error shares (cico/Check-In/errors") || out.Verdict != v1alpha1.VerdictBetter {
		t.Errorf("check-in %+v, check-out %+v", in, out)
	}
	if done.Status.Verdict != "1 better, 1 not compared" || done.Status.Arms[1].Verdicts.Wins {
		t.Errorf("verdict %q, %+v: an arm whose error share is worse does not win", done.Status.Verdict, done.Status.Arms[1].Verdicts)
	}
}

func TestDifferingControlWithdrawsVerdicts(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, blocks(6)))
	done := l.conduct("small", outcomes{slower: map[string]float64{"slow": 0.1, "as-is-twin": 0.1}, spread: 0.01})
	l.expect(done.Status.Conditions, v1alpha1.ConditionCalibrated, metav1.ConditionFalse, v1alpha1.ReasonTwinDiffers, "as-is-twin", "yet differs")
	if done.Status.Verdict != "not calibrated: no verdict" {
		t.Errorf("verdict %q", done.Status.Verdict)
	}
	for _, c := range done.Status.Comparisons {
		if isWithheld := c.Withheld == v1alpha1.ReasonTwinDiffers; c.Verdict != "" || c.Primary && isWithheld == c.Twin {
			t.Errorf("%s of %s is %q, withheld: %q", c.Metric, c.Arm, c.Verdict, c.Withheld)
		}
	}
	if !slices.ContainsFunc(l.events.reported, func(event string) bool { return strings.HasPrefix(event, "Warning NotCalibrated: ") }) {
		t.Errorf("no event reports it: %q", l.events.reported)
	}
}

func TestControlNeedsEnoughBlocks(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, blocks(3)))
	done := l.conduct("small", outcomes{spread: 0.01})
	l.expect(done.Status.Conditions, v1alpha1.ConditionCalibrated, metav1.ConditionUnknown, v1alpha1.ReasonTooFewBlocks, "3 blocks are complete", "needs 6")
	if done.Status.Verdict != "no verdict below 6 blocks" || len(done.Status.Warnings) == 0 {
		t.Errorf("verdict %q, warnings %q", done.Status.Verdict, done.Status.Warnings)
	}
}

func TestBlocksAreAddedUntilTarget(t *testing.T) {
	cases := map[string]struct {
		edits  []func(*v1alpha1.PerfExperiment)
		out    outcomes
		least  int
		most   int
		reason string
	}{
		"AtOnce":         {[]func(*v1alpha1.PerfExperiment){blocks(6), until(5, 12)}, outcomes{spread: 0.01}, 6, 6, v1alpha1.ReasonTargetMet},
		"Later":          {[]func(*v1alpha1.PerfExperiment){blocks(6), until(4, 20)}, outcomes{spread: 0.04}, 7, 15, v1alpha1.ReasonTargetMet},
		"MaxBlocks":      {[]func(*v1alpha1.PerfExperiment){blocks(6), until(1, 8)}, outcomes{spread: 0.05}, 8, 8, v1alpha1.ReasonMaxBlocks},
		"NoDesign":       {[]func(*v1alpha1.PerfExperiment){noDesign}, outcomes{spread: 0.01}, 6, 8, v1alpha1.ReasonDecided},
		"VerdictsLater":  {[]func(*v1alpha1.PerfExperiment){blocks(6), verdicts(20)}, outcomes{spread: 0.04}, 7, 19, v1alpha1.ReasonDecided},
		"NoVerdictAhead": {[]func(*v1alpha1.PerfExperiment){blocks(6), verdicts(9)}, outcomes{spread: 0.4}, 6, 8, v1alpha1.ReasonFutility},
		// Runs take an hour: two make a block, and twelve take twelve hours.
		"Budget": {[]func(*v1alpha1.PerfExperiment){blocks(6), until(1, 20), func(e *v1alpha1.PerfExperiment) {
			e.Spec.Design.Budget = &metav1.Duration{Duration: 15 * time.Hour}
		}}, outcomes{spread: 0.05, lasting: time.Hour}, 7, 7, v1alpha1.ReasonBudget},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.create(login(), smallExperiment(t, tc.edits...))
			done := l.conduct("small", tc.out)
			made := len(l.runs()) / 2
			if made < tc.least || made > tc.most || len(l.runs())%2 != 0 {
				t.Errorf("%d runs, want %d to %d blocks of two", len(l.runs()), tc.least, tc.most)
			}
			if done.Status.Phase != v1alpha1.ExperimentComplete || done.Status.Progress != fmt.Sprintf("%d/%d", 2*made, 2*made) {
				t.Errorf("phase %s, progress %s", done.Status.Phase, done.Status.Progress)
			}
			if stopped := done.Status.Analysis.Stopped; stopped == nil || stopped.Reason != tc.reason || stopped.Message == "" {
				t.Errorf("stopped %+v, want %s", stopped, tc.reason)
			}
			if meta.FindStatusCondition(done.Status.Conditions, v1alpha1.ConditionCalibrated) != nil {
				t.Error("Calibrated is set without a control arm")
			}
			checkOrder(t, l.runs())
		})
	}
}

// checkOrder checks that blocks are complete and in order.
func checkOrder(t *testing.T, runs []v1alpha1.PerfRun) {
	t.Helper()
	for i, run := range runs {
		if run.Spec.Position != int32(i)+1 || run.Spec.Block != int32(i/2)+1 || run.Spec.Attempt != 1 {
			t.Errorf("run %d is %s, at position %d of block %d in attempt %d", i+1, run.Name, run.Spec.Position, run.Spec.Block, run.Spec.Attempt)
		}
	}
}

// The first run freezes the question, even if nothing else is written.
func TestChangedQuestionStalls(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, blocks(6)))
	reconciler, _ := l.operator()
	if _, err := reconciler.Reconcile(t.Context(), request(l.experiment("small"))); err != nil {
		t.Fatal(err)
	}
	began := l.experiment("small")
	began.Status = v1alpha1.PerfExperimentStatus{}
	expect.NoError(t, l.admin.Status().Update(t.Context(), began))
	l.mustChange("small", func(e *v1alpha1.PerfExperiment) { e.Spec.Analysis.Primary = []string{"cico/Check-In/p95"} })
	changed := l.conduct("small", outcomes{spread: 0.01})
	l.expect(changed.Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonSpecChanged)
	if len(l.runs()) != 1 {
		t.Errorf("%d runs, want the one that had started", len(l.runs()))
	}
}
