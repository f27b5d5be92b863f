// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archived"
	"perflab.dev/perflab/internal/kube"
)

// archivePause is the time between two tries to keep a run in an archive that does not
// take it.
const archivePause = 30 * time.Second

// stepArchive keeps what the run gave in the archive, before it is over for anybody else:
// its record as the status is about to tell it, and its raw results. While the archive
// does not take them, the run waits with the reason; the cluster has them all.
func (r *Reconciler) stepArchive(ctx context.Context, s *scope) (outcome, error) {
	if r.Archive == nil {
		return next(), nil
	}
	raw, err := kube.RawResults(ctx, r.Live, s.run)
	if err != nil {
		return outcome{}, err
	}
	record, err := archived.Run(s.experiment, s.final(r.Archive), raw)
	if err == nil {
		_, err = r.Archive.Keep(ctx, record)
	}
	readiness := component.Archived(r.Archive, err)
	s.archived = &readiness
	if err != nil {
		log.FromContext(ctx).Info("The archive does not take the run", "reason", readiness.Reason, "error", err.Error(), "detail", r.Archive.Detail(err))
		s.loading = "what was measured waits in the cluster to be archived: " + readiness.Message
		return waitFor(archivePause), nil
	}
	return next(), nil
}

// final is the run as its status will tell it once it is over and archived.
func (s *scope) final(store *archive.Store) *v1alpha1.PerfRun {
	end := *s
	end.run = s.run.DeepCopy()
	readiness := component.Archived(store, nil)
	end.archived, end.over = &readiness, true
	reportRun(&end)
	return end.run
}
