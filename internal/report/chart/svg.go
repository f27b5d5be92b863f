// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"image/color"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/prose"
)

// The canvas writes one element per line; a path has only data and style. A page has dozens of
// charts of hundreds of elements, and is written at the end of each block, so the parsing is by
// hand: regular expressions took a third of the time of a page (BenchmarkStored).

// tidy leaves size and font to the page around the picture.
func tidy(svg string, width, height vg.Length) string {
	_, opened, _ := strings.Cut(svg, "<svg")
	_, drawn, _ := strings.Cut(opened, ">")
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g">`, width.Points(), height.Points())
	right := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(drawn, "\n\tstyle", " style"), "\n") {
		data, style := parsePath(line)
		if style == rightStyle {
			right = markPosition(data)
			continue
		}
		if tag, content, is := parseText(line); is {
			line = alignRight(withoutFont(tag), right) + content
			right = ""
		}
		out.WriteString(line)
		out.WriteByte('\n')
	}
	return strings.TrimSpace(out.String())
}

// withoutFont removes the font from a text's tag.
func withoutFont(tag string) string {
	before, font, found := strings.Cut(tag, "font-family:")
	if _, after, is := strings.Cut(font, "font-style:"); found && is {
		_, after, _ = strings.Cut(after, ";")
		return before + after
	}
	return tag
}

// alignRight returns the tag of a text that ends at a position; unchanged if right is empty.
func alignRight(tag, right string) string {
	if right == "" {
		return tag
	}
	_, after, _ := strings.Cut(strings.TrimPrefix(tag, `<text x="`), `"`)
	return `<text text-anchor="end" x="` + right + `"` + after
}

// parsePath returns the data and style of a path; empty for any other line.
func parsePath(line string) (data, style string) {
	rest, isPath := strings.CutPrefix(line, `<path d="`)
	rest, isWhole := strings.CutSuffix(rest, `" />`)
	if !isPath || !isWhole {
		return "", ""
	}
	data, style, _ = strings.Cut(rest, `" style="`)
	return data, style
}

// parseText returns a text's tag and the rest of the line.
func parseText(line string) (tag, content string, is bool) {
	if !strings.HasPrefix(line, "<text ") {
		return "", "", false
	}
	end := strings.IndexByte(line, '>')
	return line[:end+1], line[end+1:], end > 0
}

// Styles of marks, as the canvas writes them.
var beginStyle, endStyle, rightStyle = fillStyle(markBegin), fillStyle(markEnd), fillStyle(markRight)

// fillStyle is the style of a path filled with a color, as the canvas writes it.
func fillStyle(of color.RGBA) string { return "fill:" + strings.ToUpper(hexColor(of)) }

// markPosition is the horizontal position of a mark.
func markPosition(data string) string {
	at, _, _ := strings.Cut(strings.TrimPrefix(data, "M"), ",")
	return at
}

// withoutMarks is the picture without the marks around the elements of arms.
func withoutMarks(svg string) string {
	var out strings.Builder
	for line := range strings.SplitAfterSeq(svg, "\n") {
		if _, style := parsePath(strings.TrimSuffix(line, "\n")); style != beginStyle && style != endStyle {
			out.WriteString(line)
		}
	}
	return out.String()
}

var (
	// colorVariables maps the colors of a light page to CSS variables; wordVariables does so for
	// text, which must be legible. Other colors stay.
	colorVariables = strings.NewReplacer(variables(roles(), "")...)
	wordVariables  = strings.NewReplacer(append(variables(seriesRoles(), "-text"), variables(roles(), "")...)...)
)

// variables maps colors to CSS variables with a suffix.
func variables(of []Role, ending string) []string {
	var pairs []string
	for _, known := range of {
		pairs = append(pairs, strings.ToUpper(hexColor(known.light)), "var(--"+known.variable+ending+")")
	}
	return pairs
}

// Inline is the picture as part of a page whose style sheet has the colors. Arms become groups,
// consecutive paths of the same style become one, and numbers are no longer than visible.
func Inline(p document.Picture, alt string) string {
	var out strings.Builder
	var path strings.Builder
	last := ""
	for line := range strings.SplitSeq(string(p), "\n") {
		data, style := parsePath(line)
		if style != last && last != "" {
			fmt.Fprintf(&out, "<path d=\"%s\" style=\"%s\" />\n", path.String(), colorVariables.Replace(last))
			path.Reset()
		}
		switch last = ""; style {
		case "":
			out.WriteString(compactElement(line) + "\n")
		case beginStyle:
			out.WriteString(`<g data-arm="` + markPosition(data) + "\">\n")
		case endStyle:
			out.WriteString("</g>\n")
		default:
			path.WriteString(compactPath(data))
			last = style
		}
	}
	svg := strings.TrimSuffix(out.String(), "\n")
	svg = strings.Replace(svg, ` xmlns="http://www.w3.org/2000/svg"`, "", 1)
	return strings.Replace(svg, "<svg ", `<svg role="img" aria-label="`+EscapeXML(alt)+`" `, 1)
}

// compactElement compacts elements other than paths with a style. The content of a text stays as
// it is.
func compactElement(line string) string {
	if tag, content, is := parseText(line); is {
		return wordVariables.Replace(compactAttributes(tag)) + content
	}
	return colorVariables.Replace(compactAttributes(line))
}

// compactAttributes rounds the coordinates of a tag to visible precision.
func compactAttributes(tag string) string {
	for _, name := range []string{` d="`, ` x="`, ` y="`} {
		before, rest, found := strings.Cut(tag, name)
		if value, after, closed := strings.Cut(rest, `"`); found && closed {
			tag = before + name + compactPath(value) + `"` + after
		}
	}
	return tag
}

// compactPath rounds the numbers of a path's data to a tenth of a pixel: more is invisible, and a
// page has tens of thousands. Lines become steps from point to point.
func compactPath(data string) string {
	if steps, are := relativePath(data); are {
		return steps
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(data, ".")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		data = strings.TrimLeft(after, "0123456789")
		if digits := after[:len(after)-len(data)]; digits == "" || digits[0] != '0' {
			out.WriteString("." + digits[:min(len(digits), 1)])
		}
	}
}

// relativePath writes a path of lines with each point but the first as its distance from the
// previous one; false for other paths. Distances are between rounded points, so errors don't add
// up.
func relativePath(data string) (steps string, are bool) {
	var out []byte
	var lastX, lastY int
	for data != "" {
		command := data[0]
		if command == 'Z' {
			out, data = append(out, 'Z'), data[1:]
			continue
		}
		end := strings.IndexAny(data[1:], "MLZ") + 1
		if end == 0 {
			end = len(data)
		}
		x, y, is := parsePoint(data[1:end])
		data = data[end:]
		switch {
		case is && command == 'M':
			out = appendPoint(append(out, 'M'), x, y)
		case is && command == 'L':
			out = appendPoint(append(out, 'l'), x-lastX, y-lastY)
		default:
			return "", false
		}
		lastX, lastY = x, y
	}
	return string(out), true
}

// farthest is outside any picture.
const farthest = 1e6

// parsePoint reads two numbers in tenths; false for anything else, or a point outside any
// picture.
func parsePoint(text string) (x, y int, is bool) {
	first, second, _ := strings.Cut(text, ",")
	across, notAcross := strconv.ParseFloat(first, 64)
	up, notUp := strconv.ParseFloat(second, 64)
	if notAcross != nil || notUp != nil || !(math.Hypot(across, up) < farthest) {
		return 0, 0, false
	}
	return int(math.Round(10 * across)), int(math.Round(10 * up)), true
}

func appendPoint(to []byte, x, y int) []byte {
	return appendTenths(append(appendTenths(to, x), ','), y)
}

// appendTenths writes a number of tenths with the fewest characters.
func appendTenths(to []byte, tenths int) []byte {
	if tenths < 0 {
		to, tenths = append(to, '-'), -tenths
	}
	whole, tenth := tenths/10, tenths%10
	if whole != 0 || tenth == 0 {
		to = strconv.AppendInt(to, int64(whole), 10)
	}
	if tenth != 0 {
		to = append(to, '.', byte('0'+tenth))
	}
	return to
}

var viewBox = regexp.MustCompile(`viewBox="0 0 ([0-9.]+) ([0-9.]+)"`)

// File is the picture on its own, on white, below its title: on a wiki nothing else says what it
// shows.
func File(p document.Picture, title, alt string) []byte {
	svg := withoutMarks(string(p))
	at := strings.IndexByte(svg, '>') + 1
	size := viewBox.FindStringSubmatch(svg[:at])
	if size == nil {
		panic("a chart has no size")
	}
	lines := wrapText(title, titleLength)
	above := titleHeight*len(lines) + 6
	height, _ := strconv.ParseFloat(size[2], 64) // As the expression has it.
	box := fmt.Sprintf(`font-family="Liberation Sans, Arial, Helvetica, sans-serif" viewBox="0 -%d %s %g"`, above, size[1], height+float64(above))
	var heading strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&heading, `<text x="4" y="%d" style="font-size:12px;font-weight:bold;fill:#1c2330">%s</text>`+"\n", titleHeight*(i+1)-above, EscapeXML(line))
	}
	return []byte(prose.Printable(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + strings.Replace(svg[:at], size[0], box, 1) + "\n<title>" + EscapeXML(alt) + "</title>\n" +
		fmt.Sprintf(`<rect y="-%d" width="100%%" height="100%%" fill="#ffffff"/>`, above) + "\n" + heading.String() + svg[at:] + "\n"))
}

const (
	titleHeight = 16
	// titleLength is the number of characters that fit side by side above a chart.
	titleLength = 62
)

// wrapText breaks a text into lines of at most length characters, between words if possible.
func wrapText(text string, length int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		last := len(lines) - 1
		if last >= 0 && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= length {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}
