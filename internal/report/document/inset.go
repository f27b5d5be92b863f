// SPDX-License-Identifier: Apache-2.0

package document

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// Inset is a picture within a text, or the reason why it is not shown.
type Inset struct {
	// Name is its address in the text; File is its file name beside a page that can't embed it.
	Name, File string
	// Kind is the media type of its bytes, whatever its name.
	Kind string
	Body []byte
	// Alt describes the picture.
	Alt string
	// Without lists the omitted parts.
	Without []string
	// Fault is why it is not shown; empty if it is shown.
	Fault string
}

// FaultText is why the picture is not shown.
func (i *Inset) FaultText() string { return fmt.Sprintf("picture %q: %s", i.Name, i.Fault) }

// Text replaces the picture.
func (i *Inset) Text() string {
	switch {
	case i.Fault != "":
		return "[" + i.FaultText() + "]"
	case i.Alt == "":
		return fmt.Sprintf("[picture %q]", i.Name)
	}
	return "[picture: " + i.Alt + "]"
}

// TextWithReason replaces a valid picture and says why it is not shown here.
func (i *Inset) TextWithReason(why string) string {
	return strings.TrimSuffix(i.Text(), "]") + ": " + why + "]"
}

// DataURI is the picture as a data URI.
func (i *Inset) DataURI() string {
	return "data:" + i.Kind + ";base64," + base64.StdEncoding.EncodeToString(i.Body)
}
