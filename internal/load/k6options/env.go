// SPDX-License-Identifier: Apache-2.0

package k6options

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// environment holds the variables of k6, and of the script in __ENV. Unknown values are
// unknown.
type environment struct{ k6, script map[string]any }

func newEnvironment(run Run, given arguments) environment {
	env := environment{k6: map[string]any{}}
	for name, value := range run.Env {
		env.k6[name] = value
	}
	for name := range run.Hidden {
		env.k6[name] = unknown{}
	}
	// While both are shared, variables from arguments apply to k6 as well.
	env.script = env.k6
	if !given.sharesEnvironment(run) {
		env.script = map[string]any{}
	}
	pairs, _ := given.set.GetStringArray("env")
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		env.script[name] = value
	}
	return env
}

// sharesEnvironment reports whether the script sees k6's variables.
func (a arguments) sharesEnvironment(run Run) bool {
	shares, err := a.set.GetBool("include-system-env-vars")
	if set, fault := strconv.ParseBool(run.Env["K6_INCLUDE_SYSTEM_ENV_VARS"]); fault == nil && !a.set.Changed("include-system-env-vars") {
		return set
	}
	return shares && err == nil
}

// layer returns the options in k6's variables.
func (e environment) layer() (layer, error) {
	found := layer{source: FromEnv, options: object{}}
	for variable, option := range map[string]string{
		"K6_VUS": optionUsers, "K6_ITERATIONS": optionIterations, "K6_DURATION": optionDuration, "K6_STAGES": optionStages,
	} {
		value, err := parseOption(option, e.k6[variable])
		if err != nil {
			return found, fmt.Errorf("%s is %q: %w", variable, e.k6[variable], err)
		}
		if value != nil {
			found.options[option] = value
		}
	}
	return found, nil
}

var errWhole = errors.New("write a whole number")

// parseOption parses a variable of an option; nil if k6 treats it as unset.
func parseOption(option string, value any) (any, error) {
	text, plain := value.(string)
	if !plain {
		return value, nil
	}
	switch option {
	case optionStages:
		if strings.TrimSpace(text) == "" {
			return []any{}, nil
		}
		return parseStages(strings.Split(text, ","))
	case optionDuration:
		if text == "" {
			return nil, nil
		}
		_, err := Duration(text)
		return text, err
	default:
		if text == "" || text == "null" {
			return nil, nil
		}
		if _, err := wholeNumber(text); err != nil {
			return nil, errWhole
		}
		return text, nil
	}
}
