// SPDX-License-Identifier: Apache-2.0

package redraw

import (
	"regexp"
	"strings"
)

// parts count how often the elements of a picture are drawn: a reference draws a part again, and
// that part may refer to others. Ten parts that each draw the next one ten times take a few
// bytes, but would block a browser forever.
type parts struct {
	all []part
	// ids are the parts by name; of several, the first one counts.
	ids map[string]int
	// open are the parts of the open elements: none for an element that is no part.
	open []int
	// styled are the parts that rules of style sheets refer to, by the key of the selector.
	styled map[string][]string
}

const none = -1

// part is an element with a name, or the whole picture.
type part struct {
	// elements that are in no nested part.
	elements int
	// keys count them by what selectors match: name, #id, .class.
	keys   map[string]int
	within []int
	refers []string
	// isFlat means that a reference to it draws none of its elements.
	isFlat bool
}

// flat are elements that describe a paint.
var flat = setOf("linearGradient radialGradient filter")

func (p *parts) start(element, id string, classes []string) {
	own := none
	if len(p.all) == 0 || id != "" {
		own = len(p.all)
		p.all = append(p.all, part{isFlat: flat[element], keys: map[string]int{}})
		if in := p.current(); in != none {
			p.all[in].within = append(p.all[in].within, own)
		}
		if _, known := p.ids[id]; !known && id != "" {
			p.ids[id] = own
		}
	}
	p.open = append(p.open, own)
	in := &p.all[p.current()]
	in.elements++
	in.keys[element]++
	if id != "" {
		in.keys["#"+id]++
	}
	for _, class := range classes {
		in.keys["."+class]++
	}
}

func (p *parts) end() { p.open = p.open[:len(p.open)-1] }

// current is the innermost open part.
func (p *parts) current() int {
	for i := len(p.open) - 1; i >= 0; i-- {
		if p.open[i] != none {
			return p.open[i]
		}
	}
	return none
}

// refer records that the last opened element draws these parts.
func (p *parts) refer(ids ...string) {
	in := &p.all[p.current()]
	in.refers = append(in.refers, ids...)
}

// style records that the elements of these selectors draw these parts.
func (p *parts) style(selectors string, ids []string) {
	for one := range strings.SplitSeq(selectors, ",") {
		key := keyOf(strings.TrimSpace(one))
		p.styled[key] = append(p.styled[key], ids...)
	}
}

var (
	// compound is the last part of a selector, after the combinators.
	compound = regexp.MustCompile(`[^\s>+~]*$`)
	simple   = regexp.MustCompile(`[.#]?[\w-]+`)
)

// keyOf is what a selector matches elements by, the narrowest first: a class, an id, a name.
// Empty: it may match any.
func keyOf(selector string) string {
	if strings.ContainsAny(selector, ":[") {
		return ""
	}
	found := simple.FindAllString(compound.FindString(selector), -1)
	for _, sign := range []string{".", "#", ""} {
		for _, key := range found {
			if strings.HasPrefix(key, sign) {
				return key
			}
		}
	}
	return ""
}

// drawn is the number of drawn elements, or more than the maximum.
func (p *parts) drawn() int {
	counter := counter{parts: p, counts: make([]int, len(p.all))}
	return counter.count(0)
}

// counter counts each part once.
type counter struct {
	*parts
	counts []int
}

func (c *counter) count(at int) int {
	const counting = -1
	switch known := c.counts[at]; {
	case known == counting:
		// It draws itself.
		return maxDrawn + 1
	case known > 0:
		return known
	}
	c.counts[at] = counting
	own := &c.all[at]
	sum := own.elements
	for _, inner := range own.within {
		if sum <= maxDrawn {
			sum += c.count(inner)
		}
	}
	sum = c.add(sum, own.refers, 1)
	sum = c.add(sum, c.styled[""], own.elements)
	for key, times := range own.keys {
		sum = c.add(sum, c.styled[key], times)
	}
	c.counts[at] = min(sum, maxDrawn+1)
	return c.counts[at]
}

// add adds the elements that references draw, once per referring element.
func (c *counter) add(sum int, ids []string, times int) int {
	for _, id := range ids {
		target, known := c.ids[id]
		switch {
		case sum > maxDrawn:
			return sum
		case !known:
		case c.all[target].isFlat:
			sum += times
		default:
			sum += times * c.count(target)
		}
	}
	return sum
}
