// SPDX-License-Identifier: Apache-2.0

package component

import (
	"errors"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/environment"
)

// Archived is how ready it is that something is in an archive, after an attempt to keep
// it there.
func Archived(store *archive.Store, err error) environment.Readiness {
	if err == nil {
		return environment.Readiness{Ready: true, Reason: v1alpha1.ReasonArchived, Message: "it is kept in the archive " + store.String()}
	}
	return environment.NotReady(archiveReason(err), err.Error())
}

func archiveReason(err error) string {
	for _, one := range []struct {
		is     error
		reason string
	}{
		{archive.ErrAway, v1alpha1.ReasonArchiveAway},
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
