// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// Defaults are the usual answers. A kind embeds them, and adds Source,
// Environment and Describe, and whatever else it knows better.
type Defaults struct{}

// Image is the operator's own.
func (Defaults) Image() string { return "" }

// Arguments are none.
func (Defaults) Arguments() []string { return nil }

// Volumes are none.
func (Defaults) Volumes() ([]corev1.Volume, []corev1.VolumeMount) { return nil, nil }

// WritesFiles is false: what is measured goes to the log.
func (Defaults) WritesFiles() bool { return false }

// Results are histograms.
func (Defaults) Results() v1alpha1.ScriptResults { return v1alpha1.ResultsHistograms }

// IsFOLIO is false.
func (Defaults) IsFOLIO() bool { return false }

// Validate finds nothing.
func (Defaults) Validate(*field.Path, ConfigMaps) (field.ErrorList, []string) { return nil, nil }

// JudgesRequests is false: transactions tell what failed.
func (Defaults) JudgesRequests() bool { return false }

// Check finds nothing.
func (Defaults) Check(*payload.Payload, v1alpha1.Validity) *Fault { return nil }

// Progress has users and their requests.
func (Defaults) Progress(last *v1alpha1.LoadProgress) string {
	return fmt.Sprintf("%s, %s requests/s", prose.Counted(last.Users, "user"), last.RequestsPerSecond)
}

// Length is none: such a load has a duration, or lasts until another ends.
func (Defaults) Length(Assumptions) (Length, error) { return Length{}, nil }

// Transactions are not known.
func (Defaults) Transactions() []string { return nil }

// Statistics are those of transactions.
func (Defaults) Statistics() []string { return metric.TransactionStatistics() }

// Primary metrics are none.
func (Defaults) Primary() []string { return nil }

// Seconds writes a duration for a script; none is 0.
func Seconds(d *metav1.Duration) string {
	if d == nil {
		return "0"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
}
