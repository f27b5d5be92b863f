// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/gowebpki/jcs"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
)

// runDocument has the digested fields of a run.
type runDocument struct {
	Name   string                 `json:"name"`
	Spec   v1alpha1.PerfRunSpec   `json:"spec"`
	Status v1alpha1.PerfRunStatus `json:"status"`
}

// planDocument has the digested, immutable fields of the declaration. A referenced system is
// in each run's record.
type planDocument struct {
	Spec v1alpha1.PerfExperimentSpec `json:"spec"`
	Hash string                      `json:"planHash"`
	Seed *int64                      `json:"seed"`
}

// resultDocument has the digested fields of the result.
type resultDocument struct {
	Arms        []v1alpha1.ArmStatus     `json:"arms"`
	Runs        *v1alpha1.RunCounts      `json:"runs"`
	Attempts    v1alpha1.Attempts        `json:"attempts"`
	InvalidRuns []v1alpha1.InvalidRun    `json:"invalidRuns"`
	Results     []v1alpha1.Result        `json:"results"`
	Capacities  []v1alpha1.ArmCapacity   `json:"capacities,omitempty"`
	Analysis    *v1alpha1.AnalysisStatus `json:"analysis"`
	Verdict     string                   `json:"verdict"`
	Comparisons []v1alpha1.Comparison    `json:"comparisons"`
	Pairs       []v1alpha1.Comparison    `json:"pairs,omitempty"`
	Slowdowns   []v1alpha1.Slowdown      `json:"slowdowns"`
	Effects     []v1alpha1.FactorEffect  `json:"effects"`
}

// newRunDocument omits the fields of a run's status that change with imports or time.
func newRunDocument(run *v1alpha1.PerfRun) runDocument {
	run = run.DeepCopy()
	run.Status.ObservedGeneration = 0
	for i := range run.Status.Conditions {
		run.Status.Conditions[i].ObservedGeneration = 0
		run.Status.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	return runDocument{Name: run.Name, Spec: run.Spec, Status: run.Status}
}

// newPlanDocument omits the fields of the spec that may change after the first run, in addition
// to those that the schema omits.
func newPlanDocument(experiment *v1alpha1.PerfExperiment) planDocument {
	experiment = experiment.DeepCopy()
	spec := &experiment.Spec
	spec.Suspend, spec.Cleanup, spec.Notes = false, v1alpha1.Cleanup{}, nil
	spec.Design.Blocks, spec.Design.MaxRuns, spec.Design.Budget = 0, 0, nil
	if spec.Design.Target != nil {
		spec.Design.Target.MaxBlocks = 0
	}
	return planDocument{Spec: *spec, Hash: experiment.Status.PlanHash, Seed: experiment.Status.Seed}
}

func newResultDocument(status *v1alpha1.PerfExperimentStatus) resultDocument {
	return resultDocument{
		Arms: status.Arms, Runs: status.Runs, Attempts: status.Attempts, InvalidRuns: status.InvalidRuns, Results: status.Results, Capacities: status.Capacities, Analysis: status.Analysis,
		Verdict: status.Verdict, Comparisons: status.Comparisons, Pairs: status.Pairs, Slowdowns: status.Slowdowns, Effects: status.Effects,
	}
}

func (f Schema) runDigest(run *v1alpha1.PerfRun) (string, error) {
	return digestFields(newRunDocument(run), f, typeRecord)
}

func (f Schema) planDigest(experiment *v1alpha1.PerfExperiment) (string, error) {
	return digestFields(newPlanDocument(experiment), f, typePlan)
}

func (f Schema) resultDigest(status *v1alpha1.PerfExperimentStatus) (string, error) {
	return digestFields(newResultDocument(status), f, typeAnswer)
}

// ResultDigest returns the digest of the result with the schema of this version.
func ResultDigest(status *v1alpha1.PerfExperimentStatus) (string, error) {
	return OwnSchema().resultDigest(status)
}

// ContentDigest returns the digest of a ConfigMap's data: of an object, canonicalized
// by RFC 8785, that has the SHA-256 of the value of each key.
func ContentDigest(object *corev1.ConfigMap) (string, error) {
	sums := map[string]string{}
	for key, text := range object.Data {
		sums[key] = Sum([]byte(text))
	}
	for key, body := range object.BinaryData {
		sums[key] = Sum(body)
	}
	text, err := canonical(sums)
	return Sum(text), err
}

// HistoryDigest returns the digest of a history ConfigMap; empty if there is none.
func HistoryDigest(kept *corev1.ConfigMap) (string, error) {
	if kept == nil {
		return "", nil
	}
	return ContentDigest(kept)
}

// Sum returns the SHA-256 of bytes, in hexadecimal.
func Sum(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// digestFields digests the schema's fields of a value, as they are read back from an API
// server: with times in whole seconds and canonical quantities.
func digestFields[T any](value T, fields Schema, as string) (string, error) {
	var settled T
	if err := transcode(value, &settled); err != nil {
		return "", err
	}
	var tree any
	if err := transcode(settled, &tree); err != nil {
		return "", err
	}
	text, err := canonical(fields.reduce(tree, as))
	return Sum(text), err
}

func transcode(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("encoding %T: %w", from, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(to); err != nil {
		return fmt.Errorf("decoding %T: %w", from, err)
	}
	return nil
}

func canonical(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", value, err)
	}
	if text, err = jcs.Transform(text); err != nil {
		return nil, fmt.Errorf("canonicalizing %T: %w", value, err)
	}
	return text, nil
}
