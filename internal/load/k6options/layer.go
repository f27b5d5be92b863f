// SPDX-License-Identifier: Apache-2.0

package k6options

import "slices"

// Names of options in lower case, because k6 is case-insensitive.
const (
	optionUsers      = "vus"
	optionIterations = "iterations"
	optionDuration   = "duration"
	optionStages     = "stages"
	optionScenarios  = "scenarios"
)

// shapes are the options that configure users. A source that sets one overrides all of
// those of lower sources.
var shapes = []string{optionIterations, optionDuration, optionStages, optionScenarios}

// defaultScenario is k6's name for the scenario that it derives from other options.
const defaultScenario = "default"

// layer holds the options of one source.
type layer struct {
	source  Source
	options object
	// err is why the options are unknown.
	err error
	// exports of the script by name; nil if unknown.
	exports map[string]bool
}

func (l layer) hasScenarios() bool {
	scenarios, plain := l.options[optionScenarios].(object)
	return len(scenarios) > 0 || !plain && l.options.has(optionScenarios)
}

// exporting reports whether the script may export the function.
func (l layer) exporting(function string) bool {
	return function == "" || l.exports == nil || l.exports[function]
}

// uppermost returns the last layer that sets, or may set, one of the options; else an empty
// one.
func uppermost(layers []layer, options ...string) layer {
	for _, layer := range slices.Backward(layers) {
		if layer.err != nil || slices.ContainsFunc(options, layer.options.has) {
			return layer
		}
	}
	return layer{options: object{}}
}

// derive derives scenarios from the options, as k6's DeriveScenariosFromShortcuts.
func derive(shape, from layer) (Execution, error) {
	options, users := shape.options, from.options[optionUsers]
	if from.err != nil {
		users = unknown{}
	}
	stages, hasStages := filled(options[optionStages])
	if conflict := findConflict(options, hasStages); conflict != "" {
		return Execution{}, &Refusal{shape.source, conflict}
	}
	made := func(source Source, scenario object) (Execution, error) {
		return Execution{Source: source, scenarios: object{defaultScenario: scenario}}, nil
	}
	switch {
	case options.has(optionIterations):
		return made(shape.source, object{"executor": "shared-iterations", "vus": users, "iterations": options[optionIterations], "maxduration": options[optionDuration]})
	case options.has(optionDuration):
		return made(shape.source, object{"executor": "constant-vus", "vus": users, "duration": options[optionDuration]})
	case hasStages:
		return made(shape.source, object{"executor": "ramping-vus", "startvus": users, "stages": stages})
	case users != nil && !options.has(optionStages):
		return made(from.source, object{"executor": "shared-iterations", "vus": users, "iterations": users})
	default:
		return written(shape)
	}
}

// findConflict returns why k6 rejects the options of one source.
func findConflict(options object, hasStages bool) string {
	var given []string
	for _, name := range shapes {
		if name == optionStages && hasStages || name != optionStages && options.has(name) {
			given = append(given, name)
		}
	}
	if len(given) < 2 || len(given) == 2 && given[0] == optionIterations && given[1] == optionDuration {
		return ""
	}
	return "k6 does not accept " + given[len(given)-2] + " together with " + given[len(given)-1] + ": remove one of them"
}

// filled removes stages without a duration, as k6 does, and reports whether any remain.
func filled(stages any) (any, bool) {
	list, plain := stages.([]any)
	if !plain {
		return stages, stages != nil
	}
	kept := slices.DeleteFunc(slices.Clone(list), func(stage any) bool {
		fields, plain := stage.(object)
		return plain && !fields.lower().has(optionDuration)
	})
	return kept, len(kept) > 0
}

// written returns the scenarios of the script, or the default of one user and one
// iteration.
func written(shape layer) (Execution, error) {
	switch scenarios := shape.options[optionScenarios].(type) {
	case nil:
	case object:
		if len(scenarios) > 0 {
			return Execution{Source: shape.source, scenarios: scenarios, own: true}, nil
		}
	default:
		return Execution{}, errComputed("options." + optionScenarios)
	}
	return Execution{bare: true, scenarios: object{defaultScenario: object{"executor": "per-vu-iterations"}}}, nil
}
