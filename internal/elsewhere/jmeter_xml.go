// SPDX-License-Identifier: Apache-2.0

package elsewhere

import (
	"encoding/xml"
	"errors"
	"io"
)

// readJMeterXML reads the elements within testResults. What is within those is a part
// of them, as in CSV, where it is not written.
func readJMeterXML(from Source) (*Measured, error) {
	stream := newStream(from.In)
	decoder := xml.NewDecoder(stream)
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
		return nil, refuse("it ends before </testResults>: JMeter was killed, or the file was cut off; copy it again, or end it with </testResults>")
	}
	return jmeterMeasured(tally)
}

// xmlFault tells what stands in the file from what keeps it from being read.
func xmlFault(err error, line int, from *stream) error {
	var syntax *xml.SyntaxError
	switch {
	case from.failed != nil:
		return from.failed
	case errors.Is(err, errEndless):
		return atLine(line, streamFault(err))
	case errors.As(err, &syntax):
		return atLine(line, refuse("%s", syntax.Msg))
	}
	return atLine(line, refuse("%v", err))
}

func jmeterElement(to *tally, depth int, element xml.StartElement) error {
	const root, own = 1, 2
	name := element.Name.Local
	if depth == root && name != "testResults" {
		return refuse("it begins with <%s>, and JMeter's results with <testResults>", said(name))
	}
	if depth != own || name != "sample" && name != "httpSample" {
		return nil
	}
	at := map[string]string{}
	for _, attribute := range element.Attr {
		at[attribute.Name.Local] = attribute.Value
	}
	found, err := jmeterSample(at["ts"], at["t"], at["lb"], at["s"], at["rm"])
	if err != nil {
		return err
	}
	return to.add(found)
}
