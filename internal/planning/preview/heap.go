// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"errors"
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/jvm"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/planning/arms"
)

// Heap is the maximum heap of a module's JVMs in an arm.
type Heap struct {
	Module string `json:"module"`
	Arm    string `json:"arm"`
	// Limit is the memory limit in bytes; 0 if there is none.
	Limit int64 `json:"limitBytes,omitempty"`
	// Bytes of the heap; 0 if unknown, with the reason in Unknown.
	Bytes   int64  `json:"heapBytes,omitempty"`
	Source  string `json:"source,omitempty"`
	Unknown string `json:"unknown,omitempty"`
	// Percent of an undeclared memory limit; 0 if the heap is known, or unknown for another
	// reason.
	Percent float64 `json:"percentOfLimit,omitempty"`
}

// HeapShift compares an arm's heaps with the baseline's.
type HeapShift struct {
	Arm string `json:"arm"`
	// Larger, Smaller and Same count the modules whose heap is declared and known in both
	// arms; Unknown counts the others.
	Larger  int `json:"larger"`
	Smaller int `json:"smaller"`
	Same    int `json:"same"`
	Unknown int `json:"unknown,omitempty"`
	// MinPercent and MaxPercent bound the differences of changed heaps.
	MinPercent float64 `json:"leastPercent"`
	MaxPercent float64 `json:"mostPercent"`
}

// heaps lists the heap of every module that declares one in any arm: a JVM's default heap
// is no factor.
func heaps(all []arms.Arm) []Heap {
	declared := map[string]bool{}
	for _, arm := range all {
		for _, module := range arm.System.Modules {
			declared[module.Name] = declared[module.Name] || module.JVM != nil && module.JVM.Heap != nil
		}
	}
	var listed []Heap
	for _, arm := range all {
		for _, module := range arm.System.Modules {
			if declared[module.Name] {
				listed = append(listed, newHeap(arm.Name, module))
			}
		}
	}
	return listed
}

func newHeap(arm string, module v1alpha1.Module) Heap {
	heap := Heap{Module: module.Name, Arm: arm, Limit: module.Resources.Limits.Memory().Value()}
	granted, err := modules.Heap(module)
	if errors.Is(err, jvm.ErrMemoryUnknown) {
		options, _ := modules.JavaOptions(module)
		// The options were parsed before.
		heap.Percent, _ = jvm.Percentage(options)
		heap.Unknown = fmt.Sprintf("%g %% of a memory limit that is not declared: declare resources.limits.memory", heap.Percent)
		return heap
	}
	if err != nil {
		heap.Unknown = err.Error()
		return heap
	}
	heap.Bytes, heap.Source = granted.Bytes, string(granted.Source)
	return heap
}

func heapShifts(all []arms.Arm, heaps []Heap) []HeapShift {
	baseline, found := arms.Baseline(all)
	if !found {
		return nil
	}
	before := map[string]int64{}
	for _, heap := range heaps {
		if heap.Arm == baseline.Name {
			before[heap.Module] = heap.Bytes
		}
	}
	var shifts []HeapShift
	for _, arm := range all {
		if arm.Baseline {
			continue
		}
		if shift := newHeapShift(arm.Name, before, heaps); shift.Larger+shift.Smaller > 0 {
			shifts = append(shifts, shift)
		}
	}
	return shifts
}

func newHeapShift(arm string, before map[string]int64, heaps []Heap) HeapShift {
	shift := HeapShift{Arm: arm}
	for _, heap := range heaps {
		if heap.Arm == arm {
			shift.add(before[heap.Module], heap.Bytes)
		}
	}
	return shift
}

// add compares a module's heap in the baseline and in the arm.
func (s *HeapShift) add(before, after int64) {
	switch {
	case before == 0 || after == 0:
		s.Unknown++
		return
	case after == before:
		s.Same++
		return
	}
	percent := 100 * (float64(after)/float64(before) - 1)
	if s.Larger+s.Smaller == 0 {
		s.MinPercent, s.MaxPercent = percent, percent
	}
	s.MinPercent, s.MaxPercent = min(s.MinPercent, percent), max(s.MaxPercent, percent)
	if after > before {
		s.Larger++
		return
	}
	s.Smaller++
}
