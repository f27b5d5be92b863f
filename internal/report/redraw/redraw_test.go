// SPDX-License-Identifier: Apache-2.0

package redraw_test

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"perflab.dev/perflab/internal/report/redraw"
	"perflab.dev/perflab/internal/testing/browser"
	"perflab.dev/perflab/internal/testing/expect"
)

// shell is a picture with some content.
func shell(inside string) string {
	return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="8" height="8">` + inside + `<rect id="rest" width="8" height="8"/></svg>`
}

func utf16Of(text string) string {
	bytes := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		bytes = append(bytes, byte(unit), byte(unit>>8))
	}
	return string(bytes)
}

var nested = "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`))

// tricks run scripts, fetch something or link elsewhere in some programs.
var tricks = map[string]string{
	"a script":                       shell(`<script>alert(1)</script>`),
	"a script with a prefix":         shell(`<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>`),
	"a script of HTML":               shell(`<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>`),
	"a script from elsewhere":        shell(`<script href="https://evil.example/a.js"/><script xlink:href="https://evil.example/a.js"/>`),
	"a script in CDATA":              shell(`<script><![CDATA[alert(1)]]></script>`),
	"a script in other letters":      shell(`<SCRIPT>alert(1)</SCRIPT><Script>alert(1)</Script>`),
	"a script in a script":           shell(`<script><script>a</script>alert(1)</script>`),
	"a script in what is left out":   shell(`<unknown><script>alert(1)</script></unknown>`),
	"a script in a style":            shell(`<style><script>alert(1)</script></style>`),
	"a script in a title":            shell(`<title><script>alert(1)</script></title>`),
	"a script in an entity":          `<!DOCTYPE svg [<!ENTITY a "&#60;script>alert(1)&#60;/script>">]>` + shell(`&a;`),
	"handlers":                       shell(`<rect onload="alert(1)" ONCLICK="alert(1)" onbegin="alert(1)"/>`),
	"a handler of the root":          `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
	"a handler with a prefix":        shell(`<rect xmlns:x="http://www.w3.org/2000/svg" x:onload="alert(1)"/>`),
	"handlers of XML events":         shell(`<handler xmlns:ev="http://www.w3.org/2001/xml-events" ev:event="load">alert(1)</handler><listener event="load" handler="https://evil.example/a"/>`),
	"a link that runs":               shell(`<a href="javascript:alert(1)"><text>a</text></a>`),
	"a link in other letters":        shell(`<a xlink:href="JaVa&#x73;cript:alert(1)"/><a href="&#9;java&#10;script:alert(1)"/>`),
	"a link with its own prefix":     shell(`<a xmlns:x="http://www.w3.org/1999/xlink" x:href="javascript:alert(1)"/>`),
	"a link elsewhere":               shell(`<a href="https://evil.example/" target="_top"><rect/></a>`),
	"a link to data":                 shell(`<a href="data:text/html,&lt;script&gt;alert(1)&lt;/script&gt;"/>`),
	"an animation of a link":         shell(`<a href="#"><animate attributeName="href" values="javascript:alert(1)"/><set attributeName="xlink:href" to="javascript:alert(1)"/></a>`),
	"an animation from elsewhere":    shell(`<set href="#rest" attributeName="href" to="https://evil.example/"/><animateTransform begin="0s" onbegin="alert(1)"/>`),
	"HTML":                           shell(`<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="alert(1)"/><iframe src="https://evil.example/"/></body></foreignObject>`),
	"HTML without foreignObject":     shell(`<h:iframe xmlns:h="http://www.w3.org/1999/xhtml" src="https://evil.example/"/><iframe src="https://evil.example/"/>`),
	"media":                          shell(`<audio src="https://evil.example/a"/><video href="https://evil.example/a"/><embed src="https://evil.example/a"/><object data="https://evil.example/a"/>`),
	"a picture from elsewhere":       shell(`<image href="https://evil.example/a.png"/><image xlink:href="//evil.example/a.png"/><image href="file:///etc/passwd"/>`),
	"a picture in other letters":     shell(`<image HREF="https://evil.example/a.png" hRef="https://evil.example/a.png"/>`),
	"two references of one picture":  shell(`<image href="#rest" xlink:href="https://evil.example/a.png"/>`),
	"a picture that is a document":   shell(`<image href="` + nested + `"/><image href="data:image/svg+xml,&lt;svg onload='alert(1)'/&gt;"/>`),
	"a picture with a parameter":     shell(`<image href="data:image/png;x=https://evil.example;base64,AAAA"/>`),
	"a part of another document":     shell(`<use href="https://evil.example/a.svg#a"/><use xlink:href="a.svg#evil.example"/><use href="` + nested + `#a"/>`),
	"a filter's picture":             shell(`<filter id="f"><feImage href="https://evil.example/a.png"/></filter><rect filter="url(#f)"/>`),
	"a gradient of elsewhere":        shell(`<linearGradient id="g" href="https://evil.example/a.svg#g"/><pattern xlink:href="https://evil.example/a.svg#p"/>`),
	"a paint from elsewhere":         shell(`<rect fill="url(https://evil.example/a#b)" stroke="url( 'https://evil.example/a#b' )" mask='url("https://evil.example/a#b")' clip-path="URL(https://evil.example/a#b)"/>`),
	"a paint that is spelled":        shell(`<rect fill="u\72l(https://evil.example/a)" filter="\75\72\6c(https://evil.example/a)"/>`),
	"a paint behind a comment":       shell(`<rect fill="url/**/(https://evil.example/a)" mask="/*url(#a)*/url(https://evil.example/a)"/>`),
	"a paint behind a local one":     shell(`<rect fill="url(#a) url(https://evil.example/a)" style="fill:url(#a),url(//evil.example/a)"/>`),
	"a paint of local letters":       shell(`<rect fill="url(#a)https://evil.example/)" mask="url('#a'),image-set('https://evil.example/a' 1x)"/>`),
	"sets of pictures":               shell(`<g mask="image-set('https://evil.example/a' 1x)" style="mask-image:-webkit-image-set(url(https://evil.example/a) 1x);background:image('https://evil.example/a');cursor:src('https://evil.example/a')"/>`),
	"a style that fetches":           shell(`<g style="background-image:url(https://evil.example/a);filter:url('https://evil.example/a')"/>`),
	"a style that is spelled":        shell(`<g style="background:u\rl(https://evil.example/a);fill:ur&#92;6c(https://evil.example/a)"/>`),
	"a style that runs":              shell(`<g style="width:expression(alert(1));behavior:url(https://evil.example/a.htc);-moz-binding:url(https://evil.example/a.xml#x)"/>`),
	"a variable that fetches":        shell(`<g style="--a:url(https://evil.example/a);fill:var(--a)"/>`),
	"a sheet that imports":           shell(`<style>@import "https://evil.example/a.css";@import url(//evil.example/b.css);</style>`),
	"a sheet that imports in CDATA":  shell(`<style><![CDATA[@import "https://evil.example/a.css";]]></style>`),
	"a sheet behind a comment":       shell(`<style>/**/@im/**/port "https://evil.example/a.css"; a{/*}*/background:url(https://evil.example/a)}</style>`),
	"a sheet with an open comment":   shell(`<style>a{fill:red}/* @import "https://evil.example/a.css"; b{fill:url(https://evil.example/a)}</style>`),
	"a sheet that is spelled":        shell(`<style>@\69mport "https://evil.example/a.css"; a{fill:u\72 l(https://evil.example/a)}</style>`),
	"a sheet with a font":            shell(`<style>@font-face{font-family:a;src:url(https://evil.example/a.woff)} text{font-family:a}</style>`),
	"a sheet in a condition":         shell(`<style>@media all{rect{fill:url(https://evil.example/a)}} @supports (fill:red){@import "https://evil.example/a.css";}</style>`),
	"a sheet with nested rules":      shell(`<style>rect{fill:red; &amp; g{background:url(https://evil.example/a)}}</style>`),
	"a sheet with strings":           shell(`<style>a{content:"}"; b:"{"} c{d:"/*"; fill:url(https://evil.example/a); e:"*/"}</style>`),
	"a sheet that ends early":        shell(`<style>a{fill:red}&lt;/style>&lt;script>alert(1)&lt;/script></style>`),
	"a sheet of HTML":                shell(`<style xmlns="http://www.w3.org/1999/xhtml">@import "https://evil.example/a.css";</style><link xmlns="http://www.w3.org/1999/xhtml" rel="stylesheet" href="https://evil.example/a.css"/>`),
	"a sheet beside it":              `<?xml-stylesheet type="text/css" href="https://evil.example/a.css"?>` + shell(""),
	"a sheet that transforms":        `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="https://evil.example/a.xsl"?>` + shell(""),
	"a sheet within it":              shell(`<?xml-stylesheet href="https://evil.example/a.css"?>`),
	"a base":                         `<svg xmlns="http://www.w3.org/2000/svg" xml:base="https://evil.example/"><use href="#a"/></svg>`,
	"an entity from elsewhere":       `<!DOCTYPE svg [<!ENTITY a SYSTEM "https://evil.example/a">]>` + shell(`&a;`),
	"a DTD from elsewhere":           `<!DOCTYPE svg SYSTEM "https://evil.example/a.dtd">` + shell(""),
	"a parameter entity":             `<!DOCTYPE svg [<!ENTITY % a SYSTEM "https://evil.example/a.dtd"> %a;]>` + shell(""),
	"an attribute with markup":       shell(`<text id="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;">a</text>`),
	"text with markup":               shell(`<text>&lt;script&gt;alert(1)&lt;/script&gt;</text>`),
	"another encoding":               `<?xml version="1.0" encoding="UTF-7"?>` + shell("+ADw-script+AD4-alert(1)+ADw-/script+AD4-"),
	"UTF-16":                         utf16Of(`<?xml version="1.0" encoding="UTF-16"?>` + shell(`<script>alert(1)</script>`)),
	"Latin-1":                        `<?xml version="1.0" encoding="ISO-8859-1"?>` + shell("<script>alert(1)</script><text>\xe4</text>"),
	"letters that are none":          shell("<scr\x00ipt>alert(1)</script>"),
	"a second picture behind":        shell("") + `<script xmlns="http://www.w3.org/2000/svg">alert(1)</script>`,
	"HTML behind":                    shell("") + `<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>`,
	"HTML that is called SVG":        `<svg xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></svg>`,
	"a picture of no namespace":      `<svg><script>alert(1)</script></svg>`,
	"a picture cut off":              `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script>`,
	"a view of another document":     shell(`<view viewTarget="https://evil.example/"/><cursor href="https://evil.example/a"/><glyphRef href="https://evil.example/a"/><tref href="https://evil.example/a"/><mpath href="https://evil.example/a"/><color-profile href="https://evil.example/a"/><font-face-uri href="https://evil.example/a"/>`),
	"an attribute of another script": shell(`<g xmlns:x="urn:x" x:href="javascript:alert(1)" href="javascript:alert(1)" src="javascript:alert(1)" formaction="javascript:alert(1)" data="https://evil.example/"/>`),
}

// said matches traces of a trick that worked.
var said = regexp.MustCompile(`alert\(1\)|evil\.example|javascript|passwd|image/svg`)

func TestTricksAreGone(t *testing.T) {
	for name, document := range tricks {
		t.Run(name, func(t *testing.T) {
			drawn, _, err := redraw.SVG([]byte(document))
			if err != nil {
				if drawn != nil {
					t.Errorf("what is refused is drawn: %s", drawn)
				}
				return
			}
			// Text that is only shown is harmless.
			active := regexp.MustCompile(`<text[^>]*>[^<]*</text>`).ReplaceAllString(string(drawn), "")
			active = regexp.MustCompile(` id="[^"]*"`).ReplaceAllString(active, "")
			if found := said.FindString(active); found != "" {
				t.Errorf("%q is left:\n%s", found, drawn)
			}
			isPlain(t, drawn)
			if !strings.Contains(string(drawn), "<rect") && strings.Contains(document, `id="rest"`) {
				t.Errorf("the rest is gone: %s", drawn)
			}
		})
	}
}

// isPlain fails the test if a picture has elements that don't draw, or if redrawing it again
// changes it.
func isPlain(t *testing.T, drawn []byte) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(drawn))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		expect.NoError(t, err, "reading %s", drawn)
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Space != "http://www.w3.org/2000/svg" || slices.Contains([]string{"script", "foreignObject", "a", "set", "animate", "feImage", "handler"}, token.Name.Local) {
				t.Errorf("there is an element %v in %s", token.Name, drawn)
			}
			names := map[string]bool{}
			for _, attribute := range token.Attr {
				if name := attribute.Name.Space + attribute.Name.Local; strings.HasPrefix(strings.ToLower(attribute.Name.Local), "on") || names[name] {
					t.Errorf("there is an attribute %v, or twice, in %s", attribute.Name, drawn)
				} else {
					names[name] = true
				}
			}
		case xml.ProcInst, xml.Directive, xml.Comment:
			t.Errorf("there is %T in %s", token, drawn)
		}
	}
	again, left, err := redraw.SVG(drawn)
	if err != nil || !bytes.Equal(again, drawn) || len(left) != 0 {
		t.Errorf("once more it is (%v, without %q)\n%s, not\n%s", err, left, again, drawn)
	}
}

// The result lists visible parts that were removed.
func TestWhatIsLeftOutIsTold(t *testing.T) {
	for inside, want := range map[string][]string{
		`<script>a</script><foreignObject/><animate/>`:                     {"animate", "foreignObject", "script"},
		`<rect onload="a" fill="url(//b)"/><image href="https://a"/>`:      {"an external reference", "onload"},
		`<style>@import "a";</style>`:                                      {"part of a style"},
		`<metadata><a/></metadata><a href="https://a"><rect/></a>`:         nil,
		`<rect data-a="b" xmlns:i="urn:i" i:b="c"/><i:b xmlns:i="urn:i"/>`: nil,
	} {
		_, left, err := redraw.SVG([]byte(shell(inside)))
		expect.NoError(t, err)
		if !slices.Equal(left, want) {
			t.Errorf("of %s is left out %q, want %q", inside, left, want)
		}
	}
}

func TestWhatIsNoPictureIsRefused(t *testing.T) {
	deep := func(levels int) string { return shell(strings.Repeat("<g>", levels) + strings.Repeat("</g>", levels)) }
	// Each level draws the next one ten times.
	var chain, styled, paints strings.Builder
	for n := range 12 {
		fmt.Fprintf(&chain, `<g id="l%d">%s</g>`, n, strings.Repeat(fmt.Sprintf(`<use href="#l%d"/>`, n+1), 10))
		fmt.Fprintf(&paints, `<pattern id="l%d">%s</pattern>`, n, strings.Repeat(fmt.Sprintf(`<rect fill="url(#l%d)"/>`, n+1), 10))
		fmt.Fprintf(&styled, `<style>.l%d{fill:url(#l%d)}</style><pattern id="l%d">%s</pattern>`, n, n+1, n, strings.Repeat(fmt.Sprintf(`<rect class="l%d"/>`, n), 10))
	}
	for name, tc := range map[string]struct {
		document string
		want     error
	}{
		"nothing":                {"", redraw.ErrNoSVG},
		"HTML":                   {"<html><body/></html>", redraw.ErrNoSVG},
		"letters":                {"alert(1)", redraw.ErrNoSVG},
		"entities":               {`<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>` + shell("&b;"), redraw.ErrEntities},
		"levels":                 {deep(100), nil},
		"too many levels":        {deep(300), redraw.ErrTooMuch},
		"levels left out":        {shell(strings.Repeat("<x>", 300) + strings.Repeat("</x>", 300)), redraw.ErrTooMuch},
		"uses of uses":           {shell(chain.String()), redraw.ErrTooMuch},
		"patterns of others":     {shell(paints.String()), redraw.ErrTooMuch},
		"patterns by a style":    {shell(styled.String()), redraw.ErrTooMuch},
		"a use of itself":        {shell(`<g id="a"><use href="#a"/></g>`), redraw.ErrTooMuch},
		"a use of what it is in": {shell(`<g id="a"><g id="b"><use xlink:href="#a"/></g></g>`), redraw.ErrTooMuch},
		"many uses":              {shell(`<g id="a"><path d="M0 0"/></g>` + strings.Repeat(`<use href="#a"/>`, 5000)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			_, _, err := redraw.SVG([]byte(tc.document))
			if !errors.Is(err, tc.want) {
				t.Errorf("it gives %v, want %v", err, tc.want)
			}
			if took := time.Since(begun); took > 2*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// ordinary are pictures as programs write them.
func ordinary(t *testing.T) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.svg")
	expect.NoError(t, err)
	found := map[string][]byte{}
	for _, path := range paths {
		found[filepath.Base(path)], err = os.ReadFile(path)
		expect.NoError(t, err)
	}
	return found
}

// Ordinary pictures are drawn completely.
func TestOrdinaryPictures(t *testing.T) {
	for name, document := range ordinary(t) {
		t.Run(name, func(t *testing.T) {
			drawn, left, err := redraw.SVG(document)
			expect.NoError(t, err)
			want := []string(nil)
			if name == "drawio.svg" {
				// The text is also there as SVG.
				want = []string{"foreignObject"}
			}
			if !slices.Equal(left, want) {
				t.Errorf("left out are %q, want %q", left, want)
			}
			isPlain(t, drawn)
		})
	}
}

// paint records how many pixels of a picture are not white, and a digest of all of them.
const paint = `window.seen = '';
(async (address) => {
	const image = new Image();
	image.src = address;
	await image.decode();
	const canvas = new OffscreenCanvas(480, 360), context = canvas.getContext('2d');
	context.fillStyle = 'white';
	context.fillRect(0, 0, 480, 360);
	context.drawImage(image, 0, 0, 480, 360);
	const data = context.getImageData(0, 0, 480, 360).data;
	let painted = 0, digest = 0;
	for (let i = 0; i < data.length; i += 4) painted += data[i] + data[i+1] + data[i+2] < 750 ? 1 : 0;
	for (const one of data) digest = (digest * 31 + one) %% 1000000007;
	window.seen = painted + ' ' + digest;
})("data:image/svg+xml;base64,%s");`

// Ordinary pictures look the same: a browser paints the same pixels.
func TestOrdinaryPicturesLookAsTheyDid(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	expect.NoError(t, os.WriteFile(page, []byte("<!DOCTYPE html><html lang=en><title>a</title>"), 0o600))
	tab := browser.New(t, 800, "file://"+page).Open("")
	painted := func(picture []byte) string {
		tab.Eval(fmt.Sprintf(paint, base64.StdEncoding.EncodeToString(picture)))
		tab.Until("window.seen")
		return browser.Ask[string](tab, "window.seen")
	}
	for name, document := range ordinary(t) {
		if name == "drawio.svg" {
			// Its HTML is removed, and the alternative text in SVG is shown.
			continue
		}
		drawn, _, err := redraw.SVG(document)
		expect.NoError(t, err)
		before, after := painted(document), painted(drawn)
		if before != after || strings.HasPrefix(before, "0 ") {
			t.Errorf("%s has pixels %s, and redrawn %s", name, before, after)
		}
	}
}

func FuzzSVG(f *testing.F) {
	for _, document := range tricks {
		f.Add([]byte(document))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		drawn, _, err := redraw.SVG(document)
		if err == nil {
			isPlain(t, drawn)
		}
	})
}
