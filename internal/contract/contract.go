// SPDX-License-Identifier: Apache-2.0

// Package contract reads the objects of third-party operators: Strimzi, CloudNativePG and
// k6-operator. It has their kinds, the names of the objects that they create, and the
// meaning of their statuses; no other package reads them. The objects stay unstructured, so
// this module does not depend on the operators' modules.
//
// Every accessor treats a nil object like one without a status.
package contract

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// condition is an entry of status.conditions in the form that all three operators share.
type condition struct {
	status, reason, message string
}

// findCondition returns the condition of a type, if the status has one.
func findCondition(object *unstructured.Unstructured, conditionType string) (condition, bool) {
	for _, entry := range conditions(object) {
		fields, isMap := entry.(map[string]any)
		if !isMap || fields["type"] != conditionType {
			continue
		}
		text := func(key string) string {
			value, _ := fields[key].(string)
			return value
		}
		return condition{status: text("status"), reason: text("reason"), message: text("message")}, true
	}
	return condition{}, false
}

func isReady(object *unstructured.Unstructured) bool { return HasCondition(object, "Ready") }

// HasCondition reports whether a condition of an object of any operator is True.
func HasCondition(object *unstructured.Unstructured, conditionType string) bool {
	found, exists := findCondition(object, conditionType)
	return exists && found.status == "True"
}

func conditions(object *unstructured.Unstructured) []any {
	list, _ := field[[]any](object, "status", "conditions")
	return list
}

// lastTransition returns the latest time at which a condition changed.
func lastTransition(object *unstructured.Unstructured) time.Time {
	var last time.Time
	for _, entry := range conditions(object) {
		fields, _ := entry.(map[string]any)
		written, _ := fields["lastTransitionTime"].(string)
		if at, err := time.Parse(time.RFC3339, written); err == nil && at.After(last) {
			last = at
		}
	}
	return last
}

// isCurrent reports whether the status refers to the current spec.
func isCurrent(object *unstructured.Unstructured) bool {
	if object == nil {
		return false
	}
	observed, found := field[int64](object, "status", "observedGeneration")
	return found && observed >= object.GetGeneration()
}

func text(object *unstructured.Unstructured, path ...string) string {
	value, _ := field[string](object, path...)
	return value
}

func number(object *unstructured.Unstructured, path ...string) int64 {
	value, _ := field[int64](object, path...)
	return value
}

// field reads a value of an object that may be nil. A value of another type counts as
// absent.
func field[T any](object *unstructured.Unstructured, path ...string) (T, bool) {
	var none T
	if object == nil {
		return none, false
	}
	value, found, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	if err != nil || !found {
		return none, false
	}
	typed, ok := value.(T)
	return typed, ok
}

// KafkaGroupKind is the kind with which the served version of Strimzi's API is discovered.
var KafkaGroupKind = schema.GroupKind{Group: StrimziGroup, Kind: KindKafka}

// ThirdPartyKinds returns the kinds of third-party objects to watch.
func ThirdPartyKinds() []schema.GroupKind {
	return []schema.GroupKind{
		KafkaGroupKind,
		PostgresClusterKind.GroupKind(),
		PostgresPoolerKind.GroupKind(),
		TestRunKind.GroupKind(),
	}
}
