// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// inset is a picture that a note shows, or why it does not.
type inset struct {
	// name is what the note calls it, file what it is written to beside a page that
	// can't hold it.
	name, file string
	// kind is that of its bytes, whatever its name says.
	kind string
	body []byte
	// alt says what is on it.
	alt string
	// fault says why it is not shown; empty: it is.
	fault string
}

// pictureEndings are those of files, by the kinds of pictures.
var pictureEndings = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", svgKind: ".svg",
}

// KindOfPicture is the MIME type of a file that Pictures names.
func KindOfPicture(file string) string {
	for kind, ending := range pictureEndings {
		if strings.HasSuffix(file, ending) {
			return kind
		}
	}
	return ""
}

const svgKind = "image/svg+xml"

// illustrate finds the pictures that a note shows among the files beside it. Each takes
// room as often as it is shown.
func (n *note) illustrate(files map[string][]byte, left *room) {
	n.insets = map[*ast.Image]*inset{}
	known := map[string]*inset{}
	walk(n.text, func(node ast.Node, entering bool) ast.WalkStatus {
		image, is := node.(*ast.Image)
		if !is || !entering {
			return ast.WalkContinue
		}
		name := strings.TrimPrefix(resolved(image.Destination), "./")
		if known[name] == nil {
			known[name] = n.insetOf(name, files, len(known)+1)
		}
		shown := *known[name]
		shown.alt = lettersOf(image, n.source)
		if shown.fault == "" && len(shown.body) > left.pictures {
			shown.fault = fmt.Sprintf("the pictures of all notes would have more than %d MiB", maxAllPictures>>20)
		}
		if shown.fault == "" {
			left.pictures -= len(shown.body)
		} else {
			n.miss(&shown)
		}
		n.insets[image] = &shown
		return ast.WalkSkipChildren
	})
}

// miss notes a picture that is not shown, once.
func (n *note) miss(shown *inset) {
	if told := shown.whyNot(); !slices.Contains(n.missing, told) {
		n.missing = append(n.missing, told)
	}
}

// insetOf is the picture of this name. Its file is called by its place in the note, as a
// name may hold anything.
func (n *note) insetOf(name string, files map[string][]byte, place int) *inset {
	shown := &inset{name: name}
	if path, err := url.PathUnescape(name); err == nil {
		name = path
	}
	body, there := files[name]
	switch {
	case strings.Contains(name, ":") || strings.HasPrefix(name, "/"):
		shown.fault = "a report fetches nothing: put the picture beside the note, and name its file"
	case !there:
		shown.fault = "there is none of that name beside the note"
	case len(body) > MaxPictureBytes:
		shown.fault = fmt.Sprintf("it has %d KiB, more than the %d that a picture may have", (len(body)+1023)>>10, MaxPictureBytes>>10)
	default:
		shown.kind, shown.fault = kindOf(body)
	}
	if shown.fault == "" {
		shown.body = body
		shown.file = fileName(fmt.Sprintf("note-%s-%d", n.name, place)) + pictureEndings[shown.kind]
	}
	return shown
}

// whyNot it is not shown.
func (i *inset) whyNot() string { return fmt.Sprintf("picture %q: %s", i.name, i.fault) }

// told stands in its place.
func (i *inset) told() string {
	switch {
	case i.fault != "":
		return "[" + i.whyNot() + "]"
	case i.alt == "":
		return fmt.Sprintf("[picture %q]", i.name)
	}
	return "[picture: " + i.alt + "]"
}

// leftOut stands in the place of a picture that is there, and why it is not shown here.
func (i *inset) leftOut(why string) string {
	return strings.TrimSuffix(i.told(), "]") + ": " + why + "]"
}

// dataURI is the picture as an address that holds it.
func (i *inset) dataURI() string {
	return "data:" + i.kind + ";base64," + base64.StdEncoding.EncodeToString(i.body)
}

// kindOf a picture, as its first bytes have it; or what is wrong with it.
func kindOf(body []byte) (kind, fault string) {
	begins := func(with string) bool { return bytes.HasPrefix(body, []byte(with)) }
	switch {
	case begins("\x89PNG\r\n\x1a\n"):
		return "image/png", ""
	case begins("\xff\xd8\xff"):
		return "image/jpeg", ""
	case begins("GIF87a"), begins("GIF89a"):
		return "image/gif", ""
	case len(body) > 12 && begins("RIFF") && string(body[8:12]) == "WEBP":
		return "image/webp", ""
	}
	return svgKind, faultOfSVG(body)
}

// noPicture says that a file is none.
const noPicture = "it is no PNG, JPEG, GIF, WebP or SVG"

// faultOfSVG says why a drawing is not shown; empty: it is. Within a page it could run
// nothing; as a file beside one, opened by itself, it could.
func faultOfSVG(body []byte) string {
	decoder := xml.NewDecoder(bytes.NewReader(body))
	isDrawing := false
	for {
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && isDrawing:
			return ""
		case err != nil:
			return noPicture
		}
		start, is := token.(xml.StartElement)
		if is && !isDrawing && (start.Name.Local != "svg" || start.Name.Space != "http://www.w3.org/2000/svg") {
			return noPicture
		}
		isDrawing = isDrawing || is
		if doesMore(token) {
			return "it does more than draw: it has scripts, or refers to something outside of itself; save it as plain SVG, or as PNG"
		}
	}
}

// doesMore tells what a drawing needs none of.
func doesMore(token xml.Token) bool {
	switch token := token.(type) {
	case xml.StartElement:
		return slices.Contains(activeElements, strings.ToLower(token.Name.Local)) || slices.ContainsFunc(token.Attr, isActive)
	case xml.CharData:
		return reaches(string(token))
	case xml.Directive:
		return bytes.ContainsRune(token, '[')
	case xml.ProcInst:
		return token.Target != "xml"
	}
	return false
}

// activeElements run something or show another document.
var activeElements = []string{"script", "foreignobject", "iframe", "object", "embed", "audio", "video", "link", "handler", "listener"}

// insides are what a reference may point at: a part of the drawing, or a picture in it.
var insides = regexp.MustCompile(`^(#|data:image/(png|jpeg|gif|webp);)`)

func isActive(attribute xml.Attr) bool {
	name := strings.ToLower(attribute.Name.Local)
	switch {
	case attribute.Name.Space == "xmlns" || name == "xmlns":
		return false
	case name == "href" || name == "src":
		return !insides.MatchString(strings.TrimSpace(attribute.Value))
	}
	return strings.HasPrefix(name, "on") || reaches(attribute.Value)
}

var (
	styleReference = regexp.MustCompile(`(?i)url\(\s*['"]?\s*([^)]{0,20})`)
	// beyond is what a style or an animation may hold that leads out of a drawing.
	beyond = regexp.MustCompile(`(?i)@import|javascript:`)
)

// reaches tells a text that, in a style or an animation, leads out of the drawing.
func reaches(text string) bool {
	if beyond.MatchString(text) {
		return true
	}
	return slices.ContainsFunc(styleReference.FindAllStringSubmatch(text, -1), func(found []string) bool {
		return !strings.HasPrefix(found[1], "#") && !strings.HasPrefix(found[1], "data:")
	})
}
