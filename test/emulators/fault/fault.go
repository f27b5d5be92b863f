// SPDX-License-Identifier: Apache-2.0

// Package fault reads from an object which failure an emulator simulates. One
// annotation selects it; an object without the annotation behaves as with the real
// operator.
package fault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Annotation holds a comma-separated list of faults, each a name with an
// optional argument: "pods-refused", "not-ready=RuntimeException".
const Annotation = "emulator.perflab.dev/fail"

// Faults by name, with the kind that each applies to and its argument.
const (
	// Ignore leaves an object of any kind unchanged, as if no operator were installed.
	Ignore = "ignore"
	// GoneAfterFirstStatus leaves a Kafka at NotReady=True/Creating, as if the operator stopped
	// after that.
	GoneAfterFirstStatus = "gone-after-first-status"
	// PodsRefused creates no Pods of a Kafka, as if admission rejected them.
	PodsRefused = "pods-refused"
	// BrokerLost deletes one Pod of a Kafka with its disks, without a grace period; the
	// argument is the node's id. It happens once: the emulator then removes it from the annotation.
	BrokerLost = "broker-lost"
	// NotReady fails a Kafka with NotReady=True; the argument is the exception class (default
	// RuntimeException).
	NotReady = "not-ready"
	// StuckCreated leaves a TestRun in stage created, with its runners paused.
	StuckCreated = "stuck-created"
	// InitializerError ends a TestRun in stage error, as a script that does not parse would.
	InitializerError = "initializer-error"
	// RunnerExit makes runners of a TestRun exit with a code after k6 has finished;
	// the argument is "code" for all runners or "index:code" for one.
	RunnerExit = "runner-exit"
	// StarterMisses makes the starter of a TestRun leave one runner paused; the argument is its
	// index, from 1.
	StarterMisses = "starter-misses"
)

var known = []string{
	Ignore, GoneAfterFirstStatus, NotReady, PodsRefused, BrokerLost,
	StuckCreated, InitializerError, RunnerExit, StarterMisses,
}

// Faults maps the name of a fault to its argument.
type Faults map[string]string

// Parse reads the faults from an object's annotations. An unknown name is an
// error: a misspelled fault must not let a test pass.
func Parse(annotations map[string]string) (Faults, error) {
	faults := Faults{}
	for item := range strings.SplitSeq(annotations[Annotation], ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		name, argument, _ := strings.Cut(strings.TrimSpace(item), "=")
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("annotation %s names the unknown fault %q (known: %s)",
				Annotation, name, strings.Join(known, ", "))
		}
		faults[name] = argument
	}
	return faults, nil
}

// Without returns the annotations without one of the faults.
func Without(annotations map[string]string, name string) map[string]string {
	left := slices.DeleteFunc(strings.Split(annotations[Annotation], ","), func(item string) bool {
		found, _, _ := strings.Cut(strings.TrimSpace(item), "=")
		return found == name
	})
	all := maps.Clone(annotations)
	delete(all, Annotation)
	if len(left) > 0 {
		all[Annotation] = strings.Join(left, ",")
	}
	return all
}

// Has reports whether the fault is set.
func (f Faults) Has(name string) bool {
	_, found := f[name]
	return found
}
