// SPDX-License-Identifier: Apache-2.0

// Package k6options says how k6 2.2 runs a script: with how many users, and for
// how long. It puts together what the script exports, k6's variables and its
// arguments as k6 does. It reads the script and runs nothing of it: what is no
// plain value is not known.
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

// Reasons for which an execution, or its length, is not known.
var (
	ErrIterations = errors.New("it ends when its iterations are done")
	ErrNone       = errors.New("it exports no options")
	ErrComputed   = errors.New("is computed when it runs")
	ErrSource     = errors.New("it can't be read as JavaScript")
	ErrAbsent     = errors.New("only the script knows")
	errVersion    = errors.New("not every version of k6 has users take the place of scenarios")
)

// Source is one of the places that options are from.
type Source int

// Sources of options. k6 heeds a later one before an earlier one.
const (
	FromScript Source = iota
	FromEnv
	FromArguments
)

// Refusal says why k6 ends before it begins.
type Refusal struct {
	Source Source
	Reason string
}

func (r *Refusal) Error() string { return r.Reason }

// Run is what k6 is started with.
type Run struct {
	// Script is nil where it is not at hand.
	Script    *Script
	Arguments []string
	Env       map[string]string
	// Hidden are variables that are set to what is not known here.
	Hidden map[string]bool
	// OtherVersion: k6 may not be 2.2.
	OtherVersion bool
}

// Execution is how k6 runs a script.
type Execution struct {
	// Source of what says how.
	Source Source
	// Replaces: the source takes the place of scenarios that the script exports.
	Replaces  bool
	scenarios object
	// own: they are those that the script exports.
	own bool
	// bare: nothing says how.
	bare bool
}

// Read says how k6 runs a script. Its error is a Refusal where k6 does not run
// it, or says why that is not known.
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

// readLayers a run, the lowest first.
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

// Length is how long an execution takes, from the start of its first scenario to
// the end of its last one, without what it needs to stop.
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

// Users are those of the scenario that has most. No more runners than these have
// something to do.
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

// check is what k6 has against the scenarios.
func (e Execution) check(script layer) error {
	for name, scenario := range e.each() {
		var fault *invalid
		if err := scenario.check(name); errors.As(err, &fault) {
			return &Refusal{e.Source, fault.Error()}
		}
		if function := scenario.function(); !script.exporting(function) {
			return &Refusal{FromScript, fmt.Sprintf("it exports no function %q: write export, or another exec", function)}
		}
	}
	return nil
}

// each scenario by name.
func (e Execution) each() func(yield func(string, scenario) bool) {
	return func(yield func(string, scenario) bool) {
		for _, name := range slices.Sorted(maps.Keys(e.scenarios)) {
			if !yield(name, newScenario(e.scenarios[name], e.place(name))) {
				return
			}
		}
	}
}

// place of a scenario, as its author knows it.
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
