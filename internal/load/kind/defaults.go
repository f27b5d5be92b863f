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

// Defaults has the default answers. A kind embeds it, and adds Source, Environment and
// Describe, and overrides.
type Defaults struct{}

// Image is empty: the operator's image.
func (Defaults) Image() string { return "" }

// Arguments is empty.
func (Defaults) Arguments() []string { return nil }

// Volumes is empty.
func (Defaults) Volumes() ([]corev1.Volume, []corev1.VolumeMount) { return nil, nil }

// WritesFiles is false: results go to the log.
func (Defaults) WritesFiles() bool { return false }

// Results returns histograms.
func (Defaults) Results() v1alpha1.ScriptResults { return v1alpha1.ResultsHistograms }

// IsFOLIO is false.
func (Defaults) IsFOLIO() bool { return false }

// Validate finds nothing.
func (Defaults) Validate(*field.Path, ConfigMaps) (field.ErrorList, []Warning) { return nil, nil }

// JudgesRequests is false: transactions count failures.
func (Defaults) JudgesRequests() bool { return false }

// Check finds nothing.
func (Defaults) Check(*payload.Payload, v1alpha1.Validity) *Fault { return nil }

// Progress describes users and requests.
func (Defaults) Progress(last *v1alpha1.LoadProgress) string {
	return fmt.Sprintf("%s, %s requests/s", prose.Counted(last.Users, "user"), last.RequestsPerSecond)
}

// Length is unknown: such a load has a duration, or until.
func (Defaults) Length(Assumptions) (Length, error) { return Length{}, nil }

// Transactions is empty.
func (Defaults) Transactions() []string { return nil }

// Statistics returns the statistics of transactions.
func (Defaults) Statistics() []string { return metric.TransactionStatistics() }

// Primary is empty.
func (Defaults) Primary() []string { return nil }

// Seconds formats a duration for a script; nil is 0.
func Seconds(d *metav1.Duration) string {
	if d == nil {
		return "0"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
}
