// SPDX-License-Identifier: Apache-2.0

// Package contract reads the objects of other operators: Strimzi,
// CloudNativePG and k6-operator. It knows their kinds, the names they give to
// what they make, and what their statuses mean; nobody else looks into them.
// The objects stay unstructured, so their Go modules stay out of ours.
//
// Every accessor answers for a nil object as for one without a status.
package contract

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// condition is one entry of status.conditions as all three operators write it.
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

func isReady(object *unstructured.Unstructured) bool {
	ready, found := findCondition(object, "Ready")
	return found && ready.status == "True"
}

func conditions(object *unstructured.Unstructured) []any {
	list, _ := field[[]any](object, "status", "conditions")
	return list
}

// lastTransition is the latest time at which a condition changed.
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

// isCurrent reports whether the status tells of the spec as it is now.
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

// field reads a value of an object that may be nil. A value of another type
// than expected counts as absent: the object is not ours to judge.
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

// KafkaGroupKind is the kind of which the cluster is asked whether, and in
// which version, it serves Strimzi's.
var KafkaGroupKind = schema.GroupKind{Group: StrimziGroup, Kind: KindKafka}

// ThirdPartyKinds are the kinds of other operators whose objects tell us when to
// go on.
func ThirdPartyKinds() []schema.GroupKind {
	return []schema.GroupKind{
		KafkaGroupKind,
		PostgresClusterKind.GroupKind(),
		PostgresPoolerKind.GroupKind(),
		TestRunKind.GroupKind(),
	}
}
