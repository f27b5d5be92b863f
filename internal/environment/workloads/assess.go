// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/text/prose"
)

// Assess reports whether every adopted workload has rolled out the run's configuration,
// with no pod of an earlier configuration left.
func Assess(loans []Adoption, now time.Time) environment.Readiness {
	for _, loan := range loans {
		if loan.Refusal != nil {
			return *loan.Refusal
		}
	}
	rollouts := make([]environment.Rollout, 0, len(loans))
	var events []corev1.Event
	for _, loan := range loans {
		rollouts = append(rollouts, loan.rollout())
		events = append(events, loan.Events...)
	}
	return environment.AssessRollouts("adopted workload", rollouts, events, now)
}

// Selector finds the pods of a workload.
func Selector(object *unstructured.Unstructured) (labels.Selector, error) {
	loan := Adoption{original: object.Object}
	selector, err := metav1.LabelSelectorAsSelector(loan.selector())
	if err != nil {
		return nil, fmt.Errorf("reading the selector of %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	return selector, nil
}

// Contested returns the fields that another client changed after the run changed them.
func (l *Adoption) Contested() []string {
	if !l.IsApplied() {
		return nil
	}
	return missing(l.Intent.Object, l.Object.Object)
}

// RefuseContested sets the refusal for a workload that another client changes back. The
// object must hold its managedFields, which name that client.
func (l *Adoption) RefuseContested(fields []string, object *unstructured.Unstructured, manager string) {
	l.refuse(v1alpha1.ReasonWorkloadContested, fmt.Sprintf(
		"%s has changed %s of %s, which this run sets: prevent it from changing these fields during the experiment (docs/existing-workloads.md), or remove them from module %s",
		l.conflictingManager(object, manager), prose.Enumerate(fields), l.title(), l.Module.Name))
}

// conflictingManager returns the field manager of a field that differs from the intent.
func (l *Adoption) conflictingManager(object *unstructured.Unstructured, manager string) string {
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == manager || !l.opposes(entry, object) {
			continue
		}
		if entry.Subresource != "" {
			return fmt.Sprintf("%s (%s)", entry.Manager, entry.Subresource)
		}
		return entry.Manager
	}
	return "another client"
}

// opposes reports whether an entry's manager has set a field to another value than the
// intent.
func (l *Adoption) opposes(entry metav1.ManagedFieldsEntry, object *unstructured.Unstructured) bool {
	for path := range fieldSet(entry).Leaves().All() {
		intended, found := lookup(l.Intent.Object, path)
		if is, _ := lookup(object.Object, path); found && !reflect.DeepEqual(intended, is) {
			return true
		}
	}
	return false
}

// CurrentPods returns the pods of the run's template.
func (l *Adoption) CurrentPods() []corev1.Pod {
	current, _ := environment.SplitPods(l.Pods, l.template)
	return current
}

// rollout returns the state of the workload's rollout.
func (l *Adoption) rollout() environment.Rollout {
	rollout := environment.Rollout{Module: l.Module.Name, Title: l.title(), Applied: l.IsApplied()}
	rollout.ReadStatus(l.Object)
	rollout.Current, rollout.Earlier = environment.SplitPods(l.Pods, l.template)
	return rollout
}
