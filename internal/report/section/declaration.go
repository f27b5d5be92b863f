// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/text/redact"
)

// declaration is how to repeat the experiment.
func declaration(r *Record) []document.Block {
	sentence := "Apply this declaration to a cluster with PerfLab; the seed reproduces the order of the runs."
	if reference := r.Experiment.Spec.SystemRef; reference != nil {
		sentence += fmt.Sprintf(" It refers to PerfSystem %s, which must exist first.", reference.Name)
	}
	if r.measuredElsewhere() {
		sentence = "This declaration is complete, but PerfLab can't run its loads. To repeat the measurement, replace them with PerfLab loads, and declare the system."
	}
	return []document.Block{document.Paragraph(sentence + " Potentially secret values are omitted."), {Code: declarationText(r.declared), CodeTitle: declarationTitle}}
}

// declarationTitle is the title of all code in the appendix.
const declarationTitle = "Declaration"

// declarationText is the experiment as a user would write it, without notes, which are about
// these runs.
func declarationText(experiment *v1alpha1.PerfExperiment) string {
	spec := experiment.Spec.DeepCopy()
	spec.Suspend, spec.Notes = false, nil
	if spec.Design.Seed == nil && provenance.Tool(spec) == "" {
		spec.Design.Seed = experiment.Status.Seed
	}
	encoded, err := json.Marshal(spec)
	if err != nil {
		// API values always marshal.
		panic(fmt.Sprintf("encoding a spec: %v", err))
	}
	var tree map[string]any
	if err := json.Unmarshal(encoded, &tree); err != nil {
		panic(fmt.Sprintf("decoding a spec: %v", err))
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": KindExperiment,
		"metadata": map[string]any{"name": experiment.Name},
		"spec":     prune(redact.HideIn(tree)),
	})
	if err != nil {
		panic(fmt.Sprintf("encoding a declaration: %v", err))
	}
	return string(text)
}

// prune removes empty objects, lists and texts.
func prune(node any) any {
	switch node := node.(type) {
	case map[string]any:
		for key, value := range node {
			// In a merge patch, empty values have a meaning.
			if key == "merge" {
				continue
			}
			if node[key] = prune(value); node[key] == nil {
				delete(node, key)
			}
		}
		if len(node) == 0 {
			return nil
		}
	case []any:
		for i := range node {
			node[i] = prune(node[i])
		}
		if len(node) == 0 {
			return nil
		}
	case string:
		if node == "" {
			return nil
		}
	}
	return node
}
