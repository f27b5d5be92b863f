// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
)

// part is one of the things that have to be so before a run can go on.
type part struct {
	// condition speaks of it.
	condition string
	// name of the part in a sentence.
	name string
	// components are the labels of the objects it is made of.
	components []string
}

// parts are in the order in which they come up. The conditions of a run, what it
// waits for and what an experiment shows of its current run come from this list.
var parts = []part{
	{condition: v1alpha1.ConditionScriptsAvailable, name: "the scripts"},
	{condition: v1alpha1.ConditionImagesAvailable, name: "the images", components: []string{environment.ComponentImages}},
	{condition: v1alpha1.ConditionKafkaReady, name: "Kafka", components: []string{environment.ComponentKafka, environment.ComponentTopic}},
	{condition: v1alpha1.ConditionPostgresReady, name: "PostgreSQL", components: []string{environment.ComponentPostgres}},
	{condition: v1alpha1.ConditionDataRestored, name: "the data"},
	{condition: v1alpha1.ConditionModulesReady, name: "the modules", components: []string{environment.ComponentModule}},
	{condition: v1alpha1.ConditionTargetReachable, name: "the target"},
	{condition: v1alpha1.ConditionResultsKept, name: "the results"},
}

// partOf finds the part an object is of by its label, or else that of the
// condition.
func partOf(component, condition string) part {
	at := slices.IndexFunc(parts, func(p part) bool { return component != "" && slices.Contains(p.components, component) })
	if at < 0 {
		at = slices.IndexFunc(parts, func(p part) bool { return p.condition == condition })
	}
	if at < 0 {
		return part{condition: v1alpha1.ConditionLoadsComplete, name: "the loads"}
	}
	return parts[at]
}

// tell notes how ready a part is.
func (s *runScope) tell(condition string, readiness environment.Readiness) {
	if s.told == nil {
		s.told = map[string]environment.Readiness{}
	}
	s.told[condition] = readiness
}

// trouble is what people should hear of first; false: every part is ready. What
// nobody but them can help comes before what is on its way, and pulls that are on
// come last: they hold nothing up yet.
func (s *runScope) trouble() (found environment.Readiness, any bool) {
	for _, part := range parts {
		readiness, known := s.told[part.condition]
		if known && !readiness.Ready && (!any || urgency(readiness) > urgency(found)) {
			found, any = readiness, true
		}
	}
	return found, any
}

func urgency(readiness environment.Readiness) int {
	switch readiness.Reason {
	case v1alpha1.ReasonRefused, v1alpha1.ReasonNameTaken:
		return 1
	case v1alpha1.ReasonPulling:
		return -1
	default:
		return 0
	}
}
