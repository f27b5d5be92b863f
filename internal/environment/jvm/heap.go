// SPDX-License-Identifier: Apache-2.0

// Package jvm computes the maximum heap of a JVM from its options and its container, edits
// options, and parses what a JVM logs about itself. It covers HotSpot of JDK 17 to 25 and
// is pure: no file, no process, no cluster.
//
//	machine := jvm.Machine{Memory: 1 << 30}
//	heap, err := jvm.MaxHeap("-XX:MaxRAMPercentage=66.0", machine)
//	// heap.Bytes is 676 MiB, heap.Source is jvm.SourcePercentage
package jvm

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

const (
	kibibyte int64 = 1 << 10
	mebibyte int64 = 1 << 20
	gibibyte int64 = 1 << 30
)

const (
	// defaultPercentage is the default of MaxRAMPercentage.
	defaultPercentage = 25.0
	// smallPercentage is the default of MinRAMPercentage: the share of memory that applies
	// if half of it is less than leastHeap.
	smallPercentage = 50.0
	// leastHeap is the minimum heap if there is enough memory: 96 MiB, plus three tenths on
	// 64 bits.
	leastHeap = 96 * mebibyte * 13 / 10 / 8 * 8
	// mostMemory is the memory limit that applies without a percentage.
	mostMemory = 128 * gibibyte
)

// ErrMemoryUnknown means that the heap is a share of unknown memory.
var ErrMemoryUnknown = errors.New("the heap is a percentage of the memory, but the container has no memory limit")

// ErrInitial means that the initial heap exceeds the maximum.
var ErrInitial = errors.New("the initial heap is larger than the maximum heap, so the JVM does not start: write a smaller -Xms")

// Machine is the environment that a JVM detects: the limits of its container, or else the
// node's size.
type Machine struct {
	// Memory in bytes; 0: unknown.
	Memory int64
	// Cores, rounded up; 0 if unknown, which is treated as two or more.
	Cores int
}

// Source is the origin of a heap's size.
type Source string

// Sources of a heap's size.
const (
	// SourceSize: -Xmx or -XX:MaxHeapSize.
	SourceSize Source = "-Xmx"
	// SourcePercentage: -XX:MaxRAMPercentage.
	SourcePercentage Source = "MaxRAMPercentage"
	// SourceSmallMemory: the memory is under 250 MiB, where the JVM uses MinRAMPercentage
	// (default 50) instead of MaxRAMPercentage.
	SourceSmallMemory Source = "MinRAMPercentage"
	// SourceLeast: the percentage gives less than the minimum of 125 MiB.
	SourceLeast Source = "JVM's least"
	// SourceInitial: -Xms exceeds the size from the percentage.
	SourceInitial Source = "-Xms"
	// SourceDefault: nothing is set, so the heap is 25 %.
	SourceDefault Source = "JVM's default"
)

// Heap is the maximum heap of a JVM.
type Heap struct {
	Bytes  int64
	Source Source
}

// MaxHeap returns the maximum heap of a JVM with these options on this machine, to the byte
// as it logs it. It fails on invalid options and with ErrMemoryUnknown.
func MaxHeap(options string, machine Machine) (Heap, error) {
	set, err := read(options)
	if err != nil {
		return Heap{}, err
	}
	heap := Heap{Bytes: set.maxHeap, Source: SourceSize}
	if set.maxHeap > 0 && set.initialHeap > set.maxHeap {
		return Heap{}, ErrInitial
	}
	if set.maxHeap == 0 {
		if heap, err = share(set, machine); err != nil {
			return Heap{}, err
		}
	}
	collector := set.collector
	if collector == "" {
		collector = choose(machine)
	}
	heap.Bytes = alignUp(heap.Bytes, max(set.regionSize, Alignment(collector, heap.Bytes)))
	return heap, nil
}

// Percentage returns the share of memory that a JVM with these options uses for its heap if
// they set no size.
func Percentage(options string) (float64, error) {
	set, err := read(options)
	return set.percentage, err
}

// share returns the heap of a JVM without a set size.
func share(set settings, machine Machine) (Heap, error) {
	memory := machine.Memory
	if set.maxRAM > 0 {
		memory = set.maxRAM
	}
	if memory == 0 {
		return Heap{}, ErrMemoryUnknown
	}
	if !set.anyPercentage {
		memory = min(memory, mostMemory)
	}
	heap := Heap{Bytes: part(memory, set.percentage), Source: SourceDefault}
	if set.percentageSet {
		heap.Source = SourcePercentage
	}
	small := part(memory, set.smallPercentage)
	switch {
	case small < leastHeap:
		heap = Heap{Bytes: small, Source: SourceSmallMemory}
	case heap.Bytes < leastHeap:
		heap = Heap{Bytes: leastHeap, Source: SourceLeast}
	}
	if set.initialHeap > heap.Bytes {
		heap = Heap{Bytes: set.initialHeap, Source: SourceInitial}
	}
	return heap, nil
}

func part(memory int64, percentage float64) int64 {
	return int64(float64(memory) * percentage / 100)
}

// choose returns the default collector: G1 on a server-class machine.
func choose(machine Machine) string {
	const server = 1792 * mebibyte
	if machine.Cores == 1 || machine.Memory > 0 && machine.Memory < server {
		return Serial
	}
	return G1
}

// Alignment returns the multiple to which a collector rounds up a heap of this size, in
// bytes: 2 MiB, more for G1 and Shenandoah with large heaps. Heaps that differ by less are
// equal.
func Alignment(collector string, heap int64) int64 {
	const regions, largest = 2048, 32 * mebibyte
	region := max(1, heap/regions)
	switch collector {
	case G1:
		return clamp(powerAbove(region), 2*mebibyte, largest)
	case Shenandoah:
		return clamp(powerAbove(region+1)/2, 256*kibibyte, largest)
	default:
		return 2 * mebibyte
	}
}

func clamp(value, least, most int64) int64 { return max(least, min(value, most)) }

// powerAbove returns the smallest power of two that is at least a positive value.
func powerAbove(value int64) int64 { return 1 << bits.Len64(uint64(value-1)) }

func alignUp(value, alignment int64) int64 { return (value + alignment - 1) / alignment * alignment }

// settings are the options that affect the heap.
type settings struct {
	maxHeap, initialHeap, maxRAM, regionSize int64
	percentage, smallPercentage              float64
	percentageSet, anyPercentage             bool
	collector                                string
}

// read parses the options in order; the last one of a kind applies.
func read(options string) (settings, error) {
	set := settings{percentage: defaultPercentage, smallPercentage: smallPercentage}
	for _, word := range SplitOptions(options) {
		if err := set.take(unquoted(word)); err != nil {
			return settings{}, err
		}
	}
	return set, nil
}

func (s *settings) take(option string) (err error) {
	name, value := split(option)
	switch name {
	case maxHeapSize:
		s.maxHeap, err = size(option, value)
	case initialHeapSize, minHeapSize:
		s.initialHeap, err = size(option, value)
	case "MaxRAM":
		s.maxRAM, err = size(option, value)
	case "G1HeapRegionSize":
		s.regionSize, err = size(option, value)
	case maxRAMPercentage:
		s.percentageSet, s.anyPercentage = true, true
		s.percentage, err = percentage(option, value)
	case minRAMPercentage:
		s.anyPercentage = true
		s.smallPercentage, err = percentage(option, value)
	case collectorOption:
		s.collector = collectors[strings.TrimPrefix(option, "-XX:+")]
	default:
		if collectors[name] == s.collector {
			// A later option disables it.
			s.collector = ""
		}
	}
	return err
}

// size parses a size as a JVM does: 3076m, 2G or bytes.
func size(option, text string) (int64, error) {
	number := strings.TrimRight(text, "kmgtKMGT")
	value, fits := bytes(number, text[len(number):])
	if !fits {
		return 0, fmt.Errorf("the JVM option %q does not have a valid size: write a whole number with k, m or g, for example 768m", option)
	}
	return value, nil
}

// units in bytes; a size without a unit is in bytes.
var units = map[string]int64{"": 1, "b": 1, "k": kibibyte, "m": mebibyte, "g": gibibyte, "t": 1024 * gibibyte}

// bytes returns false if the number is no integer, the unit is unknown, or the product
// overflows.
func bytes(number, unit string) (int64, bool) {
	factor, known := units[strings.ToLower(unit)]
	value, err := strconv.ParseInt(number, 10, 64)
	if !known || err != nil || value < 0 || value > math.MaxInt64/factor {
		return 0, false
	}
	return value * factor, true
}

func percentage(option, text string) (float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !(value >= 0 && value <= 100) {
		return 0, fmt.Errorf("the JVM option %q does not have a valid percentage: write a number from 0 to 100, for example 66.0", option)
	}
	return value, nil
}
