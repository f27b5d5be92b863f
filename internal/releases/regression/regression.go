// SPDX-License-Identifier: Apache-2.0

// Package regression detects regressions of a complete experiment against those before it, at
// a fixed false-positive rate, and encodes the result. It is pure.
package regression

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/text/prose"
)

// ErrorRatePercent is the probability that any of the Analyses in sequence reports a change
// although nothing changed. Each analysis spends an equal part of it (Lan and DeMets 1983, the
// linear rule), independent of earlier results.
const (
	ErrorRatePercent = 5
	Analyses         = 20
)

const (
	// MaxPoints limits the points of a series to the newest: an analysis of them takes seconds.
	MaxPoints = 60
	// maxSeries limits the series that share the error rate of an analysis; above it, only the
	// baseline's are analyzed.
	maxSeries = 12
	// MaxChanges limits the changes reported for one experiment.
	MaxChanges = 20
	// maxEarlierPoints limits the earlier points that are stored for the report.
	maxEarlierPoints = 10
	// maxTextBytes limits the description of a difference.
	maxTextBytes = 300
	// positionTolerance is how many points a change may move between two analyses.
	positionTolerance = 2
)

// Earlier is an experiment that completed before.
type Earlier struct {
	Measurements releases.Measurements
	// Reported are the changes that were reported when it completed.
	Reported []v1alpha1.SeriesChange
}

// Detect compares an experiment with those before it. The history has the last points of each
// series and is nil if no series has an earlier point. The changes are those for better or
// worse that were not reported before.
func Detect(this releases.Measurements, earlier []Earlier) (history *releases.History, changes []v1alpha1.SeriesChange, err error) {
	before := slices.DeleteFunc(slices.Clone(earlier), func(one Earlier) bool {
		return one.Measurements.UID == this.UID || !one.Measurements.Began.Before(this.Began)
	})
	slices.SortFunc(before, func(a, b Earlier) int { return a.Measurements.Began.Compare(b.Measurements.Began) })
	before = before[max(0, len(before)-(MaxPoints-1)):]
	if len(before) == 0 {
		return nil, nil, nil
	}
	var all []releases.Measurements
	var reported []v1alpha1.SeriesChange
	for _, one := range before {
		all, reported = append(all, one.Measurements), append(reported, one.Reported...)
	}
	options, remark := selectOptions(&this)
	history, err = releases.NewHistory(append(all, this), options)
	if errors.Is(err, releases.ErrNoHistory) || errors.Is(err, releases.ErrErrorRateTooSmall) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if remark != "" {
		history.Notes = append(history.Notes, remark)
	}
	// AllNotes needs the length of the complete history.
	history.Notes = history.AllNotes()
	changes = newChanges(history, reported)
	keepNewestPoints(history)
	if len(history.Series) == 0 {
		return nil, nil, nil
	}
	return history, changes, nil
}

// selectOptions selects all series of the experiment, unless they are too many for the error
// rate.
func selectOptions(this *releases.Measurements) (options releases.Options, remark string) {
	options = releases.Options{ErrorRatePercent: ErrorRatePercent, Analyses: Analyses}
	var baseline []string
	compared := 0
	for _, arm := range this.Arms {
		if arm.Baseline {
			baseline = append(baseline, arm.Name)
		}
		if !arm.Twin {
			compared++
		}
	}
	metrics, scenarios := this.Question.Primary, len(this.Scenarios)
	if len(metrics)*scenarios*compared <= maxSeries {
		return options, ""
	}
	options.Arms = baseline
	remark = fmt.Sprintf("of %d series, only the baseline's are analyzed: all of them would share one error rate", len(metrics)*scenarios*compared)
	if most := max(1, maxSeries/scenarios); len(metrics) > most {
		options.Metrics = metrics[:most]
		remark += fmt.Sprintf("; of %d primary metrics, only the first %d", len(metrics), most)
	}
	return options, remark
}

// newChanges returns the changes for better or worse that were not reported before, worst
// first.
func newChanges(history *releases.History, reported []v1alpha1.SeriesChange) []v1alpha1.SeriesChange {
	var found []v1alpha1.SeriesChange
	for i := range history.Series {
		series := &history.Series[i]
		for j := range series.Changes {
			change := &series.Changes[j]
			matters := change.Verdict == verdict.Worse || change.Verdict == verdict.Better
			if matters && !wasReported(series, change, reported) {
				found = append(found, newSeriesChange(series, change))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b v1alpha1.SeriesChange) int {
		return verdictRank(a.Verdict) - verdictRank(b.Verdict)
	})
	return found[:min(len(found), MaxChanges)]
}

func verdictRank(v v1alpha1.Verdict) int {
	if v == v1alpha1.VerdictWorse {
		return 0
	}
	return 1
}

// wasReported reports whether a change of the series in the same direction was reported near
// this point. An additional point may move a detected change slightly.
func wasReported(series *releases.Series, change *releases.Change, reported []v1alpha1.SeriesChange) bool {
	return slices.ContainsFunc(reported, func(one v1alpha1.SeriesChange) bool {
		if one.Scenario != series.Scenario || one.Metric != series.Metric || one.Arm != series.Arm || string(one.Verdict) != string(change.Verdict) {
			return false
		}
		at := slices.IndexFunc(series.Points, func(point releases.Point) bool { return !point.Time.Before(one.Time.Time) })
		return at >= 0 && at-change.At <= positionTolerance && change.At-at <= positionTolerance
	})
}

func newSeriesChange(series *releases.Series, change *releases.Change) v1alpha1.SeriesChange {
	before, after := &series.Points[change.At-1], &series.Points[change.At]
	made := v1alpha1.SeriesChange{
		Scenario: series.Scenario, Metric: series.Metric, Arm: series.Arm, Verdict: v1alpha1.Verdict(change.Verdict),
		Delta: formatDecimal(change.Delta), Low: formatDecimal(change.Low), High: formatDecimal(change.High), Unit: series.DeltaUnit(),
		Before: before.Release, After: after.Release, Experiments: []string{before.Experiment, after.Experiment},
		// The API keeps whole seconds.
		Time: metav1.Time{Time: after.Time.UTC().Truncate(time.Second)}, Sentence: truncate(series.Sentence(change)),
	}
	for _, difference := range change.Differences {
		made.Differences = append(made.Differences, truncate(difference))
	}
	return made
}

func formatDecimal(value float64) string { return strconv.FormatFloat(value, 'f', 2, 64) }

func truncate(text string) string { return prose.Cut(text, maxTextBytes) }

// keepNewestPoints truncates each series and removes series of a single point.
func keepNewestPoints(history *releases.History) {
	history.Series = slices.DeleteFunc(history.Series, func(series releases.Series) bool { return len(series.Points) < 2 })
	for i := range history.Series {
		series := &history.Series[i]
		first := max(0, len(series.Points)-1-maxEarlierPoints)
		series.Points = series.Points[first:]
		var changes []releases.Change
		for _, change := range series.Changes {
			if change.At -= first; change.At > 0 {
				changes = append(changes, change)
			}
		}
		series.Changes = changes
	}
}

// ScenarioDigests are digests of the measured scenarios. Experiments that declare the same
// scenario share its digest.
func ScenarioDigests(measured *releases.Measurements) []string {
	var digests []string
	for i := range measured.Scenarios {
		digests = append(digests, naming.Hash(measured.Scenarios[i].Declared)[:20])
	}
	slices.Sort(digests)
	return slices.Compact(digests)
}

// HaveCommonScenario reports whether two experiments share a digest.
func HaveCommonScenario(one, other []string) bool {
	return slices.ContainsFunc(one, func(digest string) bool { return slices.Contains(other, digest) })
}

// MayHaveScenario reports whether an experiment may have stored one of the scenarios.
// Operators of earlier versions did not record the digests.
func MayHaveScenario(experiment *v1alpha1.PerfExperiment, series []string) bool {
	status := &experiment.Status
	if len(status.HistorySeries) > 0 {
		return HaveCommonScenario(status.HistorySeries, series)
	}
	return status.HistoryDigest != NoDigest && (status.HistoryDigest != "" || status.Settled != "")
}
