// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Warning is a limit of a declaration's results.
type Warning struct {
	// Message is a sentence.
	Message string
	// Path of the field that it is about; empty: of no single one.
	Path string
}

// Warningf formats a warning about a field.
func Warningf(path *field.Path, format string, values ...any) Warning {
	return Warning{fmt.Sprintf(format, values...), path.String()}
}

// String is the sentence, followed by the path.
func (w Warning) String() string {
	if w.Path == "" {
		return w.Message
	}
	return fmt.Sprintf("%s (%s)", w.Message, w.Path)
}
