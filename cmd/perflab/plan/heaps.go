// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/internal/planning/preview"
	"perflab.dev/perflab/internal/text/prose"
)

func writeHeaps(p *console.Page, shown preview.Preview) {
	if len(shown.Heaps) == 0 {
		return
	}
	p.Heading(console.ColorStrong, "Largest heap of each JVM")
	p.Table(heapRows(shown))
	for _, shift := range shown.HeapShifts {
		p.Line("  %s", formatShift(shift))
	}
	if unknown := modulesWithoutLimit(shown.Heaps); len(unknown) > 0 {
		p.Line("  unknown in MiB: the memory %s of %s %s not declared; declare resources.limits.memory",
			prose.Verb(len(unknown), "limit", "limits"), prose.Enumerate(unknown), prose.Verb(len(unknown), "is", "are"))
	}
}

// heapRows has a row for each module and a column for each arm, or one column
// if all arms have the same heaps.
func heapRows(shown preview.Preview) [][]string {
	rows := [][]string{{"module", "memory limit"}}
	for _, arm := range shown.Arms {
		if !arm.Twin {
			rows[0] = append(rows[0], arm.Name)
		}
	}
	alike := true
	for _, name := range distinctValues(shown.Heaps, func(heap preview.Heap) string { return heap.Module }) {
		heaps := slices.DeleteFunc(slices.Clone(shown.Heaps), func(heap preview.Heap) bool { return heap.Module != name })
		cells := make([]string, 0, len(heaps))
		for _, heap := range heaps {
			cells = append(cells, formatHeap(heap))
		}
		alike = alike && len(slices.Compact(slices.Clone(cells))) == 1
		limits := distinctValues(heaps, func(heap preview.Heap) string { return formatSize(heap.Limit) })
		rows = append(rows, append([]string{name, strings.Join(limits, ", ")}, cells...))
	}
	if !alike {
		return rows
	}
	rows[0][2] = "every arm"
	for i := range rows {
		rows[i] = rows[i][:3]
	}
	return rows
}

// distinctValues returns the heaps' distinct values in order.
func distinctValues(heaps []preview.Heap, value func(preview.Heap) string) []string {
	var values []string
	for _, heap := range heaps {
		if text := value(heap); !slices.Contains(values, text) {
			values = append(values, text)
		}
	}
	return values
}

func formatHeap(heap preview.Heap) string {
	switch {
	case heap.Bytes > 0:
		return formatSize(heap.Bytes)
	case heap.Percent > 0:
		return fmt.Sprintf("%g %% of the limit", heap.Percent)
	default:
		return heap.Unknown
	}
}

// modulesWithoutLimit returns modules whose heap is a share of an undeclared
// limit.
func modulesWithoutLimit(heaps []preview.Heap) []string {
	without := slices.DeleteFunc(slices.Clone(heaps), func(heap preview.Heap) bool { return heap.Percent == 0 })
	return distinctValues(without, func(heap preview.Heap) string { return heap.Module })
}

func formatShift(shift preview.HeapShift) string {
	text := fmt.Sprintf("%s against the baseline: larger in %s, smaller in %d, the same in %d",
		shift.Arm, prose.Counted(shift.Larger, "module"), shift.Smaller, shift.Same)
	if shift.Unknown > 0 {
		text += fmt.Sprintf(", unknown in %d", shift.Unknown)
	}
	least, most := fmt.Sprintf("%+.1f %%", shift.MinPercent), fmt.Sprintf("%+.1f %%", shift.MaxPercent)
	if least == most {
		return fmt.Sprintf("%s (%s)", text, least)
	}
	return fmt.Sprintf("%s (%s to %s)", text, least, most)
}

// formatSize formats bytes in MiB, with a decimal if necessary.
func formatSize(bytes int64) string {
	if bytes == 0 {
		return "not declared"
	}
	const mebibyte = 1 << 20
	if bytes%mebibyte == 0 {
		return fmt.Sprintf("%d MiB", bytes/mebibyte)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/mebibyte)
}
