// SPDX-License-Identifier: Apache-2.0

// Package elements adds to gomponents what large pages need. Pages are written with it, not with
// html/template: a program that links html/template keeps every method of every type, a third of
// its size and memory.
package elements

import (
	"bytes"
	"io"

	g "maragu.dev/gomponents"

	"perflab.dev/perflab/internal/text/prose"
)

// Bytes renders a whole page. It replaces characters that no page may contain.
func Bytes(page g.Node) ([]byte, error) {
	var out bytes.Buffer
	if err := page.Render(&out); err != nil {
		return nil, err
	}
	return []byte(prose.Printable(out.String())), nil
}

// Lines ends a line after each node, so that a page is readable and comparable. Nil nodes take no
// line.
func Lines(nodes ...g.Node) g.Node {
	return g.NodeFunc(func(w io.Writer) error {
		for _, node := range nodes {
			if err := line(w, node); err != nil {
				return err
			}
		}
		return nil
	})
}

// Each writes a line for each item and creates it only when it is written, because there may be
// very many.
func Each[T any](all []T, node func(at int, one *T) g.Node) g.Node {
	return g.NodeFunc(func(w io.Writer) error {
		for at := range all {
			if err := line(w, node(at, &all[at])); err != nil {
				return err
			}
		}
		return nil
	})
}

func line(w io.Writer, node g.Node) error {
	if node == nil {
		return nil
	}
	if err := node.Render(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// Open is an element without its end tag, which is optional after cells and rows. A page has
// hundreds of thousands of those.
func Open(name string, attributes []g.Node, content g.Node) g.Node {
	return g.NodeFunc(func(w io.Writer) error {
		if _, err := io.WriteString(w, "<"+name); err != nil {
			return err
		}
		for _, attribute := range attributes {
			if attribute == nil {
				continue
			}
			if err := attribute.Render(w); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(w, ">"); err != nil {
			return err
		}
		return content.Render(w)
	})
}

// Text is an element with a text only, or nil without a text.
func Text(text string, element func(...g.Node) g.Node, attributes ...g.Node) g.Node {
	if text == "" {
		return nil
	}
	return element(append(attributes, g.Text(text))...)
}
