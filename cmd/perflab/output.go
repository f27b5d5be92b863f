// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/text/prose"
)

// Formats of the output.
const (
	formatText     = "text"
	formatTable    = "table"
	formatMarkdown = "markdown"
	formatJSON     = "json"
	formatYAML     = "yaml"
)

// output is the value of -o, one of the command's known formats.
type output struct {
	format string
	known  []string
}

// addOutput adds -o. The first format is the default.
func addOutput(command *cobra.Command, known ...string) *output {
	made := &output{known: known}
	command.Flags().StringVarP(&made.format, "output", "o", known[0], "output format: "+prose.List(known, "or"))
	if err := command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
	return made
}

func (o *output) check() error { return checkOneOf(o.format, o.known...) }

// checkOneOf returns an error for an unknown format.
func checkOneOf(format string, known ...string) error {
	if slices.Contains(known, format) {
		return nil
	}
	options := make([]string, 0, len(known))
	for _, one := range known {
		options = append(options, "-o "+one)
	}
	return fmt.Errorf("%w %q: write %s", errFormat, format, prose.List(options, "or"))
}

// isData reports whether the output is for programs.
func (o *output) isData() bool { return o.format == formatJSON || o.format == formatYAML }

// write writes a value for programs.
func (o *output) write(out io.Writer, value any) error {
	if o.format != formatYAML {
		return encode(out, value)
	}
	text, err := yaml.Marshal(value)
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}

// encode writes indented JSON.
func encode(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// addEarlierName accepts a flag by its earlier name too, which the help no longer shows. A
// deprecated flag would print a warning in the middle of the output.
func addEarlierName(flags *pflag.FlagSet, earlier, name string) {
	flag := *flags.Lookup(name)
	flag.Name, flag.Hidden = earlier, true
	flags.AddFlag(&flag)
}
