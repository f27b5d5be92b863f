// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"

	"sigs.k8s.io/yaml"
)

// limits are by the key of the row they are about.
type limits map[string]limit

// limit is what a row may not exceed. The goal is what the operator is to reach:
// a row over it is named. The limit is what fails: it stands where the operator
// has got to, so that it does not fall back. Growth is the ratio of the larger
// cluster's figure to the smaller one's.
type limit struct {
	Key string `json:"key"`
	// At says what the goal is for, and From from which size on it, and the limit,
	// can be judged; empty: from the smallest. Growth always can.
	At          string   `json:"at,omitempty"`
	From        string   `json:"from,omitempty"`
	Goal        *float64 `json:"goal,omitempty"`
	Limit       *float64 `json:"limit,omitempty"`
	GrowthGoal  *float64 `json:"growthGoal,omitempty"`
	GrowthLimit *float64 `json:"growthLimit,omitempty"`
	// Large is another goal, for the large size; nil: that of the others.
	Large *largeGoal `json:"large,omitempty"`
}

// largeGoal is a goal for the large size, and what that is for.
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
			return nil, fmt.Errorf("reading the limits: key %q is missing, or there twice", one.Key)
		}
		if one.From != "" && !slices.Contains(inOrder, one.From) {
			return nil, fmt.Errorf("reading the limits: key %s is from size %q on, which there is none", one.Key, one.From)
		}
		found[one.Key] = one
	}
	return found, nil
}

// inOrder are the sizes, the smallest first.
var inOrder = []string{"small", "medium", "large"}

// of is the limit with the goal of a size.
func (l limit) of(size string) limit {
	if size == "large" && l.Large != nil {
		l.At, l.Goal = l.Large.At, &l.Large.Goal
	}
	return l
}

// in is the limit as far as a size can tell of it.
func (l limit) in(size string) limit {
	l = l.of(size)
	if slices.Index(inOrder, size) < slices.Index(inOrder, l.From) {
		l.Goal, l.Limit = nil, nil
	}
	return l
}

// finding is how a row does against its limits.
type finding int

const (
	// unbounded: nothing is set.
	unbounded finding = iota
	within
	overGoal
	broken
)

func (f finding) String() string {
	return [...]string{"", "within", "over the goal", "**over the limit**"}[f]
}

// judge says how a figure and its growth do.
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
		// What is not a number was not measured, and is no proof.
		if math.IsNaN(one.is) || one.is > *one.bound {
			worst = max(worst, one.over)
		}
	}
	return worst
}
