// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	sigsyaml "sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/apiserver"
)

// folioExperiment is an experiment of FOLIO's size.
//
//go:embed folio.yaml
var folioExperiment []byte

// declaration is an experiment and the objects that it refers to.
type declaration struct {
	// name is the kind of experiment: demo or folio.
	name       string
	experiment v1alpha1.PerfExperiment
	// related are the objects that the experiment needs in its namespace.
	related []client.Object
	// scripts are the scripts of the loads, by key.
	scripts map[string]string
}

// demoDeclaration returns the experiment of make demo.
func demoDeclaration() (*declaration, error) {
	text, err := os.ReadFile(apiserver.Root("config", "samples", "demo.yaml"))
	if err != nil {
		return nil, err
	}
	return parseDeclaration("demo", text)
}

// folioDeclaration returns an experiment with 90 modules and users who check in and out.
func folioDeclaration() (*declaration, error) {
	text, err := os.ReadFile(apiserver.Root("config", "systems", "folio-quesnelia.yaml"))
	if err != nil {
		return nil, err
	}
	return parseDeclaration("folio", append(append(text, "\n---\n"...), folioExperiment...))
}

// parseDeclaration reads an experiment and its related objects.
func parseDeclaration(name string, text []byte) (*declaration, error) {
	made := &declaration{name: name, scripts: map[string]string{}}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		raw := map[string]any{}
		err := documents.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading experiment %s: %w", name, err)
		}
		if err := made.add(raw); err != nil {
			return nil, fmt.Errorf("reading experiment %s: %w", name, err)
		}
	}
	if made.experiment.Name == "" {
		return nil, fmt.Errorf("experiment %s has no PerfExperiment", name)
	}
	return made, nil
}

func (d *declaration) add(raw map[string]any) error {
	switch raw["kind"] {
	case "PerfExperiment":
		return into(raw, &d.experiment)
	case "PerfSystem":
		system := &v1alpha1.PerfSystem{}
		d.related = append(d.related, system)
		return into(raw, system)
	case "ConfigMap":
		scripts := &corev1.ConfigMap{}
		d.related = append(d.related, scripts)
		err := into(raw, scripts)
		for key, text := range scripts.Data {
			d.scripts[key] = text
		}
		return err
	case "Secret":
		login := &corev1.Secret{}
		d.related = append(d.related, login)
		return into(raw, login)
	case nil:
		// The document has only a comment.
		return nil
	default:
		return fmt.Errorf("unexpected object %v", raw["kind"])
	}
}

// into decodes a document and rejects unknown fields.
func into(raw map[string]any, object any) error {
	text, err := json.Marshal(raw)
	if err != nil {
		return err
	}
	return sigsyaml.UnmarshalStrict(text, object)
}

// runs returns the number of runs of each experiment.
func (d *declaration) runs() int {
	spec := &d.experiment.Spec
	return len(spec.Arms) * len(spec.Scenarios) * int(spec.DesignOrDefault().Blocks)
}

// plan sets the number of runs of each experiment, in complete blocks.
func (d *declaration) plan(runs int) error {
	spec := &d.experiment.Spec
	each := len(spec.Arms) * len(spec.Scenarios)
	if runs <= 0 || runs%each != 0 {
		return fmt.Errorf("%d runs are not a multiple of the block size %d", runs, each)
	}
	spec.Design.Blocks = int32(runs / each)
	return nil
}
