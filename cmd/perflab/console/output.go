// SPDX-License-Identifier: Apache-2.0

// Package console writes the output of commands: tables, pages, numbers and colors.
package console

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/text/prose"
)

// Formats of the output.
const (
	FormatText     = "text"
	FormatTable    = "table"
	FormatMarkdown = "markdown"
	FormatJSON     = "json"
	FormatYAML     = "yaml"
	FormatHTML     = "html"
)

// Output is the value of -o, one of the command's known formats.
type Output struct {
	Format string
	known  []string
}

// AddOutput adds -o. The first format is the default.
func AddOutput(command *cobra.Command, known ...string) *Output {
	made := &Output{known: known}
	command.Flags().StringVarP(&made.Format, "output", "o", known[0], "output format: "+prose.List(known, "or"))
	if err := command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
	return made
}

// Check returns an error for an unknown format.
func (o *Output) Check() error { return checkOneOf(o.Format, o.known...) }

// checkOneOf returns an error for an unknown format.
func checkOneOf(format string, known ...string) error {
	if slices.Contains(known, format) {
		return nil
	}
	options := make([]string, 0, len(known))
	for _, one := range known {
		options = append(options, "-o "+one)
	}
	return fmt.Errorf("%w %q: write %s", exit.ErrFormat, format, prose.List(options, "or"))
}

// IsData reports whether the output is for programs.
func (o *Output) IsData() bool { return o.Format == FormatJSON || o.Format == FormatYAML }

// Write writes a value for programs.
func (o *Output) Write(out io.Writer, value any) error {
	if o.Format != FormatYAML {
		return Encode(out, value)
	}
	text, err := yaml.Marshal(value)
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}

// Encode writes indented JSON.
func Encode(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// AddEarlierName accepts a flag by its earlier name too, which the help no longer shows. A
// deprecated flag would print a warning in the middle of the output.
func AddEarlierName(flags *pflag.FlagSet, earlier, name string) {
	flag := *flags.Lookup(name)
	flag.Name, flag.Hidden = earlier, true
	flags.AddFlag(&flag)
}

// CheckFormat checks the format of a comparison.
func CheckFormat(format string) error {
	return checkOneOf(format, FormatTable, FormatMarkdown, FormatJSON)
}

// CompileExpression compiles the regular expression of a flag; nil if it is empty.
func CompileExpression(flag, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // No expression is a choice, not a fault.
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%w: --%s: %w", exit.ErrOption, flag, err)
	}
	return compiled, nil
}
