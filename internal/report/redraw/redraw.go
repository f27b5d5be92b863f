// SPDX-License-Identifier: Apache-2.0

// Package redraw rewrites untrusted SVG pictures from a list of elements, attributes and styles
// that draw, and drops everything else. The result runs no script, fetches nothing and has no
// links, in any program. The package is pure.
//
// A document is parsed as XML, so that namespace prefixes, CDATA and the case of letters can't
// hide an element, and the output follows from the parsed elements.
package redraw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

var (
	// ErrNoSVG means that a document is not SVG.
	ErrNoSVG = errors.New("it is not an SVG file in UTF-8")
	// ErrEntities means that a document declares entities, which can expand a few bytes to many.
	ErrEntities = errors.New("it declares XML entities, which are not supported: save it as plain SVG, or as PNG")
	// ErrTooMuch means that a document is nested too deeply, or draws its parts too often.
	ErrTooMuch = fmt.Errorf("it is nested more than %d levels deep, or draws more than %d elements by repeating its parts: save it as PNG", maxDepth, maxDrawn)
)

const (
	// maxDepth of elements, which is libxml2's.
	maxDepth = 256
	// maxDrawn is the maximum number of drawn elements, including those that references draw.
	maxDrawn = 1_000_000
	// maxLeftOut is the maximum number of names in the list of removed parts.
	maxLeftOut = 8
)

// Namespaces.
const (
	svgNamespace   = "http://www.w3.org/2000/svg"
	xlinkNamespace = "http://www.w3.org/1999/xlink"
	xmlNamespace   = "http://www.w3.org/XML/1998/namespace"
)

// SVG rewrites a document, and returns which visible parts it removed.
func SVG(document []byte) (drawn []byte, leftOut []string, err error) {
	p := painter{left: map[string]bool{}, parts: parts{ids: map[string]int{}, styled: map[string][]string{}}}
	decoder := xml.NewDecoder(bytes.NewReader(document))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && p.closed {
			break
		}
		if err != nil {
			return nil, nil, ErrNoSVG
		}
		if err := p.take(token); err != nil {
			return nil, nil, err
		}
	}
	if p.parts.drawn() > maxDrawn {
		return nil, nil, ErrTooMuch
	}
	names := slices.Sorted(maps.Keys(p.left))
	return p.out.Bytes(), names[:min(len(names), maxLeftOut)], nil
}

// painter writes the allowed parts of a document.
type painter struct {
	out bytes.Buffer
	// open are the written elements that are not closed.
	open []string
	// skipped is the number of open elements that are not written.
	skipped int
	// unended means that the last start tag lacks its bracket.
	unended bool
	// sheet is the text of a style element so far.
	sheet strings.Builder
	// closed means that the picture has ended.
	closed bool
	// left are the names of removed parts.
	left  map[string]bool
	parts parts
}

func (p *painter) take(token xml.Token) error {
	switch token := token.(type) {
	case xml.StartElement:
		return p.start(token)
	case xml.EndElement:
		p.end()
	case xml.CharData:
		p.text(string(token))
	case xml.Directive:
		if bytes.ContainsRune(token, '[') {
			return ErrEntities
		}
	}
	// Comments and processing instructions draw nothing.
	return nil
}

func (p *painter) start(element xml.StartElement) error {
	name := element.Name.Local
	isRoot := len(p.open) == 0
	if isRoot && (p.closed || name != "svg" || element.Name.Space != svgNamespace) {
		return ErrNoSVG
	}
	if len(p.open)+p.skipped >= maxDepth {
		return ErrTooMuch
	}
	if p.skipped > 0 || element.Name.Space != svgNamespace || !elements[name] || !isRoot && p.open[len(p.open)-1] == "style" {
		if p.skipped == 0 && element.Name.Space == svgNamespace && name != "metadata" {
			p.leave(name)
		}
		p.skipped++
		return nil
	}
	if name == "a" {
		// A link becomes a group: its content is drawn, without the link.
		name = "g"
	}
	p.bracket()
	p.out.WriteString("<" + name)
	if isRoot {
		p.out.WriteString(` xmlns="` + svgNamespace + `" xmlns:xlink="` + xlinkNamespace + `"`)
	}
	p.open, p.unended = append(p.open, name), true
	p.parts.start(name, plain(element, "id"), strings.Fields(plain(element, "class")))
	p.attributes(element)
	return nil
}

// leave records a removed part.
func (p *painter) leave(name string) {
	const most = 32
	if len(name) > most {
		name = name[:most]
	}
	p.left[strings.ToValidUTF8(name, "")] = true
}

// bracket closes the start tag of the last element, which has content.
func (p *painter) bracket() {
	if p.unended {
		p.out.WriteByte('>')
		p.unended = false
	}
}

func (p *painter) end() {
	if p.skipped > 0 {
		p.skipped--
		return
	}
	name := p.open[len(p.open)-1]
	if name == "style" {
		p.bracket()
		escape(&p.out, p.rules(p.sheet.String()))
		p.sheet.Reset()
	}
	if p.unended {
		p.out.WriteString("/>")
	} else {
		p.out.WriteString("</" + name + ">")
	}
	p.unended = false
	p.open = p.open[:len(p.open)-1]
	p.closed = len(p.open) == 0
	p.parts.end()
}

// written are the elements whose text is shown, or read aloud by screen readers.
var written = setOf("text tspan textPath title desc")

func (p *painter) text(text string) {
	if p.skipped > 0 || len(p.open) == 0 {
		return
	}
	switch in := p.open[len(p.open)-1]; {
	case in == "style":
		p.sheet.WriteString(text)
	case written[in]:
		p.bracket()
		escape(&p.out, text)
	}
}

func (p *painter) attributes(element xml.StartElement) {
	seen := map[string]bool{}
	for _, attribute := range element.Attr {
		name, value := p.attribute(element.Name.Local, attribute)
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		p.out.WriteString(" " + name + `="`)
		escape(&p.out, value)
		p.out.WriteByte('"')
	}
}

// attribute is an attribute as it is written; without a name it is removed.
func (p *painter) attribute(element string, attribute xml.Attr) (name, value string) {
	space, local, value := attribute.Name.Space, attribute.Name.Local, attribute.Value
	switch {
	case local == "href" && (space == "" || space == xlinkNamespace):
		return p.reference(element, space, value)
	case local == "space" && space == xmlNamespace:
		return map[bool]string{true: "xml:space"}[value == "preserve" || value == "default"], value
	case space != "":
		// A namespace, or an attribute of another program.
		return "", ""
	case local == "style":
		return "style", p.declarations(value)
	case strings.HasPrefix(strings.ToLower(local), "on"):
		p.leave(local)
		return "", ""
	case !attributes[local]:
		return "", ""
	case !isHarmless(value):
		p.leave("an external reference")
		return "", ""
	}
	p.parts.refer(localReferences(value)...)
	return local, value
}

// reference is the target of a reference: another part of the picture, or an embedded bitmap.
func (p *painter) reference(element, space, value string) (name, kept string) {
	if name = "href"; space == xlinkNamespace {
		name = "xlink:href"
	}
	value = strings.TrimSpace(value)
	switch {
	case element == "a":
		return "", ""
	case element != "image" && fragment.MatchString(value):
		p.parts.refer(value[1:])
		return name, value
	case element == "image" && picture.MatchString(value):
		return name, strings.Join(strings.Fields(value), "")
	}
	p.leave("an external reference")
	return "", ""
}

// plain is the value of an attribute without a namespace.
func plain(element xml.StartElement, name string) string {
	for _, attribute := range element.Attr {
		if attribute.Name.Local == name && attribute.Name.Space == "" {
			return attribute.Value
		}
	}
	return ""
}

// escape escapes a text or an attribute value.
func escape(to *bytes.Buffer, text string) {
	_, _ = escaper.WriteString(to, text)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "\r", "&#13;")
