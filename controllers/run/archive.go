// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
)

// stepArchive stores the final record of the run and its raw results in the archive, before the
// run becomes final for others. While the archive fails, the run waits with the reason; the
// cluster has all data.
func (r *Reconciler) stepArchive(ctx context.Context, s *scope) (outcome, error) {
	store := r.Archives.Of(s.run.Namespace)
	if store == nil {
		return next(), nil
	}
	kept := component.ArchivedReadiness(store)
	_, err := r.ArchiveRun(ctx, s.experiment, s.finalRun(kept))
	if err == nil {
		s.archived = &kept
		return next(), nil
	}
	refused, known := component.ArchiveErrorReadiness(ctx, store, err)
	if !known {
		return outcome{}, err
	}
	s.archived = &refused
	s.loadMessage = "waiting to archive the results: " + refused.Message
	return waitFor(component.ArchiveRetryInterval), nil
}

// finalRun is the run with the status that it gets once it is archived.
func (s *scope) finalRun(archived environment.Readiness) *v1alpha1.PerfRun {
	end := *s
	end.run = s.run.DeepCopy()
	end.archived, end.finished = &archived, true
	reportRun(&end)
	return end.run
}
