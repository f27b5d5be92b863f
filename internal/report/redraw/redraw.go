// SPDX-License-Identifier: Apache-2.0

// Package redraw writes SVG pictures of strangers anew: of the elements, attributes and
// styles that are known to draw, and of nothing else. What it writes runs no script, fetches
// nothing, and leads nowhere, in whatever program it is opened. It is pure.
//
// A document is read as XML, so that prefixes of namespaces, CDATA and letters' case can't
// hide what an element is, and what is written follows from what was read.
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
	// ErrNoSVG says that a document is none.
	ErrNoSVG = errors.New("it is no SVG in UTF-8")
	// ErrEntities says that a document declares entities, by which a few bytes can
	// stand for many.
	ErrEntities = errors.New("it declares entities, which a picture needs none of: save it as plain SVG, or as PNG")
	// ErrTooMuch says that a document is nested too deeply, or draws its parts too often.
	ErrTooMuch = fmt.Errorf("it has more than %d levels, or draws more than %d elements by repeating its parts: save it as PNG", maxDepth, maxDrawn)
)

const (
	// maxDepth of elements, which is libxml2's.
	maxDepth = 256
	// maxDrawn elements are drawn, those that are drawn again by a reference included.
	maxDrawn = 1_000_000
	// maxLeftOut names of what was left out are told.
	maxLeftOut = 8
)

// Namespaces.
const (
	svgNamespace   = "http://www.w3.org/2000/svg"
	xlinkNamespace = "http://www.w3.org/1999/xlink"
	xmlNamespace   = "http://www.w3.org/XML/1998/namespace"
)

// SVG writes a document anew, and tells what of it is left out that could be missed.
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

// painter writes what it knows of a document.
type painter struct {
	out bytes.Buffer
	// open are the elements that were written and have not ended.
	open []string
	// skipped is how many elements are open that are not written.
	skipped int
	// unended: the start of the last element lacks its bracket.
	unended bool
	// sheet is the text of a style element so far.
	sheet strings.Builder
	// closed: the picture has ended.
	closed bool
	// left are the names of what was left out.
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
		// Its content is drawn, and leads nowhere.
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

// leave notes what is left out.
func (p *painter) leave(name string) {
	const most = 32
	if len(name) > most {
		name = name[:most]
	}
	p.left[strings.ToValidUTF8(name, "")] = true
}

// bracket ends the start of the last element, which has content.
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

// written are the elements whose text is shown, or is told to who can't see.
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

// attribute is one as it is written; no name: it is not.
func (p *painter) attribute(element string, attribute xml.Attr) (name, value string) {
	space, local, value := attribute.Name.Space, attribute.Name.Local, attribute.Value
	switch {
	case local == "href" && (space == "" || space == xlinkNamespace):
		return p.reference(element, space, value)
	case local == "space" && space == xmlNamespace:
		return map[bool]string{true: "xml:space"}[value == "preserve" || value == "default"], value
	case space != "":
		// Of another program, or a namespace.
		return "", ""
	case local == "style":
		return "style", p.declarations(value)
	case strings.HasPrefix(strings.ToLower(local), "on"):
		p.leave(local)
		return "", ""
	case !attributes[local]:
		return "", ""
	case !isHarmless(value):
		p.leave("a reference to the outside")
		return "", ""
	}
	p.parts.refer(localReferences(value)...)
	return local, value
}

// reference is where a part of a picture points: to another part of it, or to a picture that
// is written out.
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
	p.leave("a reference to the outside")
	return "", ""
}

// plain is the value of an attribute that has no namespace.
func plain(element xml.StartElement, name string) string {
	for _, attribute := range element.Attr {
		if attribute.Name.Local == name && attribute.Name.Space == "" {
			return attribute.Value
		}
	}
	return ""
}

// escape writes a text, or the value of an attribute.
func escape(to *bytes.Buffer, text string) {
	_, _ = escaper.WriteString(to, text)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "\r", "&#13;")
