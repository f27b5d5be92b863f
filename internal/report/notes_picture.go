// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"perflab.dev/perflab/internal/report/redraw"
	"perflab.dev/perflab/internal/text/prose"
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
	// without is what of it is left out.
	without []string
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
		switch {
		case shown.fault != "":
			n.miss(shown.whyNot())
		case len(shown.without) > 0:
			n.miss(fmt.Sprintf("picture %q: it is shown without %s", shown.name, prose.Enumerate(shown.without)))
		}
		if shown.fault == "" {
			left.pictures -= len(shown.body)
		}
		n.insets[image] = &shown
		return ast.WalkSkipChildren
	})
}

// miss notes a picture that is not shown, or not whole, once.
func (n *note) miss(told string) {
	if !slices.Contains(n.missing, told) {
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
		shown.fault = tooLarge(body)
	default:
		shown.take(body)
	}
	if shown.fault == "" {
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

// take a picture as it is, or a drawing as it is drawn anew: within a page it could run
// nothing; as a file beside one, opened by itself, it could.
func (i *inset) take(body []byte) {
	if i.kind = pixelsOf(body); i.kind != "" {
		i.body = body
		return
	}
	i.kind = svgKind
	drawn, without, err := redraw.SVG(body)
	switch {
	case errors.Is(err, redraw.ErrNoSVG):
		i.fault = noPicture
	case err != nil:
		i.fault = err.Error()
	case len(drawn) > MaxPictureBytes:
		i.fault = tooLarge(drawn)
	default:
		i.body, i.without = drawn, without
	}
}

func tooLarge(body []byte) string {
	return fmt.Sprintf("it has %d KiB, more than the %d that a picture may have", (len(body)+1023)>>10, MaxPictureBytes>>10)
}

// pixelsOf is the kind of a picture of pixels, as its first bytes have it; empty: it is none.
func pixelsOf(body []byte) string {
	begins := func(with string) bool { return bytes.HasPrefix(body, []byte(with)) }
	switch {
	case begins("\x89PNG\r\n\x1a\n"):
		return "image/png"
	case begins("\xff\xd8\xff"):
		return "image/jpeg"
	case begins("GIF87a"), begins("GIF89a"):
		return "image/gif"
	case len(body) > 12 && begins("RIFF") && string(body[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// noPicture says that a file is none.
const noPicture = "it is no PNG, JPEG, GIF, WebP or SVG"
