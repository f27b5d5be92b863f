// SPDX-License-Identifier: Apache-2.0

package k6options

import "slices"

// Names of options in small letters, for k6 makes no difference.
const (
	optionUsers      = "vus"
	optionIterations = "iterations"
	optionDuration   = "duration"
	optionStages     = "stages"
	optionScenarios  = "scenarios"
)

// shapes are the options that say what users do. Who gives one takes all of those
// away that a lower source gives.
var shapes = []string{optionIterations, optionDuration, optionStages, optionScenarios}

// defaultScenario is what k6 calls the scenario that it makes of other options.
const defaultScenario = "default"

// layer is what one source says.
type layer struct {
	source  Source
	options object
	// err says why the options are not known.
	err error
	// exports of the script by name; nil: not known.
	exports map[string]bool
}

func (l layer) hasScenarios() bool {
	scenarios, plain := l.options[optionScenarios].(object)
	return len(scenarios) > 0 || !plain && l.options.has(optionScenarios)
}

// exporting says whether the script has a function, as far as it is known.
func (l layer) exporting(function string) bool {
	return function == "" || l.exports == nil || l.exports[function]
}

// uppermost is the last layer that gives one of the options, or may do so; with
// none of them, an empty one.
func uppermost(layers []layer, options ...string) layer {
	for _, layer := range slices.Backward(layers) {
		if layer.err != nil || slices.ContainsFunc(options, layer.options.has) {
			return layer
		}
	}
	return layer{options: object{}}
}

// derive makes scenarios of the options, as k6's DeriveScenariosFromShortcuts.
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

// findConflict is what k6 has against options of one source.
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
	return "k6 takes no " + given[len(given)-2] + " beside " + given[len(given)-1] + ": take one of them out"
}

// filled leaves stages out that have no duration, as k6 does, and says whether
// any is left.
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

// written are the scenarios as the script has them, or one of one user and one
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
