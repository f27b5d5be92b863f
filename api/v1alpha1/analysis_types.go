// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Analysis says which question the experiment is to decide. It is frozen with
// the first run: who chooses metrics or margins after the numbers chooses the
// answer.
type Analysis struct {
	// primary names the metrics that decide, for example
	// cico/Check-In/average or, in a window, cico/Check-In/p95@alone. Their
	// p-values are adjusted together, so name the few that you would act on. A
	// name is written as reports show it.
	// Absent: the average of check-in and check-out of every checkInCheckOut
	// load, the duration of every dataImport load.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:XValidation:rule=`self.matches(r'^[^/@ ]+/(.*/)?([^/@]|\\@)*([^/@ ])(@[a-z0-9-]+)?$')`,message="a metric is written load/transaction/statistic, with a window behind it if need be: for example cico/Check-In/average or cico/Check-In/p95@alone"
	Primary []string `json:"primary,omitempty"`

	// guards name metrics that no winner may make worse. Absent: the error
	// shares and 95th percentiles of every load, and PostgreSQL's connections.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:XValidation:rule=`self.matches(r'^[^/@ ]+/(.*/)?([^/@]|\\@)*([^/@ ])(@[a-z0-9-]+)?$')`,message="a metric is written load/transaction/statistic, with a window behind it if need be: for example cico/Check-In/p95 or postgres/primary/connections/total/average"
	Guards []string `json:"guards,omitempty"`

	// higherIsBetter names custom metrics of which higher is better, for example
	// custom/Serve/hits, where their unit does not show it. The metrics of
	// measurement.prometheus have a field of their own.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=960
	// +kubebuilder:validation:items:MaxLength=253
	HigherIsBetter []string `json:"higherIsBetter,omitempty"`

	// lowerIsBetter names custom metrics of which lower is better.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=960
	// +kubebuilder:validation:items:MaxLength=253
	LowerIsBetter []string `json:"lowerIsBetter,omitempty"`

	// comparisons chooses further pairs of arms to compare; each arm is always
	// compared with the baseline. All: every pair. Chain: each arm with the one
	// declared before it. WithinLevels: the arms of a matrix that differ in one
	// factor. Their primary metrics are adjusted together with the others, so ask for
	// pairs that you would act on. Absent: none.
	// +optional
	// +kubebuilder:validation:Enum=All;Chain;WithinLevels
	Comparisons Pairs `json:"comparisons,omitempty"`

	// marginPercent of the baseline is the difference that does not matter.
	// Default 5.
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MarginPercent int32 `json:"marginPercent,omitempty"`

	// confidencePercent of the intervals. What is left to 100 is the share of
	// false verdicts that is allowed. Default 95.
	// +optional
	// +kubebuilder:default=95
	// +kubebuilder:validation:XValidation:rule="self >= 51 && self <= 99",message="analysis.confidencePercent must be from 51 to 99"
	ConfidencePercent int32 `json:"confidencePercent,omitempty"`
}

// Pairs of arms that are compared beside each arm with the baseline.
type Pairs string

const (
	// PairsAll are all arms with one another.
	PairsAll Pairs = "All"
	// PairsChain are each arm and the one declared before it.
	PairsChain Pairs = "Chain"
	// PairsWithinLevels are the combinations of a matrix that differ in one factor.
	PairsWithinLevels Pairs = "WithinLevels"
)

// PrecisionTarget is the confidence that ends an experiment: intervals of a width, or verdicts.
//
// +kubebuilder:validation:XValidation:rule="has(self.halfWidthPercent) != (has(self.verdicts) && self.verdicts)",message="a target is either halfWidthPercent (intervals of that half-width) or verdicts: true (a verdict on every primary metric), not both and not neither"
// +kubebuilder:validation:XValidation:rule="!has(self.verdicts) || !self.verdicts || self.maxBlocks >= 6",message="design.target.maxBlocks must be at least 6 with verdicts: no verdict rests on fewer blocks"
type PrecisionTarget struct {
	// halfWidthPercent is the half-width of the interval, in percent of the
	// baseline, that every primary metric is to have in every arm by itself, not
	// adjusted for the others. Whether an effect shows plays no part in it.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="design.target.halfWidthPercent must be from 1 to 100"
	HalfWidthPercent int32 `json:"halfWidthPercent,omitempty"`

	// verdicts stops as soon as every primary metric has a verdict in every arm,
	// or can hardly get one any more. Each block from blocks on is an interim
	// analysis, and intervals and verdicts allow for all of them: the rate of false
	// verdicts is that of a single analysis at the end. For that, blocks and
	// maxBlocks can't change once the first run exists.
	// +optional
	Verdicts bool `json:"verdicts,omitempty"`

	// maxBlocks is the largest number of blocks to do for it.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="design.target.maxBlocks must be from 1 to 100"
	MaxBlocks int32 `json:"maxBlocks"`
}

// Verdict is what a comparison shows.
// +kubebuilder:validation:Enum=Better;Worse;Equivalent;Inconclusive
type Verdict string

const (
	// VerdictBetter says that the arm is better than the baseline.
	VerdictBetter Verdict = "Better"
	// VerdictWorse says that the arm is worse than the baseline.
	VerdictWorse Verdict = "Worse"
	// VerdictEquivalent says that the difference lies within the margin.
	VerdictEquivalent Verdict = "Equivalent"
	// VerdictInconclusive means that the runs neither show a difference nor rule one out.
	VerdictInconclusive Verdict = "Inconclusive"
)

// AnalysisStatus is the question as it is frozen, and how far the answer is.
type AnalysisStatus struct {
	// primary metrics that decide; none: every comparison is exploratory.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=1024
	Primary []string `json:"primary,omitempty"`
	// guards are metrics that no winner may make worse; absent: error shares,
	// 95th percentiles and connections.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=1024
	Guards []string `json:"guards,omitempty"`
	// marginPercent of the baseline is the difference that does not matter.
	MarginPercent int32 `json:"marginPercent"`
	// confidencePercent of the intervals.
	ConfidencePercent int32 `json:"confidencePercent"`
	// looks are the blocks after which the arms are looked at for verdicts, with
	// design.target.verdicts. Intervals and p-values allow for all of them.
	// +optional
	Looks *Looks `json:"looks,omitempty"`
	// twin is the arm that is configured as the baseline, with
	// design.calibrate.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Twin string `json:"twin,omitempty"`
	// hash identifies the question. It is part of the plan's hash, and stands
	// here from before the first run on.
	// +kubebuilder:validation:MaxLength=512
	Hash string `json:"hash"`
	// blocks that are complete, and that the comparisons rest on.
	Blocks int32 `json:"blocks"`
	// runs the comparisons rest on.
	// +optional
	Runs int32 `json:"runs,omitempty"`
	// final: no further block is planned.
	// +optional
	Final bool `json:"final,omitempty"`
	// comparisons is the number of all comparisons made; those that
	// status.comparisons has no room for are in the report.
	// +optional
	Comparisons int32 `json:"comparisons,omitempty"`
	// stopped says why no further block is planned, with design.target.
	// +optional
	Stopped *Stopped `json:"stopped,omitempty"`
	// warnings are sentences on what the numbers can't show.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=2048
	Warnings []string `json:"warnings,omitempty"`
}

// Looks are the blocks after which the arms are looked at.
type Looks struct {
	// first block after which there may be a verdict.
	First int32 `json:"first"`
	// last block there may be.
	Last int32 `json:"last"`
}

// Stopped says why no further block is planned.
type Stopped struct {
	// reason in one word: TargetMet, Decided, Hopeless, MaxBlocks, Budget or
	// NoPrimaryMetric.
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason"`
	// message in a sentence.
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message"`
}

// ArmVerdicts sum up an arm's primary comparisons.
type ArmVerdicts struct {
	// wins: a primary metric is Better, and neither a primary nor a guarded
	// metric is Worse.
	Wins bool `json:"wins"`
	// better is the number of primary metrics that are Better.
	// +optional
	Better int32 `json:"better,omitempty"`
	// worse is the number of primary metrics that are Worse.
	// +optional
	Worse int32 `json:"worse,omitempty"`
	// equivalent is the number of primary metrics that are Equivalent.
	// +optional
	Equivalent int32 `json:"equivalent,omitempty"`
	// inconclusive is the number of primary metrics that are Inconclusive.
	// +optional
	Inconclusive int32 `json:"inconclusive,omitempty"`
	// worseGuards are guarded metrics that are Worse, each with its scenario,
	// cico/Check-In/p95 of cico-8, unless its load has the scenario's name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=512
	WorseGuards []string `json:"worseGuards,omitempty"`
}

// Comparison is one arm against the baseline, for one metric of one scenario.
// Numbers are decimal strings; an unknown number is absent.
type Comparison struct {
	// scenario the runs were done under.
	// +kubebuilder:validation:MaxLength=512
	Scenario string `json:"scenario"`
	// metric, for example cico/Check-In/average.
	// +kubebuilder:validation:MaxLength=1024
	Metric string `json:"metric"`
	// arm that is compared with the baseline.
	// +kubebuilder:validation:MaxLength=512
	Arm string `json:"arm"`
	// against is the arm that it is compared with, where that is not the
	// baseline; what is said of the baseline is then said of it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Against string `json:"against,omitempty"`
	// unit of the centers.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Unit string `json:"unit,omitempty"`
	// primary: the metric is one of those that decide.
	// +optional
	Primary bool `json:"primary,omitempty"`
	// twin: the arm is the baseline's twin, so that any difference is noise.
	// +optional
	Twin bool `json:"twin,omitempty"`
	// blocks that hold both the arm and the baseline.
	Blocks int32 `json:"blocks"`
	// baselineCenter is the geometric mean of the baseline's runs on the ratio
	// scale, else their mean.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	BaselineCenter string `json:"baselineCenter,omitempty"`
	// armCenter is the same of the arm's runs.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ArmCenter string `json:"armCenter,omitempty"`
	// scale: ratio - delta and intervals are percent of the baseline;
	// difference - they are in the unit.
	// +kubebuilder:validation:Enum=ratio;difference
	Scale string `json:"scale"`
	// delta is the effect of the arm.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Delta string `json:"delta,omitempty"`
	// low end of the interval of delta that decided: for Equivalent the
	// equivalence test's, otherwise adjusted like pAdjusted.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Low string `json:"low,omitempty"`
	// high end of the interval of delta that decided.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	High string `json:"high,omitempty"`
	// equivalenceLow is the low end of the equivalence test's interval.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	EquivalenceLow string `json:"equivalenceLow,omitempty"`
	// equivalenceHigh is the high end of the equivalence test's interval.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	EquivalenceHigh string `json:"equivalenceHigh,omitempty"`
	// pValue of the t test, to six places and never below 0.000001, as the
	// other two.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PValue string `json:"pValue,omitempty"`
	// pPermutation is the sign-flip test's p-value.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PPermutation string `json:"pPermutation,omitempty"`
	// pAdjusted is pValue adjusted for all that is compared.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PAdjusted string `json:"pAdjusted,omitempty"`
	// verdict; absent below 6 blocks, where values must not be compared, and
	// for the twin.
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`
	// furtherBlocks is about the number of blocks that would settle an
	// Inconclusive comparison; absent where no thousand would.
	// +optional
	FurtherBlocks int32 `json:"furtherBlocks,omitempty"`
	// warnings are sentences on what the numbers can't show.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=2048
	Warnings []string `json:"warnings,omitempty"`
}

// Slowdown is what background load does to a metric in the baseline, and how
// much more it does in an arm (difference in differences).
type Slowdown struct {
	// scenario the runs were done under.
	// +kubebuilder:validation:MaxLength=512
	Scenario string `json:"scenario"`
	// metric without its window, for example cico/Check-In/average.
	// +kubebuilder:validation:MaxLength=1024
	Metric string `json:"metric"`
	// during is the background load: the metric while it is on is set against
	// the metric alone.
	// +kubebuilder:validation:MaxLength=512
	During string `json:"during"`
	// arm that is compared with the baseline.
	// +kubebuilder:validation:MaxLength=512
	Arm string `json:"arm"`
	// baselinePercent is what the background load adds in the baseline.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	BaselinePercent string `json:"baselinePercent,omitempty"`
	// baselineLow is the low end of its interval.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	BaselineLow string `json:"baselineLow,omitempty"`
	// baselineHigh is the high end of its interval.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	BaselineHigh string `json:"baselineHigh,omitempty"`
	// morePercent is by how much more than in the baseline the metric grows in
	// the arm: the ratio of the two growths, less one.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	MorePercent string `json:"morePercent,omitempty"`
	// low end of its interval.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Low string `json:"low,omitempty"`
	// high end of its interval.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	High string `json:"high,omitempty"`
	// pValue against no difference, not adjusted: slowdowns are exploratory.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PValue string `json:"pValue,omitempty"`
}

// FactorEffect is what a level of a matrix's factor does on average over the
// other factors, or how two levels act together.
type FactorEffect struct {
	// scenario the runs were done under.
	// +kubebuilder:validation:MaxLength=512
	Scenario string `json:"scenario"`
	// metric, one of the primary ones.
	// +kubebuilder:validation:MaxLength=1024
	Metric string `json:"metric"`
	// effect names the level, partitions=two, or two of them,
	// partitions=two x split=on: what the second adds to the first.
	// +kubebuilder:validation:MaxLength=512
	Effect string `json:"effect"`
	// scale: ratio - in percent; difference - in the metric's unit.
	// +kubebuilder:validation:Enum=ratio;difference
	Scale string `json:"scale"`
	// delta against the factor's baseline level; of two levels against the
	// sum of their single effects.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Delta string `json:"delta,omitempty"`
	// low end of the interval of delta.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Low string `json:"low,omitempty"`
	// high end of the interval of delta.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	High string `json:"high,omitempty"`
	// pValue against no effect, not adjusted: factors' effects are exploratory.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PValue string `json:"pValue,omitempty"`
}
