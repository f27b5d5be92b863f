// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"encoding/xml"
	"errors"
	"io"

	"golang.org/x/text/transform"
)

// readJMeterXML reads the elements within testResults. Nested elements are sub-results,
// which don't count, as in CSV.
func readJMeterXML(from Source) (*Measured, error) {
	stream := newStream(transform.NewReader(from.In, legalXML{}))
	decoder := xml.NewDecoder(stream)
	decoder.CharsetReader = decoded
	tally := newTally(from)
	depth := 0
	for {
		stream.next()
		token, err := decoder.RawToken()
		line, _ := decoder.InputPos()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, xmlFault(err, line, stream)
		}
		switch element := token.(type) {
		case xml.StartElement:
			depth++
			err = jmeterElement(tally, depth, element)
		case xml.EndElement:
			depth--
		}
		if err != nil {
			return nil, atLine(line, err)
		}
	}
	if depth != 0 {
		return nil, refuse(cutXML)
	}
	return jmeterMeasured(tally)
}

const cutXML = "the file ends before </testResults>: JMeter was killed, or the file was truncated; copy it again, or append </testResults>"

// xmlFault distinguishes invalid XML from read errors.
func xmlFault(err error, line int, from *stream) error {
	var syntax *xml.SyntaxError
	switch {
	case from.failed != nil:
		return from.failed
	case errors.Is(err, errLineTooLong):
		return atLine(line, streamFault(err))
	case errors.As(err, &syntax) && syntax.Msg == "unexpected EOF":
		return atLine(line, refuse(cutXML))
	case errors.As(err, &syntax):
		return atLine(line, refuse("%s", syntax.Msg))
	}
	return atLine(line, refuse("%v", err))
}

// jmeterAttributes maps CSV columns to XML attributes.
var jmeterAttributes = map[string]string{jmeterTime: "ts", jmeterElapsed: "t", jmeterLabel: "lb", jmeterSuccess: "s", jmeterMessage: "rm"}

func jmeterElement(to *tally, depth int, element xml.StartElement) error {
	const root, own = 1, 2
	name := element.Name.Local
	if depth == root && name != "testResults" {
		return refuse("the file begins with <%s>, but JMeter's results begin with <testResults>", shorten(name))
	}
	if depth != own || name != "sample" && name != "httpSample" {
		return nil
	}
	at := map[string]string{}
	for _, attribute := range element.Attr {
		at[attribute.Name.Local] = attribute.Value
	}
	found, err := jmeterSample(func(column string) string { return at[jmeterAttributes[column]] })
	if err != nil {
		return err
	}
	return to.add(found)
}
