// SPDX-License-Identifier: Apache-2.0

// Package regression sets an experiment that is complete beside those before it, each time the
// same number of looks ahead of a false alarm, and says what is kept of that. It is pure.
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

// ErrorRatePercent is the chance that any of so many Looks in succession tells of a change
// in any series, if nothing ever changed: each look spends an equal part of it (Lan and
// DeMets 1983, the linear rule), whatever the looks before it found.
const (
	ErrorRatePercent = 5
	Looks            = 20
)

const (
	// MostPoints of a series are looked at, the newest: with them a look takes seconds.
	MostPoints = 60
	// mostSeries share a look's chance of error; of more, the baseline's are looked at.
	mostSeries = 12
	// MostChanges are told of one experiment.
	MostChanges = 20
	// shownBefore is how many earlier points are kept to be shown beside this one.
	shownBefore = 10
	// mostText bounds what is told of a difference.
	mostText = 300
	// wobble is how many points the place of a change may move from look to look.
	wobble = 2
)

// Earlier is an experiment that was complete before.
type Earlier struct {
	Measured releases.Measured
	// Told are the changes that were told of when it was complete.
	Told []v1alpha1.SeriesChange
}

// Look sets what was measured beside what was measured before it began. History has the
// last points of each series, nil where there is no series with an earlier point; changes
// are those for better or worse that no earlier experiment was told of.
func Look(this releases.Measured, earlier []Earlier) (history *releases.History, changes []v1alpha1.SeriesChange, err error) {
	before := slices.DeleteFunc(slices.Clone(earlier), func(one Earlier) bool {
		return one.Measured.UID == this.UID || !one.Measured.Began.Before(this.Began)
	})
	slices.SortFunc(before, func(a, b Earlier) int { return a.Measured.Began.Compare(b.Measured.Began) })
	before = before[max(0, len(before)-(MostPoints-1)):]
	if len(before) == 0 {
		return nil, nil, nil
	}
	var all []releases.Measured
	var told []v1alpha1.SeriesChange
	for _, one := range before {
		all, told = append(all, one.Measured), append(told, one.Told...)
	}
	options, remark := optionsFor(&this)
	history, err = releases.Of(append(all, this), options)
	if errors.Is(err, releases.ErrNothing) || errors.Is(err, releases.ErrTooFine) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if remark != "" {
		history.Notes = append(history.Notes, remark)
	}
	// How short it is, is told of all of it.
	history.Notes = history.Remarks()
	changes = news(history, told)
	shorten(history)
	if len(history.Series) == 0 {
		return nil, nil, nil
	}
	return history, changes, nil
}

// optionsFor the experiment: all of its series, unless they are so many that a look at
// each could hardly show anything.
func optionsFor(this *releases.Measured) (options releases.Options, remark string) {
	options = releases.Options{ErrorRatePercent: ErrorRatePercent, Looks: Looks}
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
	if len(metrics)*scenarios*compared <= mostSeries {
		return options, ""
	}
	options.Arms = baseline
	remark = fmt.Sprintf("of %d series those of the baseline are looked at: all of them would share one chance of error", len(metrics)*scenarios*compared)
	if most := max(1, mostSeries/scenarios); len(metrics) > most {
		options.Metrics = metrics[:most]
		remark += fmt.Sprintf("; of %d primary metrics the first %d", len(metrics), most)
	}
	return options, remark
}

// news are the changes for better or worse of which nobody was told, the worst first.
func news(history *releases.History, told []v1alpha1.SeriesChange) []v1alpha1.SeriesChange {
	var found []v1alpha1.SeriesChange
	for i := range history.Series {
		series := &history.Series[i]
		for j := range series.Changes {
			change := &series.Changes[j]
			matters := change.Verdict == verdict.Worse || change.Verdict == verdict.Better
			if matters && !isKnown(series, change, told) {
				found = append(found, asStatus(series, change))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b v1alpha1.SeriesChange) int {
		return rank(a.Verdict) - rank(b.Verdict)
	})
	return found[:min(len(found), MostChanges)]
}

func rank(told v1alpha1.Verdict) int {
	if told == v1alpha1.VerdictWorse {
		return 0
	}
	return 1
}

// isKnown: the series was told to have changed in the same direction at about this place.
// With another point, it may be found a little earlier or later.
func isKnown(series *releases.Series, change *releases.Change, told []v1alpha1.SeriesChange) bool {
	return slices.ContainsFunc(told, func(one v1alpha1.SeriesChange) bool {
		if one.Scenario != series.Scenario || one.Metric != series.Metric || one.Arm != series.Arm || string(one.Verdict) != string(change.Verdict) {
			return false
		}
		at := slices.IndexFunc(series.Points, func(point releases.Point) bool { return !point.Time.Before(one.Time.Time) })
		return at >= 0 && at-change.At <= wobble && change.At-at <= wobble
	})
}

func asStatus(series *releases.Series, change *releases.Change) v1alpha1.SeriesChange {
	before, after := &series.Points[change.At-1], &series.Points[change.At]
	told := v1alpha1.SeriesChange{
		Scenario: series.Scenario, Metric: series.Metric, Arm: series.Arm, Verdict: v1alpha1.Verdict(change.Verdict),
		Delta: decimal(change.Delta), Low: decimal(change.Low), High: decimal(change.High), Unit: series.DeltaUnit(),
		Before: before.Release, After: after.Release, Experiments: []string{before.Experiment, after.Experiment},
		// The API keeps whole seconds.
		Time: metav1.Time{Time: after.Time.UTC().Truncate(time.Second)}, Sentence: cut(series.Sentence(change)),
	}
	for _, difference := range change.Differences {
		told.Differences = append(told.Differences, cut(difference))
	}
	return told
}

func decimal(value float64) string { return strconv.FormatFloat(value, 'f', 2, 64) }

func cut(text string) string { return prose.Cut(text, mostText) }

// shorten leaves the last points of each series, and their changes; a series of one
// point is no history.
func shorten(history *releases.History) {
	history.Series = slices.DeleteFunc(history.Series, func(series releases.Series) bool { return len(series.Points) < 2 })
	for i := range history.Series {
		series := &history.Series[i]
		first := max(0, len(series.Points)-1-shownBefore)
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

// Series are digests of the scenarios that were measured: experiments that declare one
// alike have one in common.
func Series(measured *releases.Measured) []string {
	var digests []string
	for i := range measured.Scenarios {
		digests = append(digests, naming.Hash(measured.Scenarios[i].Declared)[:20])
	}
	slices.Sort(digests)
	return slices.Compact(digests)
}

// Share reports whether two experiments have a series in common.
func Share(one, other []string) bool {
	return slices.ContainsFunc(one, func(digest string) bool { return slices.Contains(other, digest) })
}

// MayKeep reports whether an experiment may have kept one of the series. Which those are,
// operators of earlier versions did not say.
func MayKeep(experiment *v1alpha1.PerfExperiment, series []string) bool {
	status := &experiment.Status
	if len(status.HistorySeries) > 0 {
		return Share(status.HistorySeries, series)
	}
	return status.HistoryDigest != NothingKept && (status.HistoryDigest != "" || status.Settled != "")
}
