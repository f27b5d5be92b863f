// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// modules are a table per arm; arms with the same modules share one.
func modules(r *Record) []document.Block {
	var tables []*document.Table
	var arms [][]string
	for _, arm := range r.arms {
		rows := moduleRows(r, arm.Name)
		if len(rows) == 0 {
			continue
		}
		at := slices.IndexFunc(tables, func(known *document.Table) bool { return sameRows(known.Rows, rows) })
		if at < 0 {
			at = len(tables)
			tables, arms = append(tables, &document.Table{Columns: moduleColumns, Rows: rows}), append(arms, nil)
		}
		arms[at] = append(arms[at], arm.Name)
	}
	var blocks []document.Block
	for i, one := range tables {
		one.Caption = "Modules in " + joinAnd(arms[i]) + ": declared resources and values reported by the pods"
		blocks = append(blocks, document.Block{Table: one})
	}
	return blocks
}

var moduleColumns = slices.Concat(document.TextColumns("Module", "Image"), document.NumberColumns("Pods", "Memory limit, MiB", "Memory request, MiB", "CPU request"), document.TextColumns("JVM heap, declared"), document.NumberColumns("Effective heap, MiB"), document.TextColumns("Collector", "Digest"))

func sameRows(a, b []document.Row) bool {
	return slices.EqualFunc(a, b, func(x, y document.Row) bool { return slices.Equal(x.Cells, y.Cells) })
}

func moduleRows(r *Record, arm string) []document.Row {
	system, effective := arms.RecordedSystem(r.Runs, arm), cmp.Or(r.journal.effectiveSystem(arm), &v1alpha1.EffectiveSystem{})
	if system == nil {
		return nil
	}
	var rows []document.Row
	for i := range system.Modules {
		module := &system.Modules[i]
		granted := &v1alpha1.EffectiveModule{}
		if at := slices.IndexFunc(effective.Modules, func(known v1alpha1.EffectiveModule) bool { return known.Name == module.Name }); at >= 0 {
			granted = &effective.Modules[at]
		}
		rows = append(rows, moduleRow(module, granted))
	}
	return rows
}

func moduleRow(module *v1alpha1.Module, granted *v1alpha1.EffectiveModule) document.Row {
	limits, requests := module.Resources.Limits, module.Resources.Requests
	pods := digits.Dash
	if granted.Name != "" {
		pods = digits.Count(granted.Replicas)
	}
	heap := digits.Dash
	if granted.Heap != nil {
		heap = mebibytes(*granted.Heap)
	}
	return document.Row{Cells: append(nameCells(module.Name), document.TextCells(
		cmp.Or(shortImage(module.Image), digits.Dash), pods,
		quantity(limits, corev1.ResourceMemory), quantity(requests, corev1.ResourceMemory), quantity(requests, corev1.ResourceCPU),
		declaredHeap(module.JVM), heap, cmp.Or(granted.Collector, digits.Dash), cmp.Or(shortDigest(granted.ImageID), digits.Dash))...)}
}

func quantity(list corev1.ResourceList, of corev1.ResourceName) string {
	found, known := list[of]
	if !known {
		return digits.Dash
	}
	if of == corev1.ResourceMemory {
		return mebibytes(found)
	}
	return found.String()
}

func mebibytes(found resource.Quantity) string {
	return digits.Fixed(float64(found.Value())/(1<<20), 0)
}

func declaredHeap(jvm *v1alpha1.JVM) string {
	switch {
	case jvm == nil || jvm.Heap == nil:
		return digits.Dash
	case jvm.Heap.MaxRAMPercentage != "":
		return jvm.Heap.MaxRAMPercentage + digits.Space + "% of the limit"
	case jvm.Heap.Max != nil:
		return withUnit(mebibytes(*jvm.Heap.Max), "MiB")
	}
	return digits.Dash
}

// shortImage omits the registry, which is long and of little interest.
func shortImage(image string) string {
	if at := strings.LastIndexByte(image, '/'); at >= 0 {
		return image[at+1:]
	}
	return image
}

// shortDigest is enough of a digest to compare two by eye.
func shortDigest(imageID string) string {
	const enough = 12
	at := strings.LastIndex(imageID, "sha256:")
	if at < 0 {
		return imageID
	}
	digest := imageID[at+len("sha256:"):]
	return "sha256:" + digest[:min(len(digest), enough)]
}
