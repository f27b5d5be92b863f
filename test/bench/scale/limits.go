// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"

	"sigs.k8s.io/yaml"
)

// limits are limits by the key of their row.
type limits map[string]limit

// limit has the bounds of a row. The table marks a row above the goal. The benchmark fails for
// a row above the limit, which is close to the current value to prevent regressions. Growth is
// the ratio of the larger cluster's value to the smaller one's.
type limit struct {
	Key string `json:"key"`
	// At is the size that the goal is for. From is the smallest size to which the goal and the
	// limit apply. If it is empty, they apply to all sizes. Growth always applies.
	At          string   `json:"at,omitempty"`
	From        string   `json:"from,omitempty"`
	Goal        *float64 `json:"goal,omitempty"`
	Limit       *float64 `json:"limit,omitempty"`
	GrowthGoal  *float64 `json:"growthGoal,omitempty"`
	GrowthLimit *float64 `json:"growthLimit,omitempty"`
	// Large is the goal for the large size. If it is nil, the goal of the other sizes applies.
	Large *largeGoal `json:"large,omitempty"`
}

// largeGoal is a goal for the large size, and a description of that size.
type largeGoal struct {
	At   string  `json:"at"`
	Goal float64 `json:"goal"`
}

func parseLimits(text []byte) (limits, error) {
	var all []limit
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		return nil, fmt.Errorf("reading the limits: %w", err)
	}
	found := limits{}
	for _, one := range all {
		if _, twice := found[one.Key]; one.Key == "" || twice {
			return nil, fmt.Errorf("reading the limits: key %q is missing or duplicate", one.Key)
		}
		if one.From != "" && !slices.Contains(inOrder, one.From) {
			return nil, fmt.Errorf("reading the limits: key %s: unknown size %q", one.Key, one.From)
		}
		found[one.Key] = one
	}
	return found, nil
}

// inOrder are the sizes, the smallest first.
var inOrder = []string{"small", "medium", "large"}

// withGoal returns the limit with the goal of a size.
func (l limit) withGoal(size string) limit {
	if size == "large" && l.Large != nil {
		l.At, l.Goal = l.Large.At, &l.Large.Goal
	}
	return l
}

// in returns the parts of the limit that apply to a size.
func (l limit) in(size string) limit {
	l = l.withGoal(size)
	if slices.Index(inOrder, size) < slices.Index(inOrder, l.From) {
		l.Goal, l.Limit = nil, nil
	}
	return l
}

// finding is the result of a row against its limits.
type finding int

const (
	// unbounded means that no limit is set.
	unbounded finding = iota
	within
	overGoal
	broken
)

func (f finding) String() string {
	return [...]string{"", "within", "over the goal", "**over the limit**"}[f]
}

// judge compares a value and its growth with the limit.
func (l limit) judge(value, growth float64) finding {
	worst := unbounded
	for _, one := range []struct {
		is    float64
		bound *float64
		over  finding
	}{{value, l.Goal, overGoal}, {growth, l.GrowthGoal, overGoal}, {value, l.Limit, broken}, {growth, l.GrowthLimit, broken}} {
		if one.bound == nil {
			continue
		}
		worst = max(worst, within)
		// NaN was not measured, so it can't pass.
		if math.IsNaN(one.is) || one.is > *one.bound {
			worst = max(worst, one.over)
		}
	}
	return worst
}
