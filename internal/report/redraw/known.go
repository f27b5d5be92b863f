// SPDX-License-Identifier: Apache-2.0

package redraw

import (
	"regexp"
	"strings"
)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// elements are those that draw. Animations are excluded, so that links can't change. So are
// filters that take long to compute.
var elements = setOf(`
	svg g defs symbol use switch a title desc style
	path rect circle ellipse line polyline polygon image
	text tspan textPath
	linearGradient radialGradient stop pattern marker clipPath mask
	filter feBlend feColorMatrix feComponentTransfer feFuncA feFuncB feFuncG feFuncR feComposite
	feDropShadow feFlood feGaussianBlur feMerge feMergeNode feOffset
`)

// attributes are those of geometry and presentation (SVG 2).
var attributes = setOf(`
	id class lang role version
	x y x1 y1 x2 y2 cx cy r rx ry fx fy fr dx dy width height points d pathLength rotate textLength lengthAdjust
	viewBox preserveAspectRatio transform transform-origin transform-box
	systemLanguage startOffset method spacing side
	offset gradientUnits gradientTransform spreadMethod
	patternUnits patternContentUnits patternTransform
	markerUnits markerWidth markerHeight orient refX refY
	clipPathUnits maskUnits maskContentUnits mask-type
	filterUnits primitiveUnits in in2 result mode type values operator k1 k2 k3 k4 stdDeviation edgeMode
	tableValues slope intercept amplitude exponent
	alignment-baseline baseline-shift clip-path clip-rule color color-interpolation color-interpolation-filters
	color-rendering direction display dominant-baseline fill fill-opacity fill-rule filter flood-color flood-opacity
	font-family font-size font-size-adjust font-stretch font-style font-variant font-weight
	glyph-orientation-horizontal glyph-orientation-vertical image-rendering letter-spacing lighting-color
	marker-end marker-mid marker-start mask mix-blend-mode opacity overflow paint-order pointer-events
	shape-rendering stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin
	stroke-miterlimit stroke-opacity stroke-width text-anchor text-decoration text-overflow text-rendering
	unicode-bidi vector-effect visibility white-space word-spacing writing-mode
`)

// functions in values that fetch nothing.
var functions = setOf(`
	rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix light-dark var calc min max clamp
	matrix translate translatex translatey scale scalex scaley rotate skewx skewy
	blur brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia
	circle ellipse inset polygon
`)

var (
	// fragment points to a part of the picture.
	fragment = regexp.MustCompile(`^#[^\s"'()\\<>]+$`)
	// picture is an embedded bitmap.
	picture = regexp.MustCompile(`^data:image/(png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=\s]+$`)
	// local is a reference to a part of the picture within a value.
	local = regexp.MustCompile(`(?i)\burl\(\s*(?:#([^\s"'()\\<>]+)|"#([^\s"'()\\<>]+)"|'#([^\s"'()\\<>]+)')\s*\)`)
	// call is the name of a function, in any characters.
	call     = regexp.MustCompile(`([^\s(),:;'"/]*)\s*\(`)
	comment  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	selector = regexp.MustCompile(`^[\w\s.#*:,>+~()\[\]="'|^$-]{1,1000}$`)
	property = regexp.MustCompile(`^-{0,2}[A-Za-z][\w-]*$`)
)

// isHarmless reports whether a value fetches nothing. A backslash can encode any letter, a
// comment can split a word, two slashes start an address: no value needs them.
func isHarmless(value string) bool {
	if strings.ContainsAny(value, `\@{}<`) || strings.Contains(value, "//") || strings.Contains(value, "/*") {
		return false
	}
	for _, found := range call.FindAllStringSubmatch(local.ReplaceAllString(value, " "), -1) {
		if found[1] != "" && !functions[strings.ToLower(found[1])] {
			return false
		}
	}
	return true
}

// localReferences are the parts of a picture that a value refers to.
func localReferences(value string) []string {
	var ids []string
	for _, found := range local.FindAllStringSubmatch(value, -1) {
		ids = append(ids, found[1]+found[2]+found[3])
	}
	return ids
}

// declarations are the harmless declarations of a style.
func (p *painter) declarations(style string) string {
	kept, ids := p.harmless(style)
	p.parts.refer(ids...)
	return kept
}

func (p *painter) harmless(style string) (kept string, ids []string) {
	var declarations []string
	for declaration := range strings.SplitSeq(comment.ReplaceAllString(style, " "), ";") {
		name, value, found := strings.Cut(declaration, ":")
		if name = strings.TrimSpace(name); name == "" && !found {
			continue
		}
		if !found || !property.MatchString(name) || !isHarmless(value) {
			p.leave("part of a style")
			continue
		}
		declarations = append(declarations, name+":"+strings.TrimSpace(value))
		ids = append(ids, localReferences(value)...)
	}
	return strings.Join(declarations, ";"), ids
}

// rules are the harmless rules of a style sheet, without at-rules.
func (p *painter) rules(sheet string) string {
	var kept strings.Builder
	rest := comment.ReplaceAllString(sheet, " ")
	for {
		at := strings.IndexAny(rest, "{;}")
		if at < 0 {
			return kept.String()
		}
		head, sign := strings.TrimSpace(rest[:at]), rest[at]
		rest = rest[at+1:]
		if sign != '{' {
			if head != "" {
				p.leave("part of a style")
			}
			continue
		}
		var block string
		block, rest = blockOf(rest)
		if !selector.MatchString(head) || strings.Contains(block, "{") {
			p.leave("part of a style")
			continue
		}
		declarations, ids := p.harmless(block)
		p.parts.style(head, ids)
		kept.WriteString(head + "{" + declarations + "}")
	}
}

// blockOf returns the text before the brace that closes a block, and the rest.
func blockOf(text string) (block, rest string) {
	depth := 1
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}
