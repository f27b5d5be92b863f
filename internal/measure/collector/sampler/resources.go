// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/payload"
)

// maxMetricsAge is the maximum age of the newest figures of the metrics API. The usual server takes
// new ones every 15 s, a slow one every minute.
const maxMetricsAge = 2 * time.Minute

// metricsAPI reads the resource use of containers from the cluster's metrics API.
type metricsAPI struct {
	pods metricsclient.PodMetricsInterface
	// newest is the time of the last recorded figures.
	newest time.Time
}

func (m *metricsAPI) name() string { return "metrics" }

// sample reads all pods. The API returns the same values until its server has new ones: each
// is recorded once, at the time it was measured.
func (m *metricsAPI) sample(ctx context.Context, now round) (recordFunc, error) {
	list, err := m.pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("querying the metrics API: %w", err)
	}
	usage := map[string]metricsv1beta1.PodMetrics{}
	for _, item := range list.Items {
		usage[item.Name] = item
	}
	var newest time.Time
	for _, pod := range now.pods {
		if at := usage[pod.name].Timestamp.Time; at.After(newest) {
			newest = at
		}
	}
	if newest.IsZero() {
		return nil, errors.New("the metrics API has no values of the system's pods")
	}
	if age := now.at.Sub(newest); age > maxMetricsAge {
		return nil, fmt.Errorf("the metrics API's newest values are %s old", age.Round(time.Second))
	}
	if !newest.After(m.newest) {
		return nil, nil
	}
	m.newest = newest
	return func(into *payload.SampleRecorder) {
		for _, pod := range now.pods {
			for _, container := range usage[pod.name].Containers {
				instance := instanceName(pod.name, container.Name)
				into.Record(pod.component, instance, metric.CPU, metric.UnitCores, newest, cores(container.Usage[corev1.ResourceCPU]))
				into.Record(pod.component, instance, metric.Memory, metric.UnitMebibytes, newest, mebibytes(container.Usage[corev1.ResourceMemory]))
			}
		}
	}, nil
}
