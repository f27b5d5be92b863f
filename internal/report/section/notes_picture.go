// SPDX-License-Identifier: Apache-2.0

package section

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/report/redraw"
	"perflab.dev/perflab/internal/text/prose"
)

// pictureEndings are file extensions by media type.
var pictureEndings = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", svgKind: ".svg",
}

// KindOfPicture returns the media type of a file that Pictures names.
func KindOfPicture(file string) string {
	for kind, ending := range pictureEndings {
		if strings.HasSuffix(file, ending) {
			return kind
		}
	}
	return ""
}

const svgKind = "image/svg+xml"

// illustrate finds the pictures of a note among the files beside it. A picture uses space each
// time it is shown.
func (n *note) illustrate(files map[string][]byte, left *noteBudget) {
	known := map[string]document.Inset{}
	n.text.Illustrate(func(address, alt string) *document.Inset {
		name := strings.TrimPrefix(address, "./")
		if _, is := known[name]; !is {
			known[name] = n.newInset(name, files, len(known)+1)
		}
		shown := known[name]
		shown.Alt = alt
		n.fitPicture(&shown, left)
		return &shown
	})
}

// fitPicture checks that a picture fits into the remaining space.
func (n *note) fitPicture(shown *document.Inset, left *noteBudget) {
	if shown.Fault == "" && len(shown.Body) > left.pictures {
		shown.Fault = fmt.Sprintf("the pictures of all notes exceed %d MiB", maxAllPictures>>20)
	}
	if shown.Fault != "" {
		n.addMissing(shown.FaultText())
		return
	}
	if len(shown.Without) > 0 {
		n.addMissing(fmt.Sprintf("picture %q is shown without %s", shown.Name, prose.Enumerate(shown.Without)))
	}
	left.pictures -= len(shown.Body)
}

// newInset is the picture of this name. Its file name comes from its place in the note, because
// the name is untrusted.
func (n *note) newInset(name string, files map[string][]byte, place int) document.Inset {
	shown := document.Inset{Name: name}
	if path, err := url.PathUnescape(name); err == nil {
		name = path
	}
	body, there := files[name]
	switch {
	case strings.Contains(name, ":") || strings.HasPrefix(name, "/"):
		shown.Fault = "external pictures are not supported: put the file next to the note, and use its name"
	case !there:
		shown.Fault = "there is no file of that name next to the note"
	case len(body) > MaxPictureBytes:
		shown.Fault = tooLargeText(body)
	default:
		takePicture(&shown, body)
	}
	if shown.Fault == "" {
		shown.File = document.FileName(fmt.Sprintf("note-%s-%d", n.name, place)) + pictureEndings[shown.Kind]
	}
	return shown
}

// takePicture takes a bitmap as it is, and a drawing redrawn: within a page it could run nothing,
// but as a separate file, opened directly, it could.
func takePicture(i *document.Inset, body []byte) {
	if i.Kind = pixelKind(body); i.Kind != "" {
		i.Body = body
		return
	}
	i.Kind = svgKind
	drawn, without, err := redraw.SVG(body)
	switch {
	case errors.Is(err, redraw.ErrNoSVG):
		i.Fault = noPicture
	case err != nil:
		i.Fault = err.Error()
	case len(drawn) > MaxPictureBytes:
		i.Fault = tooLargeText(drawn)
	default:
		i.Body, i.Without = drawn, without
	}
}

func tooLargeText(body []byte) string {
	return fmt.Sprintf("it has %d KiB, more than the limit of %d KiB", (len(body)+1023)>>10, MaxPictureBytes>>10)
}

// pixelKind is the media type of a bitmap, by its first bytes; empty for other files.
func pixelKind(body []byte) string {
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

// noPicture is the error for other files.
const noPicture = "it is not a PNG, JPEG, GIF, WebP or SVG file"
