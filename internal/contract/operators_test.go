// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/internal/contract"
)

// Operators tell their versions in what they make.
func TestVersionsOfOperators(t *testing.T) {
	kafka := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"operatorLastSuccessfulVersion": "1.2.0"}}}
	if told := (contract.Kafka{Object: kafka}).OperatorVersion(); told != "1.2.0" {
		t.Errorf("Strimzi is %q", told)
	}
	if told := (contract.Kafka{}).OperatorVersion(); told != "" {
		t.Errorf("without a Kafka Strimzi is %q", told)
	}
	const image = "ghcr.io/cloudnative-pg/cloudnative-pg:1.30.0"
	prepared := corev1.PodSpec{InitContainers: []corev1.Container{{Name: "bootstrap-controller", Image: image}}}
	others := corev1.Pod{Spec: prepared}
	own := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{contract.LabelPostgresCluster: "pg"}}, Spec: prepared}
	if told := contract.PostgresOperatorImage([]corev1.Pod{others}); told != "" {
		t.Errorf("of a pod that is not CloudNativePG's it is %q", told)
	}
	if told := contract.PostgresOperatorImage([]corev1.Pod{others, own}); told != image {
		t.Errorf("CloudNativePG is %q", told)
	}
}
