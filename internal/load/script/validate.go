// SPDX-License-Identifier: Apache-2.0

package script

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/internal/load/k6options"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/text/prose"
)

// ownFlags are flags of k6 run that PerfLab or k6-operator sets for every load; help runs
// no test.
var ownFlags = regexp.MustCompile(`^(out|summary-.*|no-summary|no-thresholds|paused|address|execution-segment.*|tag|help)$`)

// Validate rejects scripts that k6 does not run, and idle runners.
func (s script) Validate(path *field.Path, configMaps kind.ConfigMaps) (faults field.ErrorList, warnings []kind.Warning) {
	place := path.Child("script")
	faults = s.flagFaults(place.Child("arguments"))
	if s.isSummary() && s.load.ParallelismOrDefault() > 1 {
		warnings = []kind.Warning{kind.Warningf(place, "percentiles of several runners can't be merged from k6's own summaries, so load %q has none: use one runner, or an image with PerfLab's output and results: Histograms", s.load.Name)}
	}
	if len(faults) > 0 {
		return faults, warnings
	}
	execution, err := k6options.Read(s.run(configMaps))
	var refusal *k6options.Refusal
	if errors.As(err, &refusal) {
		fault := s.refusalFault(place, refusal)
		if s.isOtherVersion() {
			message := fmt.Sprintf("load %q has its own image, and k6 2.2 would not run its script: %s", s.load.Name, refusal.Reason)
			return nil, append(warnings, kind.Warning{Message: message, Path: fault.Field})
		}
		return field.ErrorList{fault}, warnings
	}
	if execution.Replaces {
		warnings = append(warnings, s.replacedWarning(place, execution))
	}
	return s.runnerFaults(path.Child("parallelism"), execution, err), warnings
}

func (s script) flagFaults(place *field.Path) field.ErrorList {
	var faults field.ErrorList
	for _, flag := range k6options.Flags(s.Script.Arguments) {
		if argument := s.Script.Arguments[flag.Index]; ownFlags.MatchString(flag.Name) {
			faults = append(faults, field.Invalid(place.Index(flag.Index), argument, argument+" is set by PerfLab: remove it"))
		}
	}
	return faults
}

func (s script) refusalFault(place *field.Path, refusal *k6options.Refusal) *field.Error {
	switch refusal.Source {
	case k6options.FromArguments:
		return field.Invalid(place.Child("arguments"), strings.Join(s.Script.Arguments, " "), refusal.Reason)
	case k6options.FromEnv:
		return field.Invalid(place.Child("env"), s.load.Name, refusal.Reason)
	default:
		return field.Invalid(place.Child("configMap", "key"), s.ConfigMap.Key, "k6 does not run the script: "+refusal.Reason)
	}
}

// replacedWarning warns of replaced scenarios, which k6 only logs.
func (s script) replacedWarning(place *field.Path, execution k6options.Execution) kind.Warning {
	var who, advice string
	switch execution.Source {
	case k6options.FromScript:
		who, advice = "the script's options", "remove options.vus from the script"
	case k6options.FromArguments:
		place, who, advice = place.Child("arguments"), "script.arguments", "write users and time into the scenarios, and remove these arguments"
	case k6options.FromEnv:
		place, who, advice = place.Child("env"), "script.env", "write users and time into the scenarios, and remove these variables"
	}
	does := "k6 runs none of them"
	if _, err := execution.Length(); errors.Is(err, k6options.ErrIterations) {
		does += ", and ends when its iterations are done"
	}
	return kind.Warningf(place, "%s of load %q replace the scenarios in %s: %s; %s", who, s.load.Name, s.ConfigMap.Key, does, advice)
}

// runnerFaults rejects more runners than users: runners share the users of each scenario.
func (s script) runnerFaults(place *field.Path, execution k6options.Execution, unknown error) field.ErrorList {
	runners := int64(s.load.ParallelismOrDefault())
	if s.isWorkflows() && runners > 1 {
		return field.ErrorList{field.Invalid(place, runners, workflows+" runs in one k6 runner: remove parallelism, or set it to 1")}
	}
	users, err := execution.Users()
	if unknown != nil && !errors.Is(unknown, k6options.ErrIterations) || err != nil || users >= runners {
		return nil
	}
	return field.ErrorList{field.Invalid(place, runners, fmt.Sprintf("load %q has %s, and every k6 runner needs at least one: set parallelism to %d or less, or add users", s.load.Name, prose.Counted(users, "user"), max(1, users)))}
}
