// SPDX-License-Identifier: Apache-2.0

package record

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/evidence"
	"perflab.dev/perflab/internal/runs/provenance"
)

// imported is an experiment that was measured elsewhere, with its objects, ready
// to be written.
type imported struct {
	from       provenance.Origin
	experiment *v1alpha1.PerfExperiment
	runs       []importedRun
	// report is the stored report; nil: none.
	report *corev1.ConfigMap
	// manifest has the digests; nil: none.
	manifest *corev1.ConfigMap
	// history is the stored history; nil: none.
	history *corev1.ConfigMap
	// notes are the ConfigMaps of its notes.
	notes []corev1.ConfigMap
	// unfinished is the number of runs that had not ended.
	unfinished int
	// leftOut are ConfigMaps that no run refers to.
	leftOut []string
}

type importedRun struct {
	run *v1alpha1.PerfRun
	raw []corev1.ConfigMap
}

// NewImported converts an export for a namespace. It fails with report.ErrInput
// if the export can't be reported on.
func NewImported(input report.Input, namespace string, now time.Time) (*imported, error) {
	from := provenance.OriginOf(&input.Experiment)
	from.Imported = now
	result := &imported{from: from, experiment: input.Experiment.DeepCopy()}
	setImported(&result.experiment.ObjectMeta, namespace, from)
	// The imported experiment does not run.
	result.experiment.Status.Current, result.experiment.Status.WaitingFor = nil, ""
	own := map[string][]corev1.ConfigMap{}
	for i := range input.Raw {
		raw := input.Raw[i].DeepCopy()
		run := raw.Labels[v1alpha1.LabelRun]
		raw.ObjectMeta = metav1.ObjectMeta{Name: raw.Name, Namespace: namespace, Labels: raw.Labels}
		own[run] = append(own[run], *raw)
	}
	for i := range input.Runs {
		run := input.Runs[i].DeepCopy()
		setImported(&run.ObjectMeta, namespace, from)
		if !run.Status.Phase.IsFinal() {
			result.unfinished++
		}
		recorded := importedRun{run: run}
		for _, raw := range own[run.Name] {
			if slices.Contains(naming.RawNames(run), raw.Name) {
				recorded.raw = append(recorded.raw, raw)
			}
		}
		result.runs = append(result.runs, recorded)
	}
	result.leftOut = result.unreferenced(input.Raw)
	if input.Manifest != nil {
		result.manifest = input.Manifest.DeepCopy()
		result.manifest.ObjectMeta = metav1.ObjectMeta{Name: input.Manifest.Name, Namespace: namespace, Labels: input.Manifest.Labels}
	}
	if input.History != nil {
		result.history = input.History.DeepCopy()
		// Omit the labels of its series: it was not measured here.
		result.history.ObjectMeta = metav1.ObjectMeta{Name: input.History.Name, Namespace: namespace, Labels: naming.Labels(input.Experiment.Name)}
	}
	for i := range input.Notes {
		kept := input.Notes[i].DeepCopy()
		// Omit labels, because a user could have set the operator's.
		kept.ObjectMeta = metav1.ObjectMeta{Name: kept.Name, Namespace: namespace}
		result.notes = append(result.notes, *kept)
	}
	return result, result.render()
}

// setImported keeps the exported part of an object's metadata. It keeps the
// generation, because the status refers to it.
func setImported(meta *metav1.ObjectMeta, namespace string, from provenance.Origin) {
	annotations := map[string]string{v1alpha1.AnnotationImported: from.String()}
	for _, name := range []string{v1alpha1.AnnotationElsewhere, v1alpha1.AnnotationRelease} {
		if value, found := meta.Annotations[name]; found {
			annotations[name] = value
		}
	}
	*meta = metav1.ObjectMeta{Name: meta.Name, Namespace: namespace, Generation: meta.Generation, Labels: meta.Labels, Annotations: annotations}
}

// unreferenced returns the ConfigMaps that no run refers to.
func (r *imported) unreferenced(all []corev1.ConfigMap) []string {
	kept := map[string]bool{}
	for _, recorded := range r.runs {
		for i := range recorded.raw {
			kept[recorded.raw[i].Name] = true
		}
	}
	var names []string
	for i := range all {
		if !kept[all[i].Name] {
			names = append(names, all[i].Name)
		}
	}
	return names
}

func (r *imported) rawResults() int {
	count := 0
	for _, recorded := range r.runs {
		count += len(recorded.raw)
	}
	return count
}

// render renders the report that the status refers to. It also renders without
// such a report, to check that the record is reportable.
func (r *imported) render() error {
	input := report.Input{Experiment: *r.experiment, Notes: r.notes}
	for _, recorded := range r.runs {
		input.Runs = append(input.Runs, *recorded.run)
		input.Raw = append(input.Raw, recorded.raw...)
	}
	document, err := report.New(input)
	if err != nil || r.experiment.Status.Report == "" {
		return err
	}
	if r.report, err = document.Object(); err != nil || r.experiment.Status.Evidence == nil {
		return err
	}
	// Another version of perflab may render the report differently.
	r.experiment.Status.Evidence.Report, err = evidence.ContentDigest(r.report)
	return err
}

// carryGenerations adapts the observed generations of a status to the imported
// object: the newest becomes the current one, others unknown.
func carryGenerations(observed *int64, conditions []metav1.Condition, before, now int64) {
	generations := []*int64{observed}
	for i := range conditions {
		generations = append(generations, &conditions[i].ObservedGeneration)
	}
	for _, generation := range generations {
		switch *generation {
		case 0:
		case before:
			*generation = now
		default:
			*generation = 0
		}
	}
}
