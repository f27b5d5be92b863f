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

// fitPicture a picture into what room is left.
func (n *note) fitPicture(shown *document.Inset, left *noteBudget) {
	if shown.Fault == "" && len(shown.Body) > left.pictures {
		shown.Fault = fmt.Sprintf("the pictures of all notes would have more than %d MiB", maxAllPictures>>20)
	}
	if shown.Fault != "" {
		n.addMissing(shown.FaultText())
		return
	}
	if len(shown.Without) > 0 {
		n.addMissing(fmt.Sprintf("picture %q: it is shown without %s", shown.Name, prose.Enumerate(shown.Without)))
	}
	left.pictures -= len(shown.Body)
}

// newInset is the picture of this name. Its file is called by its place in the note, as a
// name may hold anything.
func (n *note) newInset(name string, files map[string][]byte, place int) document.Inset {
	shown := document.Inset{Name: name}
	if path, err := url.PathUnescape(name); err == nil {
		name = path
	}
	body, there := files[name]
	switch {
	case strings.Contains(name, ":") || strings.HasPrefix(name, "/"):
		shown.Fault = "a report fetches nothing: put the picture beside the note, and name its file"
	case !there:
		shown.Fault = "there is none of that name beside the note"
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

// takePicture takes a picture as it is, or a drawing as it is drawn anew: within a page it could run
// nothing; as a file beside one, opened by itself, it could.
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
	return fmt.Sprintf("it has %d KiB, more than the %d that a picture may have", (len(body)+1023)>>10, MaxPictureBytes>>10)
}

// pixelKind is the kind of a picture of pixels, as its first bytes have it; empty: it is none.
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

// noPicture says that a file is none.
const noPicture = "it is no PNG, JPEG, GIF, WebP or SVG"
