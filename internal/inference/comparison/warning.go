// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/inference/stats"
)

// Code identifies a warning for programs: messages are for users, and may change.
type Code string

// Codes of reasons for missing verdicts. They appear in the status, with the names of the API's
// constants.
const (
	// CodeTooFewBlocks: too few blocks have both arms.
	CodeTooFewBlocks Code = "TooFewBlocks"
	// CodeBeforeFirstAnalysis: the first interim analysis is still to come.
	CodeBeforeFirstAnalysis Code = "BeforeFirstAnalysis"
	// CodeErrorRatesDiffer: the values are not of the same requests.
	CodeErrorRatesDiffer Code = "ErrorRatesDiffer"
	// CodeTwinDiffers: the A/A control differs from the baseline.
	CodeTwinDiffers Code = "TwinDiffers"
	// CodeChangedBySettings: the arms' settings change the metric by themselves.
	CodeChangedBySettings Code = "ChangedBySettings"
	// CodeDirectionUnknown: it is unknown whether lower or higher is better.
	CodeDirectionUnknown Code = "DirectionUnknown"
	// CodeNoInterval: no residual degrees of freedom are left.
	CodeNoInterval = Code(stats.WarningNoInterval)
)

// Codes of other limits of the numbers.
const (
	// CodeExploratory: the metric is not a primary one.
	CodeExploratory Code = "Exploratory"
	// CodeNoSpread: the model fits without any residual.
	CodeNoSpread = Code(stats.WarningNoSpread)
	// CodeUnconnected: no chain of shared blocks leads to the baseline.
	CodeUnconnected = Code(stats.WarningUnconnected)
	// CodeNoBaseline: no run of the baseline has the metric.
	CodeNoBaseline Code = "NoBaseline"
	// CodeNotFitted: the model can't be fitted.
	CodeNotFitted Code = "NotFitted"
	// CodeNoLogarithms: values at or below zero are compared as differences.
	CodeNoLogarithms Code = "NoLogarithms"
	// CodeNoMargin: the baseline's center is zero, and so is a margin in percent of it.
	CodeNoMargin Code = "NoMargin"
	// CodeUnevenSpread: an arm spreads more than the others.
	CodeUnevenSpread Code = "UnevenSpread"
	// CodeMissingRuns: some blocks lack a run of one of the two arms.
	CodeMissingRuns Code = "MissingRuns"
	// CodeOutlier: the model can hardly explain a run.
	CodeOutlier Code = "Outlier"
	// CodeTestsDisagree: the t test and the sign-flip test differ in their results.
	CodeTestsDisagree Code = "TestsDisagree"
	// CodeMoreBlocks: further blocks would decide an Inconclusive comparison.
	CodeMoreBlocks Code = "MoreBlocks"
	// CodeUndecidable: no reasonable number of further blocks would decide it.
	CodeUndecidable Code = "Undecidable"
	// CodeCarryOver: a run depends on what ran before it.
	CodeCarryOver Code = "CarryOver"
	// CodeDrift: the metric changes from block to block.
	CodeDrift Code = "Drift"
	// CodeUnitsDiffer: two experiments measured in different units.
	CodeUnitsDiffer Code = "UnitsDiffer"
	// CodeScalesDiffer: two experiments compare on different scales.
	CodeScalesDiffer Code = "ScalesDiffer"
	// CodeNoOwnVerdict: an arm has no verdict in its own experiment.
	CodeNoOwnVerdict Code = "NoOwnVerdict"
	// CodeNotCalibrated: one of two experiments is not calibrated.
	CodeNotCalibrated Code = "NotCalibrated"
)

// Warning describes a limit of the numbers: a code for programs and a message for users.
type Warning struct {
	Code    Code
	Message string
}

// TwinDiffers is the reason for missing verdicts if the A/A control differs.
var TwinDiffers = Warning{CodeTwinDiffers, "the baseline differs from its A/A control"}

// NewWarning formats a message.
func NewWarning(code Code, format string, values ...any) Warning {
	return Warning{code, fmt.Sprintf(format, values...)}
}

// FromStats converts the warnings of an estimate.
func FromStats(warnings []stats.Warning) []Warning {
	made := make([]Warning, 0, len(warnings))
	for _, warning := range warnings {
		made = append(made, Warning{Code(warning), warning.Message()})
	}
	return made
}

// Messages returns the messages of warnings, except those with some codes.
func Messages(warnings []Warning, without ...Code) []string {
	messages := make([]string, 0, len(warnings))
	for _, warning := range warnings {
		if !slices.Contains(without, warning.Code) {
			messages = append(messages, warning.Message)
		}
	}
	return messages
}
