// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"slices"

	"perflab.dev/perflab/internal/load/kind"
)

// Warning is a limit of a spec's results.
type Warning struct {
	kind.Warning
	// AboutDesign means that it recommends another design. A report describes the actual design.
	AboutDesign bool
}

// Warnings of a spec, each once.
type Warnings []Warning

// Sentences returns the warnings for users.
func (w Warnings) Sentences() []string {
	sentences := make([]string, 0, len(w))
	for _, warning := range w {
		sentences = append(sentences, warning.String())
	}
	return sentences
}

// AboutDesign returns the warnings that recommend another design.
func (w Warnings) AboutDesign() Warnings {
	return slices.DeleteFunc(slices.Clone(w), func(warning Warning) bool { return !warning.AboutDesign })
}
