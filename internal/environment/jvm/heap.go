// SPDX-License-Identifier: Apache-2.0

// Package jvm says which heap a JVM grants itself from its options and its
// container, edits options, and reads what a JVM logs about itself. It knows
// HotSpot of JDK 17 to 25 and is pure: no file, no process, no cluster.
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
	// defaultPercentage is MaxRAMPercentage where nothing sets it.
	defaultPercentage = 25.0
	// smallPercentage is MinRAMPercentage where nothing sets it: the share of
	// memory taken where half of it is less than leastHeap.
	smallPercentage = 50.0
	// leastHeap is what a JVM takes at least where there is enough memory: 96
	// MiB, and three tenths more on 64 bits.
	leastHeap = 96 * mebibyte * 13 / 10 / 8 * 8
	// mostMemory is what a JVM goes by at most where no percentage is set.
	mostMemory = 128 * gibibyte
)

// ErrMemoryUnknown says that the heap is a share of a memory nobody has told.
var ErrMemoryUnknown = errors.New("the heap is a share of the memory, and the container has no memory limit")

// ErrInitial says that the heap would start larger than it may become.
var ErrInitial = errors.New("the heap starts larger than it may become, so the JVM does not start: write a smaller -Xms")

// Machine is what a JVM finds: the limits of its container, or the node's size
// where there are none.
type Machine struct {
	// Memory in bytes; 0: unknown.
	Memory int64
	// Cores, rounded up; 0: unknown, and taken to be two or more.
	Cores int
}

// Source says what a heap's size comes from.
type Source string

// Sources of a heap's size.
const (
	// SourceSize: -Xmx or -XX:MaxHeapSize.
	SourceSize Source = "-Xmx"
	// SourcePercentage: -XX:MaxRAMPercentage.
	SourcePercentage Source = "MaxRAMPercentage"
	// SourceSmallMemory: the memory is under 250 MiB, where the JVM takes
	// MinRAMPercentage (50 unless set) and no heed of MaxRAMPercentage.
	SourceSmallMemory Source = "MinRAMPercentage"
	// SourceLeast: the percentage gives less than the 125 MiB the JVM takes at
	// least.
	SourceLeast Source = "JVM's least"
	// SourceInitial: -Xms is larger than what the percentage gives.
	SourceInitial Source = "-Xms"
	// SourceDefault: nothing is set; the JVM takes 25 %.
	SourceDefault Source = "JVM's default"
)

// Heap is the largest heap a JVM grants itself.
type Heap struct {
	Bytes  int64
	Source Source
}

// MaxHeap is the largest heap a JVM with these options grants itself on this
// machine, to the byte as it logs it. It fails on options the JVM would not
// take and with ErrMemoryUnknown.
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

// Percentage of the memory that a JVM with these options takes for its heap where
// they give no size.
func Percentage(options string) (float64, error) {
	set, err := read(options)
	return set.percentage, err
}

// share is the heap of a JVM that is told no size.
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

// choose is the collector a JVM takes by itself: G1 on what it calls a server.
func choose(machine Machine) string {
	const server = 1792 * mebibyte
	if machine.Cores == 1 || machine.Memory > 0 && machine.Memory < server {
		return Serial
	}
	return G1
}

// Alignment is what a collector rounds a heap of this size up to a multiple
// of, in bytes: 2 MiB, more for G1 and Shenandoah with large heaps. Two sizes
// of a heap that differ by less are the same wish.
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

// powerAbove is the smallest power of two that is not below a positive value.
func powerAbove(value int64) int64 { return 1 << bits.Len64(uint64(value-1)) }

func alignUp(value, alignment int64) int64 { return (value + alignment - 1) / alignment * alignment }

// settings are the options that bear on the heap.
type settings struct {
	maxHeap, initialHeap, maxRAM, regionSize int64
	percentage, smallPercentage              float64
	percentageSet, anyPercentage             bool
	collector                                string
}

// read goes through the options in order; the last one of a kind holds.
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
			// It is off again.
			s.collector = ""
		}
	}
	return err
}

// size reads a size as a JVM takes it: 3076m, 2G or bytes.
func size(option, text string) (int64, error) {
	number := strings.TrimRight(text, "kmgtKMGT")
	value, fits := bytes(number, text[len(number):])
	if !fits {
		return 0, fmt.Errorf("the JVM option %q has no size: write a whole number with k, m or g, for example 768m", option)
	}
	return value, nil
}

// units in bytes; without one a size is of bytes.
var units = map[string]int64{"": 1, "b": 1, "k": kibibyte, "m": mebibyte, "g": gibibyte, "t": 1024 * gibibyte}

// bytes says false where the number is no whole one, the unit is none, in either
// case, or their product is more than an int64 holds.
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
		return 0, fmt.Errorf("the JVM option %q has no percentage: write a number from 0 to 100, for example 66.0", option)
	}
	return value, nil
}
