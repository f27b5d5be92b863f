// SPDX-License-Identifier: Apache-2.0

// Package k6options determines how k6 2.2 runs a script: with how many users, and for how
// long. It merges the script's exported options, k6's variables and its arguments as k6
// does. It parses the script without running it: computed values are unknown.
//
//	script := &k6options.Script{Text: `export const options = {duration: '2m'}`}
//	execution, err := k6options.Read(k6options.Run{Script: script})
//	length, err := execution.Length()
//	// length is 2m
package k6options

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Reasons why an execution, or its length, is unknown.
var (
	ErrIterations = errors.New("it ends when its iterations are done")
	ErrNone       = errors.New("it exports no options")
	ErrComputed   = errors.New("is computed at run time")
	ErrSource     = errors.New("it can't be parsed as JavaScript")
	ErrAbsent     = errors.New("the script is unavailable")
	errVersion    = errors.New("not every version of k6 replaces scenarios when users are set")
)

// Source is a source of options.
type Source int

// Sources of options. Later ones override earlier ones.
const (
	FromScript Source = iota
	FromEnv
	FromArguments
)

// Refusal is why k6 does not start.
type Refusal struct {
	Source Source
	Reason string
}

func (r *Refusal) Error() string { return r.Reason }

// Run is the input of a k6 run.
type Run struct {
	// Script is nil if it is not available.
	Script    *Script
	Arguments []string
	Env       map[string]string
	// Hidden are variables with unknown values.
	Hidden map[string]bool
	// OtherVersion: k6 may not be 2.2.
	OtherVersion bool
}

// Execution is how k6 runs a script.
type Execution struct {
	// Source of the options.
	Source Source
	// Replaces: the source replaces scenarios that the script exports.
	Replaces  bool
	scenarios object
	// own: the script exports the scenarios.
	own bool
	// bare: no source sets the options.
	bare bool
}

// Read returns how k6 runs a script. The error is a Refusal if k6 does not start, or the reason why
// that is unknown.
func Read(run Run) (Execution, error) {
	layers, err := readLayers(run)
	if err != nil {
		return Execution{}, err
	}
	shape, users := uppermost(layers, shapes...), uppermost(layers, optionUsers)
	switch {
	case shape.err != nil:
		return Execution{Source: shape.source}, shape.err
	case run.OtherVersion && users.source > shape.source && shape.options.has(optionScenarios):
		return Execution{Source: users.source}, errVersion
	}
	execution, err := derive(shape, users)
	if err != nil {
		return Execution{}, err
	}
	script := layers[1]
	execution.Replaces = script.hasScenarios() && !execution.own
	return execution, execution.check(script)
}

// readLayers returns the sources of a run, the lowest first.
func readLayers(run Run) ([]layer, error) {
	given, err := readArguments(run.Arguments, run.OtherVersion)
	if err != nil {
		return nil, &Refusal{FromArguments, err.Error()}
	}
	over, err := given.layer()
	if err != nil {
		return nil, &Refusal{FromArguments, err.Error()}
	}
	env := newEnvironment(run, given)
	variables, err := env.layer()
	if err != nil {
		return nil, &Refusal{FromEnv, err.Error()}
	}
	return []layer{given.file(env), readScript(run.Script, env), variables, over}, nil
}

// Length returns the duration of an execution, from the start of its first scenario to the
// end of its last one, without the time to stop.
func (e Execution) Length() (time.Duration, error) {
	if e.bare {
		return 0, ErrNone
	}
	last := time.Duration(0)
	for _, scenario := range e.each() {
		end, err := scenario.end()
		if err != nil {
			return 0, err
		}
		last = max(last, end)
	}
	return last, nil
}

// Users returns the number of users of the largest scenario, which is the largest useful
// number of runners.
func (e Execution) Users() (int64, error) {
	most := int64(0)
	for _, scenario := range e.each() {
		users, err := scenario.users()
		if err != nil {
			return 0, err
		}
		most = max(most, users)
	}
	return most, nil
}

// IsOpen reports whether iterations of some scenario arrive at a rate, whatever the system takes.
func (e Execution) IsOpen() (bool, error) {
	for _, scenario := range e.each() {
		known, err := scenario.executor()
		if err != nil || slices.Contains(known.fields, "timeunit") {
			return err == nil, err
		}
	}
	return false, nil
}

// check returns why k6 rejects the scenarios.
func (e Execution) check(script layer) error {
	for name, scenario := range e.each() {
		var fault *invalid
		if err := scenario.check(name); errors.As(err, &fault) {
			return &Refusal{e.Source, fault.Error()}
		}
		if function := scenario.function(); !script.exporting(function) {
			return &Refusal{FromScript, fmt.Sprintf("it does not export function %q: export it, or set another exec", function)}
		}
	}
	return nil
}

// each iterates over the scenarios by name.
func (e Execution) each() func(yield func(string, scenario) bool) {
	return func(yield func(string, scenario) bool) {
		for _, name := range slices.Sorted(maps.Keys(e.scenarios)) {
			if !yield(name, newScenario(e.scenarios[name], e.place(name))) {
				return
			}
		}
	}
}

// place describes a scenario for its author.
func (e Execution) place(name string) string {
	switch {
	case e.own:
		return "options." + optionScenarios + "." + name
	case e.Source == FromScript:
		return "options"
	default:
		return ""
	}
}
