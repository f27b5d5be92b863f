// SPDX-License-Identifier: Apache-2.0

package script

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"perflab.dev/perflab/internal/load/k6options"
	"perflab.dev/perflab/internal/load/kind"
)

// workflows is a script of PerfLab's image with a duration setting.
const workflows = "/scripts/workflows.js"

// Length returns the duration that k6 derives from the script's arguments, variables and
// options.
func (s script) Length(assumed kind.Assumptions) (kind.Length, error) {
	execution, err := k6options.Read(s.run(assumed.ConfigMaps))
	if errors.Is(err, k6options.ErrAbsent) {
		return s.absent(assumed.ConfigMaps)
	}
	var lasts time.Duration
	if err == nil {
		lasts, err = execution.Length()
	}
	source := s.source(lengthSource(execution, err))
	if err != nil {
		return kind.Length{}, fmt.Errorf("%s: %w", source, err)
	}
	if execution.Source == k6options.FromScript {
		return kind.Length{Lasts: lasts, By: "the options in " + s.ConfigMap.Key}, nil
	}
	return kind.Length{Lasts: lasts}, nil
}

// absent returns the error for a script that is not available.
func (s script) absent(configMaps kind.ConfigMaps) (kind.Length, error) {
	if seconds := s.values()["DURATION_SECONDS"]; s.isWorkflows() && seconds != "" {
		lasts, err := k6options.Duration(seconds + "s")
		if err != nil {
			return kind.Length{}, fmt.Errorf("script.env: %w", err)
		}
		return kind.Length{Lasts: lasts}, nil
	}
	key := s.ConfigMap
	if key == nil {
		return kind.Length{}, fmt.Errorf("%w: it is not in a ConfigMap", k6options.ErrAbsent)
	}
	if _, given := configMaps[key.Name]; !given {
		return kind.Length{}, fmt.Errorf("%w: add the file with ConfigMap %q with -f", k6options.ErrAbsent, key.Name)
	}
	return kind.Length{}, fmt.Errorf("%w: ConfigMap %q has no key %q", k6options.ErrAbsent, key.Name, key.Key)
}

func (s script) isWorkflows() bool { return s.Path == workflows && s.Script.Image == "" }

// lengthSource returns the source of an error, or of the options.
func lengthSource(execution k6options.Execution, err error) k6options.Source {
	var refusal *k6options.Refusal
	if errors.As(err, &refusal) {
		return refusal.Source
	}
	return execution.Source
}

// source names a source of options.
func (s script) source(source k6options.Source) string {
	switch source {
	case k6options.FromArguments:
		return "script.arguments"
	case k6options.FromEnv:
		return "script.env"
	default:
		return "the script in " + s.ConfigMap.Key
	}
}

// run returns the known input of k6.
func (s script) run(configMaps kind.ConfigMaps) k6options.Run {
	run := k6options.Run{Arguments: s.Script.Arguments, Env: s.values(), Hidden: map[string]bool{}, OtherVersion: s.isOtherVersion()}
	for _, variable := range s.Env {
		if _, known := run.Env[variable.Name]; !known {
			run.Hidden[variable.Name] = true
		}
	}
	if key := s.ConfigMap; key != nil {
		if text, found := configMaps[key.Name][key.Key]; found {
			run.Script = &k6options.Script{Name: key.Key, Text: text}
		}
	}
	return run
}

// isOtherVersion reports whether k6 may be another version than PerfLab's 2.2.
func (s script) isOtherVersion() bool {
	_, tag, _ := strings.Cut(s.Script.Image[strings.LastIndex(s.Script.Image, "/")+1:], ":")
	return s.Script.Image != "" && tag != "2.2" && !strings.HasPrefix(tag, "2.2.")
}

// values returns the variables with literal values.
func (s script) values() map[string]string {
	values := map[string]string{}
	for _, variable := range s.Env {
		if variable.ValueFrom == nil && !strings.Contains(variable.Value, "$(") {
			values[variable.Name] = variable.Value
		}
	}
	return values
}
