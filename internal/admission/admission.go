// SPDX-License-Identifier: Apache-2.0

// Package admission validates declarations before the API server stores them, and checks
// whether their authors may use what they refer to. Package validate has the rules, package
// references the references; this package runs both for the API server, and maintains the
// serving certificate.
package admission

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/planning/references"
	"perflab.dev/perflab/internal/planning/validate"
	"perflab.dev/perflab/internal/runs/provenance"
)

// Paths in config/webhook.
const (
	experimentsPath = "/validate-perflab-dev-v1alpha1-perfexperiment"
	systemsPath     = "/validate-perflab-dev-v1alpha1-perfsystem"
	schedulesPath   = "/validate-perflab-dev-v1alpha1-perfschedule"
)

// Register registers the webhooks for the kinds that users write. The reader reads the
// PerfSystems that experiments refer to, and the PerfSchedules that make experiments. It
// should not be cached, because users apply a system and an experiment together.
func Register(server webhook.Server, scheme *runtime.Scheme, reader client.Reader, rights Rights) {
	server.Register(experimentsPath, bound(admission.WithValidator(scheme, &experiments{reader: reader, rights: rights})))
	server.Register(systemsPath, bound(admission.WithValidator(scheme, systems{rights: rights})))
	server.Register(schedulesPath, bound(admission.WithValidator(scheme, &schedules{reader: reader, rights: rights})))
}

// experiments validates PerfExperiments.
type experiments struct {
	// reader reads the PerfSystem that an experiment refers to, and the PerfSchedule that
	// creates it.
	reader client.Reader
	// rights checks the author's permissions.
	rights Rights
}

var _ admission.Validator[*v1alpha1.PerfExperiment] = &experiments{}

// ValidateCreate validates a new experiment. An imported one was validated where it ran.
func (e *experiments) ValidateCreate(ctx context.Context, experiment *v1alpha1.PerfExperiment) (admission.Warnings, error) {
	if provenance.IsImported(experiment) {
		return e.judgeRecord(ctx, experiment)
	}
	return e.judge(ctx, nil, experiment)
}

// judgeRecord checks the permissions for the notes of an imported experiment, which pages
// show. Its other references are not read.
func (e *experiments) judgeRecord(ctx context.Context, experiment *v1alpha1.PerfExperiment) (admission.Warnings, error) {
	lenient, forbidden, err := e.rights.judge(ctx, experiment.Namespace, "experiment", references.Notes(nil, experiment.Spec.Notes))
	if err != nil {
		return nil, err
	}
	return lenient, invalid("PerfExperiment", experiment.Name, forbidden)
}

// ValidateUpdate validates a changed experiment. One with an unchanged spec may be labelled
// and deleted, even if it is no longer valid.
func (e *experiments) ValidateUpdate(ctx context.Context, before, after *v1alpha1.PerfExperiment) (admission.Warnings, error) {
	if after.DeletionTimestamp != nil {
		return nil, nil
	}
	if faults := validate.Imported(before, after); len(faults) > 0 {
		return nil, invalid("PerfExperiment", after.Name, faults)
	}
	if equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		return nil, nil
	}
	if faults := validate.Update(before, after); len(faults) > 0 {
		return nil, invalid("PerfExperiment", after.Name, faults)
	}
	return e.judge(ctx, before, after)
}

// ValidateDelete allows every deletion.
func (e *experiments) ValidateDelete(context.Context, *v1alpha1.PerfExperiment) (admission.Warnings, error) {
	return nil, nil
}

// judge validates an experiment; before is nil for a new one.
func (e *experiments) judge(ctx context.Context, before, experiment *v1alpha1.PerfExperiment) (admission.Warnings, error) {
	system, warnings, err := e.system(ctx, experiment)
	if err != nil {
		return nil, err
	}
	needs := e.reached(before, experiment, system)
	scheduled, err := e.isScheduled(ctx, before, experiment)
	if err != nil {
		return nil, err
	}
	if scheduled {
		// Its author was checked when the schedule was written.
		needs = nil
	}
	lenient, forbidden, err := e.rights.judge(ctx, experiment.Namespace, "experiment", needs)
	if err != nil {
		return nil, err
	}
	known, err := gatherKnown(ctx, e.reader, experiment.Namespace, &experiment.Spec, system, forbidden)
	if err != nil {
		return nil, err
	}
	known.NoAccounts = e.rights.Account == ""
	faults, doubts := validate.Experiment(experiment, known)
	if experiment.Status.StartTime != nil {
		faults = added(before, faults, known)
	}
	faults = append(faults, unknownFields(ctx, &v1alpha1.PerfExperiment{})...)
	return slices.Concat(warnings, doubts.Sentences(), lenient), invalid("PerfExperiment", experiment.Name, append(faults, forbidden...))
}

// added returns the faults that a started experiment did not have before the update. Its
// spec is immutable, so earlier faults must not prevent suspending or cancelling it.
func added(before *v1alpha1.PerfExperiment, faults field.ErrorList, known validate.Known) field.ErrorList {
	if before == nil || len(faults) == 0 {
		return faults
	}
	had := map[string]bool{}
	earlier, _ := validate.Experiment(before, known)
	for _, fault := range earlier {
		had[fault.Error()] = true
	}
	return slices.DeleteFunc(faults, func(fault *field.Error) bool { return had[fault.Error()] })
}

// reached returns the references of an experiment that need permissions. In a started
// experiment only notes can change, so stopping it or adding blocks needs none, and writing
// a note only those of that note.
func (e *experiments) reached(before, after *v1alpha1.PerfExperiment, system *v1alpha1.System) []references.Need {
	switch {
	case after.Status.StartTime == nil:
		return references.Experiment(e.rights.restricted(after.Spec), system)
	case before == nil:
		return references.Notes(nil, after.Spec.Notes)
	default:
		return references.Notes(before.Spec.Notes, after.Spec.Notes)
	}
}

// system returns the system that the experiment refers to; nil if it has its own, if the
// PerfSystem does not exist, or if the experiment has started, because it then uses a copy.
func (e *experiments) system(ctx context.Context, experiment *v1alpha1.PerfExperiment) (*v1alpha1.System, admission.Warnings, error) {
	if experiment.Status.StartTime != nil {
		return nil, nil, nil
	}
	return referred(ctx, e.reader, experiment.Namespace, experiment.Spec.SystemRef)
}

// referred returns the referenced system; nil if there is no reference, or the system does
// not exist.
func referred(ctx context.Context, reader client.Reader, namespace string, ref *v1alpha1.SystemRef) (*v1alpha1.System, admission.Warnings, error) {
	if ref == nil {
		return nil, nil, nil
	}
	found := &v1alpha1.PerfSystem{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, found)
	if apierrors.IsNotFound(err) {
		return nil, admission.Warnings{fmt.Sprintf(
			"there is no PerfSystem %q in namespace %q yet: the experiment waits for it, and is validated then", ref.Name, namespace)}, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading PerfSystem %q: %w", ref.Name, err)
	}
	return &found.Spec, nil, nil
}

// gatherKnown reads the objects that an experiment refers to. It leaves out scripts if the
// author lacks a permission for any reference.
func gatherKnown(ctx context.Context, reader client.Reader, namespace string, spec *v1alpha1.PerfExperimentSpec, system *v1alpha1.System, forbidden field.ErrorList) (validate.Known, error) {
	known := validate.Known{System: system}
	if len(forbidden) > 0 {
		return known, nil
	}
	var err error
	known.ConfigMaps, err = kube.ConfigMaps(ctx, reader, namespace, kinds.ConfigMaps(spec.Scenarios))
	return known, err
}

// systems validates PerfSystems.
type systems struct {
	// rights checks the author's permissions.
	rights Rights
}

var _ admission.Validator[*v1alpha1.PerfSystem] = systems{}

// ValidateCreate validates a new system.
func (s systems) ValidateCreate(ctx context.Context, system *v1alpha1.PerfSystem) (admission.Warnings, error) {
	return s.judge(ctx, system)
}

// ValidateUpdate validates a changed system.
func (s systems) ValidateUpdate(ctx context.Context, before, after *v1alpha1.PerfSystem) (admission.Warnings, error) {
	if after.DeletionTimestamp != nil || equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		return nil, nil
	}
	return s.judge(ctx, after)
}

// ValidateDelete allows every deletion: experiments use copies.
func (systems) ValidateDelete(context.Context, *v1alpha1.PerfSystem) (admission.Warnings, error) {
	return nil, nil
}

func (s systems) judge(ctx context.Context, system *v1alpha1.PerfSystem) (admission.Warnings, error) {
	faults, doubts := validate.System(&system.Spec, field.NewPath("spec"))
	faults = append(faults, unknownFields(ctx, &v1alpha1.PerfSystem{})...)
	lenient, forbidden, err := s.rights.judge(ctx, system.Namespace, "system", references.System(&system.Spec))
	if err != nil {
		return nil, err
	}
	return append(doubts.Sentences(), lenient...), invalid("PerfSystem", system.Name, append(faults, forbidden...))
}

func invalid(kind, name string, faults field.ErrorList) error {
	if len(faults) == 0 {
		return nil
	}
	return apierrors.NewInvalid(v1alpha1.GroupVersion.WithKind(kind).GroupKind(), name, faults)
}
