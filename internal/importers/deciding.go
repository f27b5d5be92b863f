// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload/label"
)

// observed are the metrics of all runs.
type observed struct {
	// names in order, and units by name.
	names []string
	units map[string]string
	// partly are metrics that some runs of a scenario lack.
	partly map[string]bool
	// paused, higher and lower are declared by the files.
	paused, higher, lower map[string]bool
}

func (e *Experiment) observed() observed {
	found := observed{units: map[string]string{}, partly: map[string]bool{}, paused: map[string]bool{}, higher: map[string]bool{}, lower: map[string]bool{}}
	runs, having := map[string]int{}, map[[2]string]int{}
	for _, run := range e.Runs {
		runs[run.Scenario]++
		for _, one := range run.Measured.Observations {
			found.units[one.Metric] = one.Unit
			having[[2]string{run.Scenario, one.Metric}]++
		}
		for into, names := range map[*map[string]bool][]string{&found.paused: run.Measured.Paused, &found.higher: run.Measured.Higher, &found.lower: run.Measured.Lower} {
			for _, name := range names {
				(*into)[name] = true
			}
		}
	}
	for of, count := range having {
		found.partly[of[1]] = found.partly[of[1]] || count < runs[of[0]]
	}
	found.names = slices.Sorted(maps.Keys(found.units))
	return found
}

// decide chooses the primary metrics, with warnings.
func (e *Experiment) decide() (analysis v1alpha1.Analysis, doubts []string, err error) {
	found := e.observed()
	analysis = v1alpha1.Analysis{Primary: e.Primary, MarginPercent: e.MarginPercent}
	if analysis.HigherIsBetter, analysis.LowerIsBetter, err = e.directions(&found); err != nil {
		return analysis, nil, err
	}
	directed := analysisplan.New(&v1alpha1.PerfExperimentSpec{Analysis: analysis})
	directed.Imported = true
	isUnknown := func(name string) bool { return directed.Direction(name, found.units[name]) == verdict.UnknownDirection }
	for _, name := range e.Primary {
		if _, measured := found.units[name]; measured && isUnknown(name) {
			return analysis, nil, fmt.Errorf("%w: --primary %s: %s: set --higher-is-better or --lower-is-better", ErrRecord, name, verdict.NoDirectionReason)
		}
	}
	if len(e.Primary) == 0 {
		analysis.Primary, doubts = found.primary(isUnknown)
	}
	return analysis, append(doubts, found.undirected(isUnknown)...), nil
}

// directions returns the custom metrics for which higher or lower is better, as declared by
// the user or else a file.
func (e *Experiment) directions(found *observed) (higher, lower []string, err error) {
	for _, name := range found.names {
		plain := metric.Plain(name)
		isHigher, isLower := e.Higher != nil && e.Higher.MatchString(plain), e.Lower != nil && e.Lower.MatchString(plain)
		if !isHigher && !isLower {
			isHigher, isLower = found.higher[name], found.lower[name]
		}
		series := seriesName(name)
		switch {
		case series == "" || !isHigher && !isLower:
		case isHigher && isLower:
			return nil, nil, fmt.Errorf("%w: %s is both higher-is-better and lower-is-better", ErrRecord, name)
		case isHigher:
			higher = append(higher, series)
		default:
			lower = append(lower, series)
		}
	}
	return slices.Compact(higher), slices.Compact(lower), nil
}

// seriesName returns a custom metric's name without its statistic; empty for other metrics.
func seriesName(name string) string {
	parsed := metric.Parse(name)
	if parsed.Component != metric.Custom {
		return ""
	}
	if parsed.Statistic == "" {
		return name
	}
	return strings.TrimSuffix(name, label.Separator+parsed.Statistic)
}

// primary returns metrics that every run has: the averages of transactions (those with pauses only
// if there are no others), or custom metrics of known direction.
func (o *observed) primary(isUnknown func(name string) bool) (chosen, doubts []string) {
	for _, choice := range []func(name string, parsed metric.Metric) bool{
		func(name string, parsed metric.Metric) bool { return isAverage(parsed) && !o.paused[name] },
		func(_ string, parsed metric.Metric) bool { return isAverage(parsed) },
		func(name string, parsed metric.Metric) bool {
			return parsed.Component == metric.Custom && parsed.Statistic != metric.Max && !isUnknown(name)
		},
	} {
		var partly []string
		for _, name := range o.names {
			switch {
			case !choice(name, metric.Parse(name)) || !canDecide(name):
			case o.partly[name]:
				partly = append(partly, name)
			default:
				chosen = append(chosen, name)
			}
		}
		if len(partly) > 0 {
			doubts = append(doubts, fmt.Sprintf("some runs lack %s, so %s", prose.Enumerate(partly), prose.Verb(len(partly), "it is not a primary metric", "they are not primary metrics")))
		}
		if len(chosen)+len(partly) > 0 {
			break
		}
	}
	if len(chosen) > mostPrimary {
		return nil, append(doubts, fmt.Sprintf("there are no primary metrics: %d metrics qualify, but more than %d would reduce the statistical power: select some with --primary, for example --primary %q", len(chosen), mostPrimary, chosen[0]))
	}
	return chosen, doubts
}

func isAverage(parsed metric.Metric) bool {
	return !parsed.IsServer() && parsed.Transaction != "" && parsed.Statistic == metric.Average
}

// canDecide reports whether a declaration may list the name.
func canDecide(name string) bool {
	load, _ := metric.CutOwner(name)
	return metric.Parse(name).Window == "" && !strings.Contains(load, " ") && len(name) <= longestMetric
}

// longestMetric is the limit of a declared metric's name, in bytes.
const longestMetric = 253

// undirected returns the metrics of unknown direction.
func (o *observed) undirected(isUnknown func(name string) bool) []string {
	var unknown []string
	for _, name := range o.names {
		if isUnknown(name) {
			unknown = append(unknown, seriesName(name))
		}
	}
	if unknown = slices.Compact(unknown); len(unknown) == 0 {
		return nil
	}
	for i, name := range unknown {
		unknown[i] = shorten(name)
	}
	decide := prose.Verb(len(unknown), "it is not a primary metric", "they are not primary metrics")
	// Truncated names may be equal.
	unknown = slices.Compact(unknown)
	return []string{fmt.Sprintf("%s for %s, so %s: set --higher-is-better or --lower-is-better",
		verdict.NoDirectionReason, prose.Enumerate(unknown), decide)}
}
