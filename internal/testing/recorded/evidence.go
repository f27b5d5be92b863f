// SPDX-License-Identifier: Apache-2.0

package recorded

import (
	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/evidence"
)

// WithEvidence is Experiment with the digests that the operator would have kept.
func WithEvidence(seed uint64) report.Input {
	input := Experiment(seed)
	for i := range input.Runs {
		run := &input.Runs[i]
		run.Status.Evidence = &v1alpha1.RunEvidence{}
		for j := range input.Raw {
			if input.Raw[j].Labels[v1alpha1.LabelRun] == run.Name {
				run.Status.Evidence.Kept = append(run.Status.Evidence.Kept, v1alpha1.KeptDigest{Name: input.Raw[j].Name, SHA256: must(evidence.Content(&input.Raw[j]))})
			}
		}
	}
	text := must(evidence.Next("", &input.Experiment, input.Runs, evidence.Stage{Blocks: 6, Ended: true}, ""))
	input.Manifest = &corev1.ConfigMap{Data: map[string]string{evidence.Key: text}}
	input.Manifest.Name, input.Manifest.Namespace, input.Manifest.Labels = naming.Evidence(Name), Namespace, naming.Labels(Name)
	kept := &v1alpha1.ExperimentEvidence{Manifest: input.Manifest.Name, SHA256: evidence.Sum([]byte(text))}
	input.Experiment.Status.Evidence = kept
	return input
}

// must unwraps the encoding of generated data, which always succeeds.
func must(text string, err error) string {
	if err != nil {
		panic(err)
	}
	return text
}
