// SPDX-License-Identifier: Apache-2.0

// Package provenance describes the origin of an imported experiment. Imported experiments and
// runs are records of measurements elsewhere: the operator does not change them.
package provenance

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
)

// Origin is where an experiment was measured, and when it was imported.
type Origin struct {
	Namespace, Name string
	UID             types.UID
	Imported        time.Time
}

// noUID represents an unknown UID.
const noUID = "-"

// IsImported reports whether an experiment or a run is a record of one elsewhere. Only the
// presence of the annotation matters, not its value.
func IsImported(object metav1.Object) bool {
	_, found := object.GetAnnotations()[v1alpha1.AnnotationImported]
	return found
}

// OriginOf returns where an experiment was measured: according to its annotation, or else
// here.
func OriginOf(object metav1.Object) Origin {
	here := Origin{Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID()}
	words := strings.Fields(object.GetAnnotations()[v1alpha1.AnnotationImported])
	if len(words) != 3 {
		return here
	}
	namespace, name, found := strings.Cut(words[0], "/")
	imported, err := time.Parse(time.RFC3339, words[2])
	if !found || err != nil {
		// Written manually: it is imported, and its origin is unknown.
		return here
	}
	uid := types.UID(words[1])
	if uid == noUID {
		uid = ""
	}
	return Origin{Namespace: namespace, Name: name, UID: uid, Imported: imported}
}

// String is the value of the annotation.
func (o Origin) String() string {
	return fmt.Sprintf("%s/%s %s %s", o.Namespace, o.Name, cmp.Or(string(o.UID), noUID), o.Imported.UTC().Format(time.RFC3339))
}

// Tool that generated an experiment's load; empty for PerfLab. It is part of the immutable
// declaration.
func Tool(spec *v1alpha1.PerfExperimentSpec) string {
	for _, scenario := range spec.Scenarios {
		for _, load := range scenario.Loads {
			if load.Elsewhere != nil {
				return load.Elsewhere.Tool
			}
		}
	}
	return ""
}

// Elsewhere describes the tool and the files of an experiment that PerfLab did not measure:
// measured elsewhere by JMeter, read from run1.jtl. It is empty for PerfLab's own experiments.
func Elsewhere(experiment *v1alpha1.PerfExperiment) string {
	tool := Tool(&experiment.Spec)
	if tool == "" {
		return ""
	}
	text := "measured elsewhere by " + tool
	if files := strings.TrimSpace(experiment.Annotations[v1alpha1.AnnotationElsewhere]); files != "" {
		text += fmt.Sprintf(", read from %s", files)
	}
	return text
}
