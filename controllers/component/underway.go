// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/runfilter"
)

// IsUnderway reports whether this operator executes the run. A run whose experiment does
// not exist is never executed, and other experiments don't wait for it.
func (t *Tools) IsUnderway(ctx context.Context, run *v1alpha1.PerfRun) (bool, error) {
	experiment := &v1alpha1.PerfExperiment{}
	err := t.Cluster.Client.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: run.Spec.Experiment}, experiment, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading experiment %q: %w", run.Spec.Experiment, err)
	}
	return !t.IsHeldByAnother(experiment) && runfilter.RejectionReason(experiment, runfilter.Recorded(experiment), run) == "", nil
}

// IsHeldByAnother reports whether another operator has the experiment, according to its
// annotation. That operator may not exist, so this one does not wait for its runs.
func (t *Tools) IsHeldByAnother(experiment *v1alpha1.PerfExperiment) bool {
	return ClaimedBy(experiment) != "" && !t.HoldsClaim(experiment)
}

// BlockedPause is the time between two reads of a run that blocks others, if no watch reports
// its end.
const BlockedPause = 30 * time.Second
