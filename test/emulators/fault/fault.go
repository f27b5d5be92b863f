// SPDX-License-Identifier: Apache-2.0

// Package fault reads from an object which failure an emulator shall fake.
// A test asks for it with one annotation; everything without the annotation
// behaves as the real operator would.
package fault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Annotation holds a comma separated list of faults, each a name with an
// optional argument: "pods-refused", "not-ready=RuntimeException".
const Annotation = "emulator.perflab.dev/fail"

// Faults by name. The comment says on which kind each works and what its argument is.
const (
	// Ignore leaves the object alone, as if no operator were installed. Any kind.
	Ignore = "ignore"
	// GoneAfterFirstStatus leaves a Kafka at NotReady=True/Creating, as an operator that goes away then would.
	GoneAfterFirstStatus = "gone-after-first-status"
	// PodsRefused creates no Pods of a Kafka, as if admission refused them.
	PodsRefused = "pods-refused"
	// BrokerLost takes one Pod of a Kafka away, at once and with its disks; the argument is the
	// node's id. It happens once: the fault is taken off the annotation when it is done.
	BrokerLost = "broker-lost"
	// NotReady fails a Kafka with NotReady=True; the argument is the exception class (default RuntimeException).
	NotReady = "not-ready"
	// StuckCreated leaves a TestRun in stage created for ever, its runners paused.
	StuckCreated = "stuck-created"
	// InitializerError ends a TestRun in stage error, as a script that does not parse would.
	InitializerError = "initializer-error"
	// RunnerExit lets runners of a TestRun exit with a code after k6 has run to its end;
	// the argument is "code" for all runners or "index:code" for one.
	RunnerExit = "runner-exit"
	// StarterMisses lets the starter of a TestRun leave one runner paused; the argument is its index, from 1.
	StarterMisses = "starter-misses"
)

var known = []string{
	Ignore, GoneAfterFirstStatus, NotReady, PodsRefused, BrokerLost,
	StuckCreated, InitializerError, RunnerExit, StarterMisses,
}

// Faults maps the name of a fault to its argument.
type Faults map[string]string

// Parse reads the faults from an object's annotations. An unknown name is an
// error: a test that misspells a fault must not pass for the wrong reason.
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

// Without returns annotations that ask for all but one of the faults.
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

// Has tells whether the fault is asked for.
func (f Faults) Has(name string) bool {
	_, found := f[name]
	return found
}
