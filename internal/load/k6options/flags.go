// SPDX-License-Identifier: Apache-2.0

package k6options

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"perflab.dev/perflab/internal/planning/repair"
)

// newFlags returns the flags of k6 run.
func newFlags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("k6 run", pflag.ContinueOnError)
	flags.Int64P("vus", "u", 1, "")
	flags.DurationP("duration", "d", 0, "")
	flags.Int64P("iterations", "i", 0, "")
	flags.StringSliceP("stage", "s", nil, "")
	flags.StringArrayP("env", "e", nil, "")
	for _, name := range []string{"max-redirects", "batch", "batch-per-host", "rps"} {
		flags.Int64(name, 0, "")
	}
	flags.Duration("min-iteration-duration", 0, "")
	for _, flag := range switches {
		flags.BoolP(flag.name, flag.short, flag.on, "")
	}
	for _, flag := range texts {
		flags.StringArrayP(flag.name, flag.short, nil, "")
	}
	flags.Lookup("http-debug").NoOptDefVal = "headers"
	return flags
}

type flag struct {
	name, short string
	on          bool
}

// switches take no value, texts take one that does not affect users or time.
var (
	switches = []flag{
		{name: "paused", short: "p"},
		{name: "no-setup"},
		{name: "no-teardown"},
		{name: "insecure-skip-tls-verify"},
		{name: "no-connection-reuse"},
		{name: "no-vu-connection-reuse"},
		{name: "throw", short: "w"},
		{name: "discard-response-bodies"},
		{name: "include-system-env-vars", on: true},
		{name: "no-thresholds"},
		{name: "new-machine-readable-summary"},
		{name: "linger", short: "l"},
		{name: "no-usage-report"},
		{name: "no-color"},
		{name: "verbose", short: "v"},
		{name: "quiet", short: "q"},
		{name: "profiling-enabled"},
		{name: "help", short: "h"},
	}
	texts = []flag{
		{name: "execution-segment"},
		{name: "execution-segment-sequence"},
		{name: "user-agent"},
		{name: "http-debug"},
		{name: "blacklist-ip"},
		{name: "block-hostnames"},
		{name: "summary-trend-stats"},
		{name: "summary-time-unit"},
		{name: "system-tags"},
		{name: "tag"},
		{name: "console-output"},
		{name: "local-ips"},
		{name: "dns"},
		{name: "compatibility-mode"},
		{name: "type", short: "t"},
		{name: "summary-mode"},
		{name: "summary-export"},
		{name: "traces-output"},
		{name: "out", short: "o"},
		{name: "features"},
		{name: "secret-source"},
		{name: "log-output"},
		{name: "log-format"},
		{name: "config", short: "c"},
		{name: "address", short: "a"},
	}
)

// Flag is a given flag.
type Flag struct {
	// Name in its long form.
	Name  string
	Value string
	// Index of its argument.
	Index int
}

// Flags returns the flags among arguments, as k6 parses them: -u10 is vus.
func Flags(list []string) []Flag {
	// Read reports invalid arguments.
	read, _ := readArguments(list, true)
	return read.flags
}

// arguments of k6.
type arguments struct {
	set   *pflag.FlagSet
	flags []Flag
}

// readArguments parses arguments one by one. With another version of k6, an unknown
// argument may be a flag.
func readArguments(list []string, otherVersion bool) (arguments, error) {
	read := arguments{set: newFlags()}
	for i := 0; i < len(list); {
		taken, err := read.next(list, i)
		if err != nil && !otherVersion {
			return read, fmt.Errorf("k6 2.2 rejects %s: %w%s", strings.Join(list[i:i+taken], " "), err, repair.Advice(meant(err)))
		}
		i += taken
	}
	return read, nil
}

// meant returns the value of an invalid flag.
func meant(err error) string {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return ""
	}
	return repair.ForType(wrong.GetFlag().Value.Type(), wrong.GetValue())
}

// next parses the argument at i, and returns the number of arguments read: two if the value
// is separate.
func (a *arguments) next(list []string, i int) (taken int, err error) {
	err = a.parse(list[i:i+1], i)
	var bare *pflag.ValueRequiredError
	if errors.As(err, &bare) && i+1 < len(list) {
		return 2, a.parse(list[i:i+2], i)
	}
	return 1, err
}

var errSecondScript = errors.New("it is not a flag, so k6 reads it as a second script: remove it")

func (a *arguments) parse(list []string, index int) error {
	var flags []Flag
	err := a.set.ParseAll(list, func(flag *pflag.Flag, value string) error {
		flags = append(flags, Flag{flag.Name, value, index})
		return a.set.Set(flag.Name, value)
	})
	var absent *pflag.NotExistError
	if errors.As(err, &absent) {
		flags = append(flags, Flag{Name: absent.GetSpecifiedName(), Index: index})
	}
	if err == nil && (a.set.NArg() > 0 || list[0] == "--") {
		err = errSecondScript
	}
	a.flags = append(a.flags, flags...)
	return err
}

// file returns the options in k6's configuration file.
func (a arguments) file(env environment) layer {
	if _, named := env.k6["K6_CONFIG"]; named || a.set.Changed("config") {
		return layer{source: FromArguments, err: errFile}
	}
	return layer{}
}

var errFile = errors.New("k6 reads a configuration file at run time")

// layer returns the options in the arguments.
func (a arguments) layer() (layer, error) {
	options := object{}
	for name, option := range map[string]string{"vus": optionUsers, "iterations": optionIterations} {
		if number, err := a.set.GetInt64(name); err == nil && a.set.Changed(name) {
			options[option] = float64(number)
		}
	}
	if length, err := a.set.GetDuration("duration"); err == nil && a.set.Changed("duration") {
		options[optionDuration] = length.String()
	}
	texts, err := a.set.GetStringSlice("stage")
	if err == nil && a.set.Changed("stage") {
		options[optionStages], err = parseStages(texts)
	}
	if slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, ":") }) {
		err = errors.New("a stage has no duration: write for example 30s:10")
	}
	return layer{source: FromArguments, options: options}, err
}

// parseStages parses stages such as 30s:10.
func parseStages(texts []string) ([]any, error) {
	stages := []any{}
	for _, text := range texts {
		length, target, _ := strings.Cut(text, ":")
		stage := object{}
		if length != "" {
			if _, err := time.ParseDuration(length); err != nil {
				example := "for example 30s:10"
				if instead := repair.Duration(length); instead != "" {
					example = instead + ":" + target
				}
				return nil, fmt.Errorf("the stage %q has no duration with a unit: write %s", text, example)
			}
			stage[optionDuration] = length
		}
		if target != "" {
			stage["target"] = target
		}
		stages = append(stages, stage)
	}
	return stages, nil
}
