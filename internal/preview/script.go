// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/k6options"
)

// scriptLength is how long a script lasts, and by what.
type scriptLength struct {
	lasts time.Duration
	by    string
}

// script is how long a script lasts, with k6's precedence: its arguments, its
// environment, its options. The error says why that is not known.
func (a Assumptions) script(script *v1alpha1.Script) (scriptLength, error) {
	env := valuesOf(script)
	for _, source := range []struct{ by, iterations, duration, stages string }{
		{"arguments", script.Argument("--iterations", "-i"), script.Argument("--duration", "-d"), stagesIn(script)},
		{"env", env["K6_ITERATIONS"], env["K6_DURATION"], env["K6_STAGES"]},
	} {
		switch {
		case source.iterations != "":
			return scriptLength{}, fmt.Errorf("script.%s: %w", source.by, k6options.ErrIterations)
		case source.duration != "":
			lasts, err := k6options.Duration(source.duration)
			return scriptLength{lasts, "script." + source.by}, within("script."+source.by, err)
		case source.stages != "":
			lasts, err := k6options.Stages(source.stages)
			return scriptLength{lasts, "script." + source.by}, within("script."+source.by, err)
		}
	}
	return a.exported(script, env)
}

func within(place string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	return nil
}

// exported is what the script's own options say.
func (a Assumptions) exported(script *v1alpha1.Script, env map[string]string) (scriptLength, error) {
	key := script.ConfigMap
	if key == nil {
		return scriptLength{}, errors.New("only the script knows, which is in no ConfigMap")
	}
	files, given := a.ConfigMaps[key.Name]
	if !given {
		return scriptLength{}, fmt.Errorf("only the script knows; add the file with ConfigMap %q with -f", key.Name)
	}
	source, found := files[key.Key]
	if !found {
		return scriptLength{}, fmt.Errorf("only the script knows, and ConfigMap %q has no key %q", key.Name, key.Key)
	}
	lasts, err := k6options.Length(source, env)
	if err != nil {
		return scriptLength{}, fmt.Errorf("the script in %s: %w", key.Key, err)
	}
	return scriptLength{lasts, "the options in " + key.Key}, nil
}

// valuesOf are the variables a script is given as they are.
func valuesOf(script *v1alpha1.Script) map[string]string {
	values := map[string]string{}
	for _, variable := range script.Env {
		if variable.ValueFrom == nil {
			values[variable.Name] = variable.Value
		}
	}
	return values
}

// stagesIn joins what --stage gives, each time anew.
func stagesIn(script *v1alpha1.Script) string {
	var stages []string
	for i, argument := range script.Arguments {
		name, value, joined := strings.Cut(argument, "=")
		switch {
		case name != "--stage" && name != "-s":
		case joined:
			stages = append(stages, value)
		case i+1 < len(script.Arguments):
			stages = append(stages, script.Arguments[i+1])
		}
	}
	return strings.Join(stages, ",")
}

// scriptSentence says where the length of a script is from that the experiment
// does not tell.
func (a Assumptions) scriptSentence(load v1alpha1.Load) string {
	if load.Script == nil || load.Until != "" {
		return ""
	}
	length, err := a.script(load.Script)
	if err != nil || strings.HasPrefix(length.by, "script.") {
		return ""
	}
	return fmt.Sprintf("load %s lasts %s by %s", load.Name, Duration(length.lasts), length.by)
}

// unknown are the loads whose length is not known. One that lasts until another
// ends takes no time of its own.
func (a Assumptions) unknown(spec *v1alpha1.PerfExperimentSpec) []UnknownLength {
	var found []UnknownLength
	for _, scenario := range spec.Scenarios {
		for _, load := range scenario.Loads {
			if load.Script == nil || load.Until != "" {
				continue
			}
			if _, err := a.script(load.Script); err != nil {
				found = append(found, UnknownLength{scenario.Name, load.Name, err.Error()})
			}
		}
	}
	return found
}

// String says what is not known and what makes it known.
func (u UnknownLength) String() string {
	return fmt.Sprintf("load %s of scenario %s, whose length is not known: %s; where time is to end it, write script.arguments: [--duration, 30m]", u.Load, u.Scenario, u.Why)
}
