// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/contents"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
)

// ArchiveRetryInterval is how often a failed write to an archive is retried.
const ArchiveRetryInterval = 30 * time.Second

// ArchiveRun stores the record of a finished run and its raw results in the archive of its
// namespace.
func (t *Tools) ArchiveRun(ctx context.Context, experiment *v1alpha1.PerfExperiment, run *v1alpha1.PerfRun) (archive.Reference, error) {
	raw, err := kube.RawResults(ctx, t.Live, run)
	if err != nil {
		return archive.Reference{}, err
	}
	record, err := contents.RunRecord(experiment, run, raw)
	if err != nil {
		return archive.Reference{}, err
	}
	return t.Archives.ForNamespace(run.Namespace).Keep(ctx, record)
}

// ArchivedReadiness is the readiness once an archive has stored the record.
func ArchivedReadiness(store *archive.Store) environment.Readiness {
	return environment.Readiness{Ready: true, Reason: v1alpha1.ReasonArchived, Message: "stored in the archive " + store.String()}
}

// ArchiveErrorReadiness is the readiness after an archive returned an error, whose details go
// to the log. It returns false if the error is not from the archive.
func ArchiveErrorReadiness(ctx context.Context, store *archive.Store, err error) (environment.Readiness, bool) {
	if !archive.IsError(err) {
		return environment.Readiness{}, false
	}
	readiness := environment.NotReady(archiveReason(err), err.Error())
	log.FromContext(ctx).Info("The archive does not store the record", "reason", readiness.Reason, "error", err.Error(), "detail", store.Detail(err))
	return readiness, true
}

func archiveReason(err error) string {
	for _, one := range []struct {
		is     error
		reason string
	}{
		{archive.ErrUnavailable, v1alpha1.ReasonArchiveUnavailable},
		{archive.ErrForbidden, v1alpha1.ReasonArchiveForbidden},
		{archive.ErrFull, v1alpha1.ReasonArchiveFull},
		{archive.ErrMismatch, v1alpha1.ReasonArchiveMismatch},
	} {
		if errors.Is(err, one.is) {
			return one.reason
		}
	}
	return v1alpha1.ReasonArchiveRefused
}
