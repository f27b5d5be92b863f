// SPDX-License-Identifier: Apache-2.0

package section

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/crosscompare"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/runs/runorder"
)

// Kinds of the objects an experiment records.
const (
	KindExperiment = "PerfExperiment"
	kindRun        = "PerfRun"
	KindConfigMap  = "ConfigMap"
)

// ErrInput means that a stream has no experiment that a report can show.
var ErrInput = errors.New("the recorded objects are invalid")

// Input is what an experiment recorded.
type Input struct {
	Experiment v1alpha1.PerfExperiment
	// Runs of the experiment, in any order, invalid ones included.
	Runs []v1alpha1.PerfRun
	// Raw are the runs' ConfigMaps of raw results. Without some, the report only lacks charts
	// over time and rows of single requests.
	Raw []corev1.ConfigMap
	// Manifest is the ConfigMap with the digests of all these; nil without one.
	Manifest *corev1.ConfigMap
	// History is the ConfigMap with the data for histories and the comparison with earlier
	// experiments; nil without one.
	History *corev1.ConfigMap
	// Notes are the ConfigMaps of the experiment's notes. Without one, its notes are missing.
	Notes []corev1.ConfigMap
	// Traces replace Raw, by run name, if all raw results need too much memory at once.
	Traces map[string]*Trace
	// Against is another experiment to compare with; nil without one.
	Against *crosscompare.ExperimentRuns
}

// Reader collects recorded objects from streams of YAML or JSON documents: the output of Write
// and perflab export, or lists from kubectl get -o yaml. It skips other objects, and ConfigMaps
// that no note refers to. The zero value is ready for use.
type Reader struct{ found objects }

// Add reads a stream. It fails with ErrInput if the stream does not contain objects.
func (r *Reader) Add(stream io.Reader) error { return r.found.read(stream) }

// Inputs returns one input per experiment, sorted by namespace and name, with its runs and raw
// results. It fails with ErrInput without an experiment.
func (r *Reader) Inputs() ([]Input, error) { return r.found.inputs() }

// Read is a Reader for streams that are already open.
func Read(streams ...io.Reader) ([]Input, error) {
	var reader Reader
	for _, stream := range streams {
		if err := reader.Add(stream); err != nil {
			return nil, err
		}
	}
	return reader.Inputs()
}

// objects of any number of experiments.
type objects struct {
	experiments []v1alpha1.PerfExperiment
	runs        []v1alpha1.PerfRun
	raw         []corev1.ConfigMap
	manifests   []corev1.ConfigMap
	histories   []corev1.ConfigMap
	// others are possibly ConfigMaps of notes, which only their names identify.
	others []corev1.ConfigMap
}

func (o *objects) read(stream io.Reader) error {
	decoder := utilyaml.NewYAMLOrJSONDecoder(bufio.NewReader(stream), 4096)
	for number := 1; ; number++ {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: document %d can't be read: %w", ErrInput, number, err)
		}
		fields, isObject := document.(map[string]any)
		if document != nil && !isObject {
			return fmt.Errorf("%w: document %d is not a Kubernetes object, which has apiVersion and kind", ErrInput, number)
		}
		if len(fields) == 0 {
			continue
		}
		object := &unstructured.Unstructured{Object: fields}
		if err := o.add(object); err != nil {
			return fmt.Errorf("%w: document %d: %w", ErrInput, number, err)
		}
	}
}

func (o *objects) add(object *unstructured.Unstructured) error {
	if object.IsList() {
		return object.EachListItem(func(item runtime.Object) error {
			return o.add(item.(*unstructured.Unstructured))
		})
	}
	group := object.GroupVersionKind().Group
	switch {
	case group == v1alpha1.GroupVersion.Group && object.GetKind() == KindExperiment:
		return appendTo(&o.experiments, object)
	case group == v1alpha1.GroupVersion.Group && object.GetKind() == kindRun:
		return appendTo(&o.runs, object)
	case group == "" && object.GetKind() == KindConfigMap && object.GetLabels()[v1alpha1.LabelRun] != "":
		return appendTo(&o.raw, object)
	case group == "" && object.GetKind() == KindConfigMap && object.GetName() == naming.Evidence(object.GetLabels()[v1alpha1.LabelExperiment]):
		return appendTo(&o.manifests, object)
	case group == "" && object.GetKind() == KindConfigMap && object.GetName() == naming.History(object.GetLabels()[v1alpha1.LabelExperiment]):
		return appendTo(&o.histories, object)
	case group == "" && object.GetKind() == KindConfigMap:
		return appendTo(&o.others, object)
	}
	return nil
}

func appendTo[T any](list *[]T, object *unstructured.Unstructured) error {
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
		return fmt.Errorf("reading %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	*list = append(*list, typed)
	return nil
}

func (o *objects) inputs() ([]Input, error) {
	if len(o.experiments) == 0 {
		return nil, fmt.Errorf("%w: no PerfExperiment found: export one with perflab export NAME", ErrInput)
	}
	slices.SortFunc(o.experiments, func(a, b v1alpha1.PerfExperiment) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	inputs := make([]Input, 0, len(o.experiments))
	for i, experiment := range o.experiments {
		if i > 0 && experiment.Name == o.experiments[i-1].Name && experiment.Namespace == o.experiments[i-1].Namespace {
			return nil, fmt.Errorf("%w: duplicate PerfExperiment %q in namespace %q", ErrInput, experiment.Name, experiment.Namespace)
		}
		inputs = append(inputs, o.input(experiment))
	}
	return inputs, nil
}

func (o *objects) input(experiment v1alpha1.PerfExperiment) Input {
	input := Input{Experiment: experiment}
	for _, run := range o.runs {
		if run.Namespace == experiment.Namespace && run.Spec.Experiment == experiment.Name {
			input.Runs = append(input.Runs, run)
		}
	}
	for _, raw := range o.raw {
		if raw.Namespace == experiment.Namespace && raw.Labels[v1alpha1.LabelExperiment] == experiment.Name {
			input.Raw = append(input.Raw, raw)
		}
	}
	for i, manifest := range o.manifests {
		if manifest.Namespace == experiment.Namespace && manifest.Labels[v1alpha1.LabelExperiment] == experiment.Name {
			input.Manifest = &o.manifests[i]
		}
	}
	for i, history := range o.histories {
		if history.Namespace == experiment.Namespace && history.Labels[v1alpha1.LabelExperiment] == experiment.Name {
			input.History = &o.histories[i]
		}
	}
	noted := experiment.Spec.NoteConfigMaps()
	for _, other := range o.others {
		if other.Namespace == experiment.Namespace && slices.Contains(noted, other.Name) {
			input.Notes = append(input.Notes, other)
		}
	}
	return input
}

// Write writes the objects as one YAML stream that Read reads and kubectl accepts: the
// experiment, its runs in the order of the plan, their raw results, the manifest of digests, the
// history, and the ConfigMaps of notes. It omits what only the original cluster can use.
func Write(out io.Writer, input Input) error {
	documents, err := Documents(input)
	if err != nil {
		return err
	}
	for _, document := range documents {
		if _, err := fmt.Fprintf(out, "---\n%s", document.Text); err != nil {
			return fmt.Errorf("writing %q: %w", document.Name, err)
		}
	}
	return nil
}

// Document is one of the objects that Write writes, as YAML.
type Document struct {
	Kind, Name string
	Text       []byte
}

// Documents returns the documents that Write writes, in order.
func Documents(input Input) ([]Document, error) {
	var all documents
	experiment := input.Experiment
	all.add(v1alpha1.GroupVersion.WithKind(KindExperiment), &experiment.ObjectMeta, &experiment)
	all.addRuns(input.Runs, input.Raw)
	if input.Manifest != nil {
		all.addConfigMaps(*input.Manifest)
	}
	if input.History != nil {
		all.addConfigMaps(*input.History)
	}
	all.addConfigMaps(input.Notes...)
	return all.list, all.err
}

// RunDocuments returns the documents of a run and of its raw results.
func RunDocuments(run *v1alpha1.PerfRun, raw []corev1.ConfigMap) ([]Document, error) {
	var all documents
	all.addRuns([]v1alpha1.PerfRun{*run}, raw)
	return all.list, all.err
}

type documents struct {
	list []Document
	err  error
}

func (d *documents) addRuns(all []v1alpha1.PerfRun, raw []corev1.ConfigMap) {
	runs := sortedByPlan(all)
	for i := range runs {
		d.add(v1alpha1.GroupVersion.WithKind(kindRun), &runs[i].ObjectMeta, &runs[i])
	}
	raw = slices.Clone(raw)
	slices.SortFunc(raw, func(a, b corev1.ConfigMap) int { return cmp.Compare(a.Name, b.Name) })
	d.addConfigMaps(raw...)
}

func (d *documents) addConfigMaps(all ...corev1.ConfigMap) {
	for i := range all {
		one := all[i]
		d.add(corev1.SchemeGroupVersion.WithKind(KindConfigMap), &one.ObjectMeta, &one)
	}
}

func (d *documents) add(kind schema.GroupVersionKind, meta *metav1.ObjectMeta, object runtime.Object) {
	object.GetObjectKind().SetGroupVersionKind(kind)
	*meta = metav1.ObjectMeta{
		Name: meta.Name, Namespace: meta.Namespace, UID: meta.UID, Generation: meta.Generation,
		CreationTimestamp: meta.CreationTimestamp, Labels: meta.Labels, Annotations: recordedAnnotations(meta),
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		d.err = cmp.Or(d.err, fmt.Errorf("encoding %q: %w", meta.Name, err))
		return
	}
	d.list = append(d.list, Document{Kind: kind.Kind, Name: meta.Name, Text: text})
}

// recordedAnnotations are the origin of an imported object and the release that an experiment
// measures; other annotations are not part of the record.
func recordedAnnotations(meta *metav1.ObjectMeta) map[string]string {
	var kept map[string]string
	for _, name := range []string{v1alpha1.AnnotationImported, v1alpha1.AnnotationElsewhere, v1alpha1.AnnotationRelease} {
		if value, found := meta.Annotations[name]; found {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[name] = value
		}
	}
	return kept
}

// sortedByPlan copies runs in the order of execution.
func sortedByPlan(runs []v1alpha1.PerfRun) (sorted []v1alpha1.PerfRun) {
	for _, run := range runorder.Sorted(runs) {
		sorted = append(sorted, *run)
	}
	return sorted
}
