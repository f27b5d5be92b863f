// SPDX-License-Identifier: Apache-2.0

package script

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"perflab.dev/perflab/internal/k6options"
	"perflab.dev/perflab/internal/load/kind"
)

// workflows is the script in PerfLab's image that is told how long to last.
const workflows = "/scripts/workflows.js"

// Length has k6's precedence: the script's arguments, its environment, its
// options.
func (s script) Length(assumed kind.Assumptions) (kind.Length, error) {
	env := s.values()
	for _, source := range []struct{ place, iterations, duration, stages string }{
		{"script.arguments", s.Argument("--iterations", "-i"), s.Argument("--duration", "-d"), s.stages()},
		{"script.env", env["K6_ITERATIONS"], env["K6_DURATION"], env["K6_STAGES"]},
	} {
		switch {
		case source.iterations != "":
			return lasting(source.place, 0, k6options.ErrIterations)
		case source.duration != "":
			lasts, err := k6options.Duration(source.duration)
			return lasting(source.place, lasts, err)
		case source.stages != "":
			lasts, err := k6options.Stages(source.stages)
			return lasting(source.place, lasts, err)
		}
	}
	if seconds := env["DURATION_SECONDS"]; s.Path == workflows && s.Script.Image == "" && seconds != "" {
		lasts, err := k6options.Duration(seconds + "s")
		return lasting("script.env", lasts, err)
	}
	return s.exported(assumed.ConfigMaps, env)
}

func lasting(place string, lasts time.Duration, err error) (kind.Length, error) {
	if err != nil {
		return kind.Length{}, fmt.Errorf("%s: %w", place, err)
	}
	return kind.Length{Lasts: lasts}, nil
}

// exported is what the script's own options say.
func (s script) exported(configMaps map[string]map[string]string, env map[string]string) (kind.Length, error) {
	key := s.ConfigMap
	if key == nil {
		return kind.Length{}, errors.New("only the script knows, which is in no ConfigMap")
	}
	files, given := configMaps[key.Name]
	if !given {
		return kind.Length{}, fmt.Errorf("only the script knows; add the file with ConfigMap %q with -f", key.Name)
	}
	source, found := files[key.Key]
	if !found {
		return kind.Length{}, fmt.Errorf("only the script knows, and ConfigMap %q has no key %q", key.Name, key.Key)
	}
	lasts, err := k6options.Length(source, env)
	if err != nil {
		return kind.Length{}, fmt.Errorf("the script in %s: %w", key.Key, err)
	}
	return kind.Length{Lasts: lasts, By: "the options in " + key.Key}, nil
}

// values are the variables that the script is given as they are.
func (s script) values() map[string]string {
	values := map[string]string{}
	for _, variable := range s.Env {
		if variable.ValueFrom == nil {
			values[variable.Name] = variable.Value
		}
	}
	return values
}

// stages joins what --stage gives, each time anew.
func (s script) stages() string {
	var stages []string
	arguments := s.Script.Arguments
	for i, argument := range arguments {
		name, value, joined := strings.Cut(argument, "=")
		switch {
		case name != "--stage" && name != "-s":
		case joined:
			stages = append(stages, value)
		case i+1 < len(arguments):
			stages = append(stages, arguments[i+1])
		}
	}
	return strings.Join(stages, ",")
}
