// SPDX-License-Identifier: Apache-2.0

package document

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// Inset is a picture within a text, or why it is not shown.
type Inset struct {
	// Name is its address in the text, File what it is written to beside a page that
	// can't hold it.
	Name, File string
	// Kind is the media type of its bytes, whatever its name says.
	Kind string
	Body []byte
	// Alt says what is on it.
	Alt string
	// Without are the parts that are left out.
	Without []string
	// Fault says why it is not shown; empty: it is.
	Fault string
}

// FaultText it is not shown.
func (i *Inset) FaultText() string { return fmt.Sprintf("picture %q: %s", i.Name, i.Fault) }

// Text stands in its place.
func (i *Inset) Text() string {
	switch {
	case i.Fault != "":
		return "[" + i.FaultText() + "]"
	case i.Alt == "":
		return fmt.Sprintf("[picture %q]", i.Name)
	}
	return "[picture: " + i.Alt + "]"
}

// TextWithReason stands in the place of a picture that is there, and why it is not shown here.
func (i *Inset) TextWithReason(why string) string {
	return strings.TrimSuffix(i.Text(), "]") + ": " + why + "]"
}

// DataURI is the picture as an address that holds it.
func (i *Inset) DataURI() string {
	return "data:" + i.Kind + ";base64," + base64.StdEncoding.EncodeToString(i.Body)
}
