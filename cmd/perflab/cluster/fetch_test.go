// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/apiserver"
)

// If the runs were deleted, the error mentions the stored report.
func TestExportOfDeletedRuns(t *testing.T) {
	taken := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	retired := &v1alpha1.PerfExperiment{Status: v1alpha1.PerfExperimentStatus{History: &v1alpha1.HistoryStatus{Runs: &taken}}}
	retired.Namespace, retired.Name = "lab", "old"
	_, err := Fetch(t.Context(), fake.NewClientBuilder().WithScheme(apiserver.Scheme()).WithObjects(retired).Build(), "lab", "old")
	if !errors.Is(err, ErrRunsDeleted) || !strings.Contains(err.Error(), "configmap old-report --namespace lab") || !strings.Contains(err.Error(), "2026-03-01") {
		t.Errorf("got %v", err)
	}
}
