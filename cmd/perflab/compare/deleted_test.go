// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

// Experiments with deleted runs are named, with or without others.
func TestHistoryNamesDeletedRuns(t *testing.T) {
	taken := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	retired := &v1alpha1.PerfExperiment{Status: v1alpha1.PerfExperimentStatus{History: &v1alpha1.HistoryStatus{Runs: &taken}}}
	retired.Namespace, retired.Name = "lab", "old"
	options := historyOptions{}
	expect.NoError(t, options.addAll(t.Context(), fake.NewClientBuilder().WithScheme(apiserver.Scheme()).WithObjects(retired).Build(), "lab"))
	if _, err := options.history(); !errors.Is(err, releases.ErrNoHistory) || !strings.Contains(err.Error(), "omitted: old, whose runs were deleted") {
		t.Errorf("got %v", err)
	}
}
