// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
)

const (
	// bombs is the number of objects that are small as text. The benchmark has no webhook,
	// which would reject them. Six such objects crashed an operator with the chart's memory
	// limit.
	bombs = 6
	// bombTerms is the number of terms that take 1.3 MiB as text, and fifty times as much when
	// decoded.
	bombTerms = 430_000
	// largest is the number of the largest declarations that the webhook allows, and
	// largestTerms their number of terms.
	largest, largestTerms = 20, 3_900

	// shippedMemory is the GOMEMLIMIT of the chart: its memory limit, of which the operator
	// gives four fifths to the Go runtime.
	shippedMemory = "256MiB"
)

const bombText = `
apiVersion: perflab.dev/v1alpha1
kind: %s
metadata: {name: %s, namespace: lab%s}
spec:%s
  system: {modules: [{name: shop, image: "example.org/shop:1", placement: {affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [%s{}]}}}}], target: {module: shop}}
`

const (
	scenarioText   = "{name: search, loads: [{name: search, script: {configMap: {name: script, key: search.js}}}]}"
	experimentText = "\n  arms: [{name: one, baseline: true}]\n  scenarios: [" + scenarioText + "]"
	runText        = "\n  experiment: bomb\n  planHash: 5d1c0e7b3a9f4c21\n  block: 1\n  position: 1\n  attempt: 1\n  arm: one\n  seed: 7\n  scenario: " + scenarioText
)

const imported = `, annotations: {perflab.dev/imported: "elsewhere/bomb 1 2026-03-02T08:00:00Z"}`

// hostile measures an operator with objects that are small as text and large in memory.
func (b *bench) hostile(ctx context.Context, c *cluster) error {
	if err := c.namespace(ctx, lab); err != nil {
		return err
	}
	b.progress("hostile: creating %d records of 1.3 MiB, as many runs, and %d of the largest declarations", bombs, largest)
	for i := range bombs {
		for kind, spec := range map[string]string{"PerfExperiment": experimentText, "PerfRun": runText} {
			if err := c.declare(ctx, kind, fmt.Sprintf("bomb-%d", i), imported, spec, bombTerms); err != nil {
				return err
			}
		}
	}
	for i := range largest {
		if err := c.declare(ctx, "PerfExperiment", fmt.Sprintf("large-%d", i), "", experimentText+"\n  suspend: true", largestTerms); err != nil {
			return err
		}
	}
	before := b.memory
	defer func() { b.memory = before }()
	b.memory = shippedMemory
	measured, err := b.start(ctx, c, nil)
	if err != nil {
		return err
	}
	b.table.addHostile(measured)
	return nil
}

// declare creates an object with an affinity of a number of terms.
func (c *cluster) declare(ctx context.Context, kind, name, annotations, spec string, terms int) error {
	object := &unstructured.Unstructured{}
	text := fmt.Sprintf(bombText, kind, name, annotations, spec, strings.Repeat("{},", terms))
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		return fmt.Errorf("declaring %s: %w", name, err)
	}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	if err := c.admin.Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("creating %s %q: %w", kind, name, err)
	}
	return nil
}
