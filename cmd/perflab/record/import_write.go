// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/source"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
)

const (
	// collectionTimeout is how long the garbage collector may take for the
	// objects of a deleted experiment of the same name.
	collectionTimeout = 30 * time.Second
	// undoTimeout limits the rollback of an incomplete import.
	undoTimeout = 30 * time.Second
)

var (
	errNameTaken = errors.New("the name is in use")
	// ErrLeftover means that an object of a deleted experiment has the name.
	ErrLeftover = errors.New("it already exists, from a deleted experiment: retry once it is garbage collected, or delete it")
)

func nameTakenError(experiment *v1alpha1.PerfExperiment) error {
	return fmt.Errorf("%w: PerfExperiment %q already exists in namespace %q: delete it (kubectl delete perfexperiment %s -n %s), or choose another namespace with -n",
		errNameTaken, experiment.Name, experiment.Namespace, experiment.Name, experiment.Namespace)
}

// Importer writes records to a cluster.
type Importer struct {
	To client.Client
	// Timeout is how long to wait for a name to become free.
	Timeout time.Duration
}

// Write writes the record, or rolls back. The status of the experiment is
// written last and marks it as complete.
func (i *Importer) Write(ctx context.Context, record *imported) error {
	experiment := record.experiment.DeepCopy()
	err := i.To.Create(ctx, experiment, source.FieldOwner)
	if apierrors.IsAlreadyExists(err) {
		return nameTakenError(record.experiment)
	}
	if err == nil {
		err = i.writeAll(ctx, record, experiment)
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("importing experiment %q: %w", record.experiment.Name, err)
	if failed := i.undo(ctx, record.experiment); failed != nil {
		return fmt.Errorf("%w; the rollback in namespace %q failed (%w): kubectl delete perfexperiment %s -n %s",
			err, experiment.Namespace, failed, experiment.Name, experiment.Namespace)
	}
	return fmt.Errorf("%w; the import was rolled back", err)
}

func (i *Importer) writeAll(ctx context.Context, record *imported, experiment *v1alpha1.PerfExperiment) error {
	owner := []metav1.OwnerReference{naming.Owner(cluster.ExperimentKind, experiment)}
	for _, recorded := range record.runs {
		recorded.run.OwnerReferences = owner
		if err := i.writeRun(ctx, recorded); err != nil {
			return err
		}
	}
	for _, kept := range []*corev1.ConfigMap{record.report, record.manifest, record.history} {
		if kept == nil {
			continue
		}
		kept.OwnerReferences = owner
		if err := i.create(ctx, "ConfigMap", kept); err != nil {
			return err
		}
	}
	for n := range record.notes {
		record.notes[n].OwnerReferences = owner
		if err := i.createNotes(ctx, &record.notes[n]); err != nil {
			return err
		}
	}
	record.experiment.Status.DeepCopyInto(&experiment.Status)
	carryGenerations(&experiment.Status.ObservedGeneration, experiment.Status.Conditions, record.experiment.Generation, experiment.Generation)
	if err := i.To.Status().Update(ctx, experiment, source.FieldOwner); err != nil {
		return fmt.Errorf("writing its status: %w", err)
	}
	return nil
}

func (i *Importer) writeRun(ctx context.Context, recorded importedRun) error {
	run := recorded.run.DeepCopy()
	if err := i.create(ctx, "PerfRun", run); err != nil {
		return err
	}
	recorded.run.Status.DeepCopyInto(&run.Status)
	carryGenerations(&run.Status.ObservedGeneration, run.Status.Conditions, recorded.run.Generation, run.Generation)
	if err := i.To.Status().Update(ctx, run, source.FieldOwner); err != nil {
		return fmt.Errorf("writing the status of run %q: %w", run.Name, err)
	}
	for n := range recorded.raw {
		raw := &recorded.raw[n]
		raw.OwnerReferences = []metav1.OwnerReference{naming.Owner("PerfRun", run)}
		if err := i.create(ctx, "ConfigMap", raw); err != nil {
			return err
		}
	}
	return nil
}

var errOtherNotes = errors.New("it already exists with other content, and a note refers to it: import into another namespace, or rename the existing one")

// createNotes creates a ConfigMap of notes. Users choose its name, so another
// experiment's notes may share it, or it may have other content.
func (i *Importer) createNotes(ctx context.Context, kept *corev1.ConfigMap) error {
	there := &corev1.ConfigMap{}
	err := i.To.Get(ctx, client.ObjectKeyFromObject(kept), there)
	switch {
	case apierrors.IsNotFound(err):
		return i.create(ctx, "ConfigMap", kept)
	case err != nil:
		return fmt.Errorf("reading ConfigMap %q: %w", kept.Name, err)
	case !equality.Semantic.DeepEqual(there.Data, kept.Data) || !equality.Semantic.DeepEqual(there.BinaryData, kept.BinaryData):
		return fmt.Errorf("creating ConfigMap %q: %w", kept.Name, errOtherNotes)
	}
	return nil
}

// create waits for the name to become free: the cluster deletes the objects of
// a deleted experiment later than the experiment.
func (i *Importer) create(ctx context.Context, kind string, object client.Object) error {
	taken := false
	err := wait.PollUntilContextTimeout(ctx, time.Second, i.Timeout, true, func(context.Context) (bool, error) {
		// The timeout of the wait does not apply to the request.
		err := i.To.Create(ctx, object, source.FieldOwner)
		taken = apierrors.IsAlreadyExists(err)
		if taken {
			return false, nil
		}
		return err == nil, err
	})
	if taken && ctx.Err() == nil {
		err = ErrLeftover
	}
	if err != nil {
		return fmt.Errorf("creating %s %q: %w", kind, object.GetName(), err)
	}
	return nil
}

// undo deletes the created experiment and its objects. An interruption may have
// hidden the response to the creation, so the annotation identifies the
// experiment as created here.
func (i *Importer) undo(ctx context.Context, experiment *v1alpha1.PerfExperiment) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	left := &v1alpha1.PerfExperiment{}
	err := i.To.Get(ctx, client.ObjectKeyFromObject(experiment), left)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading it: %w", err)
	}
	if left.Annotations[v1alpha1.AnnotationImported] != experiment.Annotations[v1alpha1.AnnotationImported] {
		return nil
	}
	left.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(cluster.ExperimentKind))
	return kube.Cluster{Client: i.To}.DeleteExactly(ctx, left)
}
