// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Analysis declares the question that the experiment answers. The first run
// freezes it: metrics or margins chosen after the results would bias the
// verdict.
type Analysis struct {
	// primary names the metrics that decide, for example cico/Check-In/average
	// or, in a window, cico/Check-In/p95@alone. Their p-values are adjusted
	// together, so name only those that you would act on. Names are written as
	// in reports. Absent: the average of check-in and check-out of every
	// checkInCheckOut load, the duration of every dataImport load.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:XValidation:rule=`self.matches(r'^[^/@ ]+/(.*/)?([^/@]|\\@)*([^/@ ])(@[a-z0-9-]+)?$')`,message="a metric is load/transaction/statistic, with an optional @window: for example cico/Check-In/average or cico/Check-In/p95@alone"
	Primary []string `json:"primary,omitempty"`

	// guards name the guardrails: metrics that no winner may make worse.
	// Absent: the error shares and 95th percentiles of every load, and
	// PostgreSQL's connections.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:XValidation:rule=`self.matches(r'^[^/@ ]+/(.*/)?([^/@]|\\@)*([^/@ ])(@[a-z0-9-]+)?$')`,message="a metric is load/transaction/statistic, with an optional @window: for example cico/Check-In/p95 or postgres/primary/connections/total/average"
	Guards []string `json:"guards,omitempty"`

	// higherIsBetter names custom metrics for which higher is better, for
	// example custom/Serve/hits, where their unit does not show it. Metrics of
	// measurement.prometheus have their own field.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=960
	// +kubebuilder:validation:items:MaxLength=253
	HigherIsBetter []string `json:"higherIsBetter,omitempty"`

	// lowerIsBetter names custom metrics for which lower is better.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=960
	// +kubebuilder:validation:items:MaxLength=253
	LowerIsBetter []string `json:"lowerIsBetter,omitempty"`

	// comparisons adds pairs of arms to compare; each arm is always compared with the
	// baseline. All: every pair. Chain: each arm with the one declared before it.
	// WithinLevels: the arms of a matrix that differ in one factor. Their primary
	// metrics are adjusted together with the others, so add only pairs that you would
	// act on. Absent: none.
	// +optional
	// +kubebuilder:validation:Enum=All;Chain;WithinLevels
	Comparisons Pairs `json:"comparisons,omitempty"`

	// marginPercent is the largest difference, in percent of the baseline, that
	// counts as equivalent. Default 5.
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MarginPercent int32 `json:"marginPercent,omitempty"`

	// confidencePercent is the confidence level of the intervals. The rest to
	// 100 is the false-positive rate of the verdicts. Default 95.
	// +optional
	// +kubebuilder:default=95
	// +kubebuilder:validation:XValidation:rule="self >= 51 && self <= 99",message="analysis.confidencePercent must be from 51 to 99"
	ConfidencePercent int32 `json:"confidencePercent,omitempty"`
}

// Pairs are pairs of arms that are compared in addition to each arm with the
// baseline.
type Pairs string

const (
	// PairsAll is every pair of arms.
	PairsAll Pairs = "All"
	// PairsChain is each arm with the one declared before it.
	PairsChain Pairs = "Chain"
	// PairsWithinLevels is the combinations of a matrix that differ in one factor.
	PairsWithinLevels Pairs = "WithinLevels"
)

// PrecisionTarget is the goal that ends an experiment: intervals of a width, or verdicts.
//
// +kubebuilder:validation:XValidation:rule="has(self.halfWidthPercent) != (has(self.verdicts) && self.verdicts)",message="a target needs exactly one of halfWidthPercent (intervals of that half-width) and verdicts: true (a verdict on every primary metric)"
// +kubebuilder:validation:XValidation:rule="!has(self.verdicts) || !self.verdicts || self.maxBlocks >= 6",message="design.target.maxBlocks must be at least 6 with verdicts: a verdict needs 6 blocks"
type PrecisionTarget struct {
	// halfWidthPercent is the half-width of the interval, in percent of the
	// baseline, that every primary metric must reach in every arm. Intervals are
	// not adjusted for other metrics. The size of the effect does not matter.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="design.target.halfWidthPercent must be from 1 to 100"
	HalfWidthPercent int32 `json:"halfWidthPercent,omitempty"`

	// verdicts stops the experiment once every primary metric has a verdict in
	// every arm, or is unlikely to get one. Each block from blocks on is an interim
	// analysis. Intervals and verdicts allow for all of them, so the false-positive
	// rate is that of a single analysis at the end. Therefore, blocks and maxBlocks
	// can't change once the first run exists.
	// +optional
	Verdicts bool `json:"verdicts,omitempty"`

	// maxBlocks is the largest number of blocks.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="design.target.maxBlocks must be from 1 to 100"
	MaxBlocks int32 `json:"maxBlocks"`
}

// Verdict is the result of a comparison.
// +kubebuilder:validation:Enum=Better;Worse;Equivalent;Inconclusive
type Verdict string

const (
	// VerdictBetter means that the arm is better than the baseline.
	VerdictBetter Verdict = "Better"
	// VerdictWorse means that the arm is worse than the baseline.
	VerdictWorse Verdict = "Worse"
	// VerdictEquivalent means that the difference is within the margin.
	VerdictEquivalent Verdict = "Equivalent"
	// VerdictInconclusive means that the runs neither show a difference nor rule one out.
	VerdictInconclusive Verdict = "Inconclusive"
)

// WithheldReason is why a comparison has no verdict (docs/reasons.md).
// +kubebuilder:validation:Enum=TooFewBlocks;BeforeFirstAnalysis;ErrorRatesDiffer;TwinDiffers;ChangedBySettings;DirectionUnknown;NoInterval
type WithheldReason string

// AnalysisStatus is the frozen question and the progress of its answer.
type AnalysisStatus struct {
	// primary metrics; none: every comparison is exploratory.
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
	// marginPercent is the largest difference that counts as equivalent.
	MarginPercent int32 `json:"marginPercent"`
	// confidencePercent of the intervals.
	ConfidencePercent int32 `json:"confidencePercent"`
	// interimAnalyses with design.target.verdicts. Intervals and p-values allow for
	// all of them.
	// +optional
	InterimAnalyses *InterimAnalyses `json:"interimAnalyses,omitempty"`
	// looks is the earlier name of interimAnalyses. Deprecated: read
	// interimAnalyses.
	// +optional
	Looks *InterimAnalyses `json:"looks,omitempty"`
	// twin is the A/A control, with design.calibrate.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Twin string `json:"twin,omitempty"`
	// hash identifies the question and is part of the plan's hash. It is set
	// before the first run.
	// +kubebuilder:validation:MaxLength=512
	Hash string `json:"hash"`
	// blocks that are complete and used by the comparisons.
	Blocks int32 `json:"blocks"`
	// runs used by the comparisons.
	// +optional
	Runs int32 `json:"runs,omitempty"`
	// final: no further block is planned.
	// +optional
	Final bool `json:"final,omitempty"`
	// comparisons is the number of all comparisons; the report has those that
	// exceed status.comparisons.
	// +optional
	Comparisons int32 `json:"comparisons,omitempty"`
	// stopped is why no further block is planned, with design.target.
	// +optional
	Stopped *Stopped `json:"stopped,omitempty"`
	// warnings describe limits of the results.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=2048
	Warnings []string `json:"warnings,omitempty"`
}

// InterimAnalyses are the blocks followed by an interim analysis.
type InterimAnalyses struct {
	// first block that may give a verdict.
	First int32 `json:"first"`
	// last possible block.
	Last int32 `json:"last"`
}

// Stopped is why no further block is planned.
type Stopped struct {
	// reason: TargetMet, Decided, Futility, MaxBlocks, Budget or
	// NoPrimaryMetric.
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason"`
	// message explains the reason.
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message"`
}

// ArmVerdicts summarizes an arm's primary comparisons.
type ArmVerdicts struct {
	// wins: a primary metric is Better, and no primary metric or guardrail is
	// Worse.
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
	// worseGuards are guardrails that are Worse, each with its scenario,
	// cico/Check-In/p95 of cico-8, unless its load has the scenario's name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=512
	WorseGuards []string `json:"worseGuards,omitempty"`
}

// Comparison compares one arm with the baseline, for one metric of one
// scenario. Numbers are decimal strings; an unknown number is absent.
type Comparison struct {
	// scenario of the runs.
	// +kubebuilder:validation:MaxLength=512
	Scenario string `json:"scenario"`
	// metric, for example cico/Check-In/average.
	// +kubebuilder:validation:MaxLength=1024
	Metric string `json:"metric"`
	// arm that is compared with the baseline.
	// +kubebuilder:validation:MaxLength=512
	Arm string `json:"arm"`
	// against is the arm to compare with, if that is not the baseline. It then
	// replaces the baseline in the other fields.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Against string `json:"against,omitempty"`
	// unit of the centers.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Unit string `json:"unit,omitempty"`
	// primary: the metric is a primary one.
	// +optional
	Primary bool `json:"primary,omitempty"`
	// twin: the arm is the A/A control, so any difference is noise.
	// +optional
	Twin bool `json:"twin,omitempty"`
	// blocks that hold both the arm and the baseline.
	Blocks int32 `json:"blocks"`
	// baselineCenter is the geometric mean of the baseline's runs on the ratio
	// scale, otherwise their mean.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	BaselineCenter string `json:"baselineCenter,omitempty"`
	// armCenter is the same for the arm's runs.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ArmCenter string `json:"armCenter,omitempty"`
	// scale of delta and intervals: ratio - percent of the baseline; difference
	// - the unit.
	// +kubebuilder:validation:Enum=ratio;difference
	Scale string `json:"scale"`
	// delta is the effect of the arm.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Delta string `json:"delta,omitempty"`
	// low end of the deciding interval of delta: for Equivalent that of the
	// equivalence test, otherwise adjusted like pAdjusted.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Low string `json:"low,omitempty"`
	// high end of the deciding interval of delta.
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
	// pValue of the t test. All p-values have six places and are at least
	// 0.000001.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PValue string `json:"pValue,omitempty"`
	// pPermutation is the sign-flip test's p-value.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PPermutation string `json:"pPermutation,omitempty"`
	// pAdjusted is pValue adjusted for all comparisons.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PAdjusted string `json:"pAdjusted,omitempty"`
	// verdict; absent below 6 blocks, which are too few to compare, and for the
	// A/A control.
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`
	// withheld is the reason of an absent verdict, except for the A/A control.
	// +optional
	Withheld WithheldReason `json:"withheld,omitempty"`
	// furtherBlocks is about the number of blocks that would decide an
	// Inconclusive comparison; absent above 1,000.
	// +optional
	FurtherBlocks int32 `json:"furtherBlocks,omitempty"`
	// warnings describe limits of the numbers.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=2048
	Warnings []string `json:"warnings,omitempty"`
}

// Slowdown is the effect of background load on a metric in the baseline, and
// the additional effect in an arm (difference in differences).
type Slowdown struct {
	// scenario of the runs.
	// +kubebuilder:validation:MaxLength=512
	Scenario string `json:"scenario"`
	// metric without its window, for example cico/Check-In/average.
	// +kubebuilder:validation:MaxLength=1024
	Metric string `json:"metric"`
	// during names the background load: the metric while it runs is compared
	// with the metric alone.
	// +kubebuilder:validation:MaxLength=512
	During string `json:"during"`
	// arm that is compared with the baseline.
	// +kubebuilder:validation:MaxLength=512
	Arm string `json:"arm"`
	// baselinePercent is the effect of the background load in the baseline.
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
	// morePercent is the additional growth in the arm: the ratio of the two
	// growths, less one.
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
	// pValue for no difference, not adjusted: slowdowns are exploratory.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PValue string `json:"pValue,omitempty"`
}

// FactorEffect is the average effect of a level of a factor over the other
// factors, or the interaction of two levels.
type FactorEffect struct {
	// scenario of the runs.
	// +kubebuilder:validation:MaxLength=512
	Scenario string `json:"scenario"`
	// metric, a primary one.
	// +kubebuilder:validation:MaxLength=1024
	Metric string `json:"metric"`
	// effect names the level, partitions=two, or an interaction, partitions=two
	// x split=on: what the second adds to the first.
	// +kubebuilder:validation:MaxLength=512
	Effect string `json:"effect"`
	// scale: ratio - percent; difference - the metric's unit.
	// +kubebuilder:validation:Enum=ratio;difference
	Scale string `json:"scale"`
	// delta from the factor's baseline level; for two levels from the sum of
	// their single effects.
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
	// pValue for no effect, not adjusted: effects of factors are exploratory.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PValue string `json:"pValue,omitempty"`
}
