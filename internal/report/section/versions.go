// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/document"
)

// versionNames are the versions that a run records, in the order of the table.
var versionNames = []struct {
	name string
	of   func(v1alpha1.MetVersions) string
}{
	{"PerfLab", func(met v1alpha1.MetVersions) string { return met.PerfLab }},
	{"Kubernetes", func(met v1alpha1.MetVersions) string { return met.Kubernetes }},
	{"Strimzi", func(met v1alpha1.MetVersions) string { return met.Strimzi }},
	{"CloudNativePG", func(met v1alpha1.MetVersions) string { return met.CloudNativePG }},
	{"k6-operator", func(met v1alpha1.MetVersions) string { return met.K6Operator }},
	{"k6", func(met v1alpha1.MetVersions) string { return met.K6 }},
}

// versions are those of the valid runs, and the images outside the system. Several versions in a
// row were in use one after the other.
func versions(r *Record) []document.Block {
	met := &document.Table{Caption: "Versions in valid runs", Columns: document.TextColumns("Component", "Version")}
	images := &document.Table{Caption: "Images outside the system", Columns: document.TextColumns("Component", "Image")}
	known := r.runEvidence()
	if len(known) == 0 {
		return nil
	}
	for _, version := range versionNames {
		var found []string
		for _, one := range known {
			found = appendUnique(found, version.of(one.Versions))
		}
		text := "unknown"
		if len(found) > 0 {
			text = strings.Join(found, ", ")
		}
		met.Rows = append(met.Rows, document.Row{Cells: document.TextCells(version.name, text)})
	}
	var seen []v1alpha1.MetImage
	for _, one := range known {
		for _, image := range one.Images {
			if !slices.Contains(seen, image) {
				seen = append(seen, image)
				images.Rows = append(images.Rows, document.Row{Cells: []document.Cell{{Text: image.Of}, nameCell(image.ImageID)}})
			}
		}
	}
	return slices.Concat(met.Blocks(), images.Blocks())
}

// runEvidence is the evidence of the valid runs, in order.
func (r *Record) runEvidence() []v1alpha1.RunEvidence {
	var known []v1alpha1.RunEvidence
	for _, run := range r.journal.valid() {
		if run.Status.Evidence != nil {
			known = append(known, *run.Status.Evidence)
		}
	}
	return known
}

func appendUnique(all []string, one string) []string {
	if one == "" || slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}
