// SPDX-License-Identifier: Apache-2.0

// Package k6options says how long a k6 script lasts by the options it exports. It
// reads the script and runs nothing of it: what is no plain value is not known.
//
//	length, err := k6options.Length(`export const options = {duration: '2m'}`, nil)
//	// length is 2m
package k6options

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mostSource is the size of the largest script there is in a ConfigMap.
const mostSource = 1 << 20

// Reasons for which a script's length is not known.
var (
	ErrIterations = errors.New("it ends when its iterations are done")
	ErrNone       = errors.New("it exports no options")
	ErrComputed   = errors.New("is computed when it runs")
	ErrSource     = errors.New("it can't be read as JavaScript")
)

// Length is how long a script lasts, from the start of its first scenario to the
// end of its last one, without what it needs to stop. It finds env in __ENV.
func Length(source string, env map[string]string) (time.Duration, error) {
	if len(source) > mostSource {
		return 0, fmt.Errorf("%w: it has more than %d bytes", ErrSource, mostSource)
	}
	read, err := newScript(source, env)
	if err != nil {
		return 0, err
	}
	exported, err := read.options()
	if err != nil {
		return 0, err
	}
	return lengthOf(exported)
}

// Stages is how long stages last that are written as k6's --stage and K6_STAGES
// take them: 30s:10,5m:10.
func Stages(text string) (time.Duration, error) {
	var each []time.Duration
	for _, stage := range strings.Split(text, ",") {
		length, _, _ := strings.Cut(stage, ":")
		lasts, err := Duration(length)
		if err != nil {
			return 0, err
		}
		each = append(each, lasts)
	}
	return together(each)
}

// lengthOf follows k6: what comes first of these says how the script is run.
func lengthOf(options object) (time.Duration, error) {
	switch {
	case options.has("iterations"):
		return 0, ErrIterations
	case options.has("duration"):
		return durationAt(options, "duration", "options.")
	case options.has("stages"):
		return stagesAt(options, "options.")
	case options.has("scenarios"):
		return scenariosOf(options["scenarios"])
	default:
		return 0, ErrIterations
	}
}

func scenariosOf(written any) (time.Duration, error) {
	scenarios, plain := written.(object)
	if !plain {
		return 0, fmt.Errorf("options.scenarios %w", ErrComputed)
	}
	last := time.Duration(0)
	for _, name := range slices.Sorted(maps.Keys(scenarios)) {
		end, err := scenarioEnd(scenarios[name], "options.scenarios."+name+".")
		if err != nil {
			return 0, err
		}
		last = max(last, end)
	}
	return last, nil
}

func scenarioEnd(written any, place string) (time.Duration, error) {
	scenario, plain := written.(object)
	if !plain {
		return 0, fmt.Errorf("%s %w", strings.TrimSuffix(place, "."), ErrComputed)
	}
	start := time.Duration(0)
	if scenario.has("startTime") {
		var err error
		if start, err = durationAt(scenario, "startTime", place); err != nil {
			return 0, err
		}
	}
	length, err := executorLength(scenario, place)
	return start + length, err
}

func executorLength(scenario object, place string) (time.Duration, error) {
	switch scenario["executor"] {
	case "constant-vus", "constant-arrival-rate", "externally-controlled":
		return durationAt(scenario, "duration", place)
	case "ramping-vus", "ramping-arrival-rate":
		return stagesAt(scenario, place)
	case "shared-iterations", "per-vu-iterations":
		return 0, ErrIterations
	default:
		return 0, fmt.Errorf("%sexecutor %w", place, ErrComputed)
	}
}

func stagesAt(from object, place string) (time.Duration, error) {
	stages, plain := from["stages"].([]any)
	if !plain {
		return 0, fmt.Errorf("%sstages %w", place, ErrComputed)
	}
	each := make([]time.Duration, 0, len(stages))
	for i, written := range stages {
		place := fmt.Sprintf("%sstages[%d].", place, i)
		stage, plain := written.(object)
		if !plain {
			return 0, fmt.Errorf("%s %w", strings.TrimSuffix(place, "."), ErrComputed)
		}
		lasts, err := durationAt(stage, "duration", place)
		if err != nil {
			return 0, err
		}
		each = append(each, lasts)
	}
	return together(each)
}

// durationAt reads a duration as k6 does: a number is of milliseconds.
func durationAt(from object, name, place string) (time.Duration, error) {
	switch written := from[name].(type) {
	case float64:
		length, err := ofMilliseconds(written)
		if err != nil {
			return 0, fmt.Errorf("%s%s: %w", place, name, err)
		}
		return length, nil
	case string:
		length, err := Duration(written)
		if err != nil {
			return 0, fmt.Errorf("%s%s: %w", place, name, err)
		}
		return length, nil
	default:
		return 0, fmt.Errorf("%s%s %w", place, name, ErrComputed)
	}
}

var days = regexp.MustCompile(`^([0-9]+)d(.*)$`)

// longest is more than any run takes, and short enough for two to be added.
const longest = 366 * 24 * time.Hour

// Duration reads what k6 takes for one: Go's notation with days in front, or a
// number of milliseconds.
func Duration(text string) (time.Duration, error) {
	if milliseconds, err := strconv.ParseFloat(text, 64); err == nil {
		return ofMilliseconds(milliseconds)
	}
	rest, whole := text, 0
	if parts := days.FindStringSubmatch(text); parts != nil {
		// The expression takes digits only; more of them than fit are no time.
		whole, _ = strconv.Atoi(parts[1])
		rest = parts[2]
	}
	length, err := time.ParseDuration(rest)
	if rest == "" {
		length, err = 0, nil
	}
	if err != nil || text == "" || length < 0 || length > longest || whole > 365 {
		return 0, noDuration(text)
	}
	return length + time.Duration(whole)*24*time.Hour, nil
}

func ofMilliseconds(number float64) (time.Duration, error) {
	if !(number >= 0 && number <= float64(longest.Milliseconds())) {
		return 0, noDuration(strconv.FormatFloat(number, 'g', -1, 64))
	}
	return time.Duration(number * float64(time.Millisecond)), nil
}

func noDuration(text string) error {
	return fmt.Errorf("%q is no duration of at most a year: write for example 30m", text)
}

// together is what stages last one after another.
func together(stages []time.Duration) (time.Duration, error) {
	total := time.Duration(0)
	for _, each := range stages {
		if total += each; total > longest {
			return 0, fmt.Errorf("%d stages last for more than a year together", len(stages))
		}
	}
	return total, nil
}
