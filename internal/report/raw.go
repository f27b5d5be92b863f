// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/payload"
)

// rawOf unpacks the loads' histograms of each run.
func rawOf(maps []corev1.ConfigMap) (map[string]map[string]*payload.Payload, error) {
	all := map[string]map[string]*payload.Payload{}
	for i := range maps {
		run := maps[i].Labels[v1alpha1.LabelRun]
		all[run] = map[string]*payload.Payload{}
		for load, body := range maps[i].BinaryData {
			unpacked, err := payload.Unmarshal(body)
			if err != nil {
				return nil, fmt.Errorf("%w: raw results of run %q, load %q: %w", ErrInput, run, load, err)
			}
			all[run][load] = unpacked
		}
	}
	return all, nil
}
