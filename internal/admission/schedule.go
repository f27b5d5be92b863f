// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/recurrence"
	"perflab.dev/perflab/internal/planning/references"
	"perflab.dev/perflab/internal/planning/validate"
)

// schedules validates PerfSchedules: their templates as the experiments that they create,
// which are not checked again.
type schedules struct {
	// reader reads the PerfSystem that a template refers to.
	reader client.Reader
	// rights checks the author's permissions.
	rights Rights
}

var _ admission.Validator[*v1alpha1.PerfSchedule] = &schedules{}

// ValidateCreate validates a new schedule.
func (s *schedules) ValidateCreate(ctx context.Context, schedule *v1alpha1.PerfSchedule) (admission.Warnings, error) {
	return s.judge(ctx, schedule)
}

// ValidateUpdate validates a changed schedule. Its editor needs the permissions for the
// whole.
func (s *schedules) ValidateUpdate(ctx context.Context, before, after *v1alpha1.PerfSchedule) (admission.Warnings, error) {
	if after.DeletionTimestamp != nil || equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		return nil, nil
	}
	return s.judge(ctx, after)
}

// ValidateDelete allows every deletion.
func (*schedules) ValidateDelete(context.Context, *v1alpha1.PerfSchedule) (admission.Warnings, error) {
	return nil, nil
}

func (s *schedules) judge(ctx context.Context, schedule *v1alpha1.PerfSchedule) (admission.Warnings, error) {
	system, warnings, err := referred(ctx, s.reader, schedule.Namespace, schedule.Spec.Template.Spec.SystemRef)
	if err != nil {
		return nil, err
	}
	reaching := schedule.Spec
	reaching.Template.Spec = *s.rights.restricted(reaching.Template.Spec)
	lenient, forbidden, err := s.rights.judge(ctx, schedule.Namespace, "schedule", references.Schedule(&reaching, system))
	if err != nil {
		return nil, err
	}
	known, err := gatherKnown(ctx, s.reader, schedule.Namespace, &schedule.Spec.Template.Spec, system, forbidden)
	if err != nil {
		return nil, err
	}
	known.NoAccounts = s.rights.Account == ""
	faults, doubts := validate.Schedule(schedule, known)
	faults = append(faults, unknownFields(ctx, &v1alpha1.PerfSchedule{})...)
	return slices.Concat(warnings, doubts.Sentences(), lenient), invalid("PerfSchedule", schedule.Name, append(faults, forbidden...))
}

// isScheduled reports whether the operator itself creates the experiment from the current
// template of a schedule. The schedule's author was checked when it was written; the
// operator lacks these permissions. Every other creator, and everyone who changes the
// experiment, is checked.
func (e *experiments) isScheduled(ctx context.Context, before, experiment *v1alpha1.PerfExperiment) (bool, error) {
	owner := metav1.GetControllerOf(experiment)
	if before != nil || owner == nil || owner.Kind != "PerfSchedule" || owner.APIVersion != v1alpha1.GroupVersion.String() || e.rights.Author == IgnoreRights {
		return false, nil
	}
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return false, fmt.Errorf("finding the author of the request: %w", err)
	}
	self, err := e.rights.self(ctx)
	if err != nil || request.UserInfo.Username != self {
		return false, err
	}
	schedule := &v1alpha1.PerfSchedule{}
	err = e.reader.Get(ctx, client.ObjectKey{Namespace: experiment.Namespace, Name: owner.Name}, schedule)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading PerfSchedule %q: %w", owner.Name, err)
	}
	return recurrence.Follows(experiment, schedule), nil
}

// self returns the operator's user name.
func (r Rights) self(ctx context.Context) (string, error) {
	review := &authenticationv1.SelfSubjectReview{}
	if err := r.Reviewer.Create(ctx, review); err != nil {
		return "", apierrors.NewServiceUnavailable(fmt.Sprintf("could not find the operator's user name: %v: this is not an error in the experiment; try again", err))
	}
	return review.Status.UserInfo.Username, nil
}
