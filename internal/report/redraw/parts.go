// SPDX-License-Identifier: Apache-2.0

package redraw

import (
	"regexp"
	"strings"
)

// parts count how often the elements of a picture are drawn: a part can be drawn again by a
// reference to it, and so can a part that refers to others. Ten parts that draw the next
// one ten times each take a few bytes, and a browser's time for ever.
type parts struct {
	all []part
	// ids are the parts by their names; of several the first is meant.
	ids map[string]int
	// open are the parts that an element stands in: none for one that is no part.
	open []int
	// styled are the parts that rules of style sheets refer to, by what chooses elements.
	styled map[string][]string
}

const none = -1

// part is an element with a name, or the whole picture.
type part struct {
	// elements of it that are in no part within it.
	elements int
	// keys count them by what selectors choose them by: name, #id, .class.
	keys   map[string]int
	within []int
	refers []string
	// isFlat: what refers to it draws none of its elements.
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

// current is the innermost part that is open.
func (p *parts) current() int {
	for i := len(p.open) - 1; i >= 0; i-- {
		if p.open[i] != none {
			return p.open[i]
		}
	}
	return none
}

// refer notes that the element that was begun last draws these.
func (p *parts) refer(ids ...string) {
	in := &p.all[p.current()]
	in.refers = append(in.refers, ids...)
}

// style notes that the elements which selectors choose draw these.
func (p *parts) style(selectors string, ids []string) {
	for one := range strings.SplitSeq(selectors, ",") {
		key := keyOf(strings.TrimSpace(one))
		p.styled[key] = append(p.styled[key], ids...)
	}
}

var (
	// compound is the last part of a selector, behind the combinators.
	compound = regexp.MustCompile(`[^\s>+~]*$`)
	simple   = regexp.MustCompile(`[.#]?[\w-]+`)
)

// keyOf is what a selector chooses elements by, the narrowest first: a class, an id, a name.
// Empty: it may choose any.
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

// drawn is how many elements are drawn, or more than are drawn at most.
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
		// It is drawn within itself.
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

// add what elements draw, as many times, that refer to these.
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
