// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"slices"

	"perflab.dev/perflab/internal/load/kind"
)

// Warning is what limits the results of a spec.
type Warning struct {
	kind.Warning
	// AboutDesign: it advises another design. A report describes the design that was followed.
	AboutDesign bool
}

// Warnings of a spec, each once.
type Warnings []Warning

// Sentences are the warnings for people.
func (w Warnings) Sentences() []string {
	sentences := make([]string, 0, len(w))
	for _, warning := range w {
		sentences = append(sentences, warning.String())
	}
	return sentences
}

// AboutDesign are those that advise another design.
func (w Warnings) AboutDesign() Warnings {
	return slices.DeleteFunc(slices.Clone(w), func(warning Warning) bool { return !warning.AboutDesign })
}
