// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/browser"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// drawing is a harmless picture.
const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><style>.a{fill:url(#g)}</style><rect class="a" width="8" height="8"/></svg>`

// findings is a ConfigMap of notes and pictures.
func findings(notes map[string]string, pictures map[string][]byte) corev1.ConfigMap {
	return corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: recorded.Namespace, Name: "findings"}, Data: notes, BinaryData: pictures}
}

// kept is a note in that ConfigMap.
func kept(name, key string, section v1alpha1.NoteSection) v1alpha1.Note {
	return v1alpha1.Note{Name: name, Section: section, ConfigMap: &v1alpha1.ConfigMapKey{Name: "findings", Key: key}}
}

// noted adds a note whose text and pictures are in the ConfigMap.
func noted(input report.Input, text string, pictures map[string][]byte) report.Input {
	input.Experiment.Spec.Notes = []v1alpha1.Note{kept("cause", "cause.md", "")}
	input.Notes = []corev1.ConfigMap{findings(map[string]string{"cause.md": text}, pictures)}
	return input
}

// few is an experiment with few runs, for tests that don't depend on runs.
func few() report.Input {
	input := recorded.Experiment(seed)
	input.Runs, input.Raw = input.Runs[:2], nil
	return input
}

// shownRun returns the run that charts over time show of an arm, according to their texts, and
// another run of the arm that no chart shows.
func shownRun(t *testing.T, input report.Input, arm string) (shown, other *v1alpha1.PerfRun) {
	t.Helper()
	block, blocks, all := "", map[string]bool{}, reportOf(t, input).Charts()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if found := regexp.MustCompile(`[ >]` + arm + ` \(block (\d)\): from`).FindSubmatch(all[name]); found != nil && strings.Contains(name, recorded.ConcurrentScenario) {
			blocks[string(found[1])] = true
			if block == "" {
				block = string(found[1])
			}
		}
	}
	for i := range input.Runs {
		run := &input.Runs[i]
		switch own := fmt.Sprint(run.Spec.Block); {
		case run.Spec.Arm != arm || run.Spec.Scenario.Name != recorded.ConcurrentScenario || run.Status.Phase != v1alpha1.RunSucceeded:
		case own == block:
			shown = run
		case !blocks[own]:
			other = run
		}
	}
	if shown == nil || other == nil {
		t.Fatalf("charts show the blocks %v of %s", blocks, arm)
	}
	return shown, other
}

// after is a time of a run, in minutes since its load began.
func after(run *v1alpha1.PerfRun, minutes float64) *metav1.Time {
	at := metav1.NewTime(run.Status.Timings.LoadStart.Add(time.Duration(minutes * float64(time.Minute))))
	return &at
}

// withNotes adds a note of each kind.
func withNotes(t *testing.T, input report.Input) report.Input {
	t.Helper()
	shown, other := shownRun(t, input, recorded.Arm)
	under := v1alpha1.Note{Name: "import", Section: v1alpha1.NoteResults, Scenario: recorded.AloneScenario, Text: "The import waits for **one** thread."}
	input.Experiment.Spec.Notes = []v1alpha1.Note{
		{Name: "decision", Text: "# We take it\n\nFrom *May* on, see [the ticket](https://tickets.example/7).\n\n1. first `a|b`\n2. then\n   - this\n   - that"},
		under,
		kept("cpu", "cpu.md", v1alpha1.NoteResources),
		{Name: "stopped", At: after(shown, 5), Text: "container stopped"},
		{Name: "backup", At: after(other, 2), Until: after(other, 4.5), Text: "backup"},
		{Name: "party", At: &metav1.Time{Time: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)}, Text: "party"},
	}
	input.Notes = []corev1.ConfigMap{findings(map[string]string{"cpu.md": "| broker | CPU |\n|---|---:|\n| 0 | 1.5 |\n\n![CPU of the brokers](cpu.png) ![sketch](./sketch.svg) ![gone](gone.png)\n\n```\n<code>\n```", "sketch.svg": drawing}, map[string][]byte{"cpu.png": recorded.Image()})}
	return input
}

// Every format labels notes as written by a person, in their sections.
func TestNotesStandInTheirSections(t *testing.T) {
	r := reportOf(t, withNotes(t, recorded.Experiment(seed)))
	const label = "(written by hand, not measured)"
	for name, sections := range map[string]map[string][]string{
		"report.md": {
			"## Summary":               {"> **Note decision " + label + "**\n>\n> ### We take it\n>\n> From *May* on, see [the ticket](<https://tickets.example/7>).\n>\n> 1. first `a|b`\n> 2. then\n>    - this\n>    - that\n"},
			"### Scenario create-5k\n": {"> **Note import " + label + "**\n>\n> The import waits for **one** thread.\n"},
			"## Resource utilization":  {"> | broker | CPU |\n> | --- | ---: |\n> | 0 | 1.5 |\n>\n> ![CPU of the brokers](charts/note-cpu-1.png) ![sketch](charts/note-cpu-2.svg) \\[picture \"gone.png\": there is no file of that name next to the note\\]\n>\n> ```\n> <code>\n> ```\n"},
		},
		"report.html": {
			`<section id="summary"`:       {`<div class="written" role="note" aria-label="Note decision ` + label + `"><p class="by">Note decision ` + label + `</p>`, "<h3>We take it</h3>", `<a href="https://tickets.example/7" rel="nofollow noopener noreferrer">the ticket</a>`},
			"<h3>Scenario create-5k</h3>": {"<p>The import waits for <strong>one</strong> thread.</p>"},
			`<section id="resources"`:     {`<th scope="col" style="text-align: right;">CPU</th>`, `<img src="data:image/png;base64,`, `" alt="CPU of the brokers" />`, `<img src="data:image/svg+xml;base64,`, "[picture &quot;gone.png&quot;: there is no file", `<pre tabindex="0"><code>&lt;code&gt;`},
		},
		"report.confluence": {
			"<h1>Summary</h1>":              {`<ac:structured-macro ac:name="panel"><ac:parameter ac:name="title">Note decision ` + label + `</ac:parameter>`, "<h2>We take it</h2>"},
			"<h2>Scenario create-5k</h2>":   {"The import waits for <strong>one</strong> thread."},
			"<h1>Resource utilization</h1>": {`<ac:image ac:alt="CPU of the brokers"><ri:attachment ri:filename="note-cpu-1.png" /></ac:image>`, `ri:filename="note-cpu-2.svg"`},
		},
	} {
		page := written(t, r, name)
		for from, wants := range sections {
			_, rest, found := strings.Cut(page, from)
			part := regexp.MustCompile(`(?m)^## |<section id|<h1>|^### Scenario|<h2>Scenario|<h3>Scenario`).Split(rest, 2)[0]
			for _, want := range wants {
				if !found || !strings.Contains(part, want) {
					t.Errorf("%s, %s lacks\n%s\nit is\n%.6000s", name, from, want, part)
				}
			}
		}
	}
	attached := wellFormed(t, "confluence", `<page xmlns:ac="urn:ac" xmlns:ri="urn:ri">`+written(t, r, "report.confluence")+"</page>")
	files := r.Pictures()
	if !bytes.Equal(files["note-cpu-1.png"], recorded.Image()) || !strings.HasPrefix(string(files["note-cpu-2.svg"]), "<svg ") || len(files) != 2 {
		t.Errorf("the pictures are %d", len(files))
	}
	for name := range files {
		if !slices.Contains(attached, name) {
			t.Errorf("the page in Confluence does not show %s", name)
		}
	}
	expect.Equal(t, []string{`note "cpu": picture "gone.png": there is no file of that name next to the note`}, r.Lacking(), "what is lacking")
	if without := r.Markdown(""); !strings.Contains(string(without), `\[picture: CPU of the brokers\]`) {
		t.Errorf("Markdown without files does not tell of its picture: %s", without)
	}
	if strings.Contains(written(t, r, "report.md"), "notes:") {
		t.Error("the declaration to do it again has the notes on what was done")
	}
}

// Every section in the API accepts notes.
func TestEverySectionTakesNotes(t *testing.T) {
	all := []v1alpha1.NoteSection{
		v1alpha1.NoteOverview, v1alpha1.NoteSummary, v1alpha1.NoteRecommendations, v1alpha1.NoteTestRuns, v1alpha1.NoteResults, v1alpha1.NoteComparison,
		v1alpha1.NoteResources, v1alpha1.NoteValidity, v1alpha1.NoteNoiseFloor, v1alpha1.NoteMethodology, v1alpha1.NoteAppendix,
	}
	input := few()
	for _, section := range all {
		input.Experiment.Spec.Notes = append(input.Experiment.Spec.Notes, v1alpha1.Note{Name: strings.ToLower(string(section)), Section: section, Text: "It ends " + string(section) + "."})
	}
	page := written(t, reportOf(t, input), "report.html")
	parts, at := strings.Split(page, "<section ")[1:], -1
	for _, section := range all {
		found := slices.IndexFunc(parts, func(part string) bool { return strings.Contains(part, "It ends "+string(section)+".") })
		if found <= at {
			t.Errorf("the note for %s is in section %d, behind that of %d", section, found, at)
		}
		at = found
	}
	for name, want := range map[string]v1alpha1.NoteSection{
		"results": v1alpha1.NoteResults, "Test Runs": v1alpha1.NoteTestRuns, "test-runs": v1alpha1.NoteTestRuns, "resource-utilisation": v1alpha1.NoteResources, "Resource utilization": v1alpha1.NoteResources,
		"Resources": v1alpha1.NoteResources, "noise_floor": v1alpha1.NoteNoiseFloor, "cause": v1alpha1.NoteSummary,
	} {
		expect.Equal(t, want, report.SectionNamed(name), "%s goes to", name)
	}
}

// evil are texts that must have no effect on a page.
var evil = map[string]string{
	"a script":               "<script>alert(1)</script>",
	"a script in a line":     "some <script src=https://evil.example/x.js></script> words",
	"a handler":              `<img src=x onerror="alert(1)">`,
	"a frame":                "<iframe src=https://evil.example></iframe>\n\n<object data=x></object>",
	"a comment":              "<!-- --!> --> <script>alert(1)</script>",
	"CDATA":                  "<![CDATA[ ]]> ]]> <script>",
	"a macro":                `<ac:structured-macro ac:name="html"><ac:plain-text-body>x</ac:plain-text-body></ac:structured-macro>`,
	"a link that runs":       "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](vbscript:x) [d](data:text/html;base64,PHNjcmlwdD4=)",
	"one in entities":        "[a](javascript&colon;alert(1)) [b](&#106;avascript:alert(1)) [c](java&#10;script:alert(1)) [d](&#x6A;avascript&#58;alert(1))",
	"one by its definition":  "[a] [b]\n\n[a]: javascript:alert(1)\n[b]: <java\tscript:alert(1)> \"title\"",
	"one of its own":         "<javascript:alert(1)> <data:text/html,x> <file:///etc/passwd>",
	"one with quotes":        `[a](https://x.example/"onmouseover=alert(1)//) [b](<https://x.example/' onclick='alert(1)>)`,
	"one to a file":          "[a](file:///etc/passwd) [b](/etc/passwd) [c](//evil.example/x) [d](ftp://evil.example)",
	"a picture that runs":    "![a](javascript:alert(1)) ![b](data:image/svg+xml;base64,PHN2Zz4=) ![c](vbscript:x)",
	"a picture from outside": "![a](https://evil.example/track.png) ![b](//evil.example/track.png) ![c](http&colon;//evil.example/x.png)",
	"an alt that is more":    `![" onerror="alert(1)](gone.png) ![<script>](gone.png) ![](gone.png"onerror="x)`,
	"a title that is more":   `[a](https://x.example "\" onclick=\"alert(1)") ![a](gone.png '"><script>')`,
	"attributes":             "# Title {#arms onclick=alert(1)}\n\ntext {.written data-arm=0}",
	"code that ends":         "```html\"><script>\n</code></pre><script>alert(1)</script>\n```\n\n    </pre><script>\n\n`</code><script>`",
	"a table":                "| <script> | `<img src=x onerror=y>` |\n|---|---|\n| [a](javascript:x) | ![a](javascript:x) |",
	"characters that steer":  "\x1b[2Jgone \u202efdp.exe \x00 \ufffe",
	"half an entity":         "&#\n\n&#x\n\n&\n\n[a](&#)\n\n![a](&#x",
	"a heading of the page":  "# Verdicts\n\nSummary\n===\n\n## Results",
	"no UTF-8":               "a \xff\xfe b",
	"template":               "{{.Arms}} {{template \"page.html\"}}",
}

func TestNotesDoNoHarm(t *testing.T) {
	for name, text := range evil {
		t.Run(name, func(t *testing.T) {
			r := reportOf(t, noted(few(), text, nil))
			root, err := html.Parse(strings.NewReader(written(t, r, "report.html")))
			expect.NoError(t, err)
			harmless(t, root)
			wellFormed(t, "confluence", `<page xmlns:ac="urn:ac" xmlns:ri="urn:ri">`+written(t, r, "report.confluence")+"</page>")
			checkMarkdown(t, written(t, r, "report.md"))
		})
	}
}

// harmless fails for a page that does more than show text.
func harmless(t *testing.T, root *html.Node) {
	t.Helper()
	for node := range root.Descendants() {
		if node.Type == html.CommentNode {
			t.Errorf("there is a comment: %q", node.Data)
		}
		if node.Type != html.ElementNode {
			continue
		}
		if slices.Contains([]string{"img", "iframe", "object", "embed", "base", "form", "link"}, node.Data) || node.Data == "script" && !isOurs(node) {
			t.Errorf("a note became a <%s>", node.Data)
		}
		for _, attribute := range node.Attr {
			if strings.HasPrefix(attribute.Key, "on") {
				t.Errorf("<%s> has %s=%q", node.Data, attribute.Key, attribute.Val)
			}
			if attribute.Key == "href" && !regexp.MustCompile(`^(#|https?://|mailto:)`).MatchString(attribute.Val) {
				t.Errorf("a link leads to %q", attribute.Val)
			}
		}
	}
}

// checkMarkdown fails for text that a Markdown parser would take for markup.
func checkMarkdown(t *testing.T, page string) {
	t.Helper()
	page, _, _ = strings.Cut(page, "\n```yaml\n")
	_, note, found := strings.Cut(page, "> **Note cause")
	note, _, _ = strings.Cut(note, "\n\n## ")
	if !found {
		t.Fatal("the note is gone")
	}
	for line := range strings.SplitSeq(note, "\n") {
		if !strings.HasPrefix(line, ">") && !strings.HasPrefix(line, " \\(") && !strings.HasPrefix(line, " (written") && line != "" {
			t.Errorf("a line stands outside of the note: %q", line)
		}
	}
	words := regexp.MustCompile(`\]\(<mailto:[^<>\s]*>\)`).ReplaceAllString(withoutCode(note), "")
	if found := regexp.MustCompile(`<[a-zA-Z/!?]`).FindString(regexp.MustCompile(`\]\(<https?://[^<>\s]*>\)`).ReplaceAllString(words, "")); found != "" {
		t.Errorf("there is HTML, %q, in\n%s", found, words)
	}
	if found := regexp.MustCompile(`[^\\]\]\((<?)[^<h]`).FindString(words); found != "" {
		t.Errorf("there is a link, %q, in\n%s", found, words)
	}
	if regexp.MustCompile(`(?m)^> ##? `).MatchString(words) {
		t.Errorf("a heading is one of the page's:\n%s", words)
	}
}

// withoutCode removes code between two equal sequences of backticks.
func withoutCode(text string) string {
	runs := regexp.MustCompile("\\\\.|`+").FindAllStringIndex(text, -1)
	var out strings.Builder
	at := 0
	for i, run := range runs {
		if run[0] < at || text[run[0]] != '`' {
			continue
		}
		for _, end := range runs[i+1:] {
			if last := strings.TrimLeft(text[end[0]:end[1]], `\`); len(last) == run[1]-run[0] && last[0] == '`' {
				out.WriteString(text[at:run[0]])
				at = end[1]
				break
			}
		}
	}
	return out.String() + text[at:]
}

// The page reports an invalid note in its place, and is otherwise complete.
func TestNotesThatAreNotShown(t *testing.T) {
	for want, change := range map[string]func(*report.Input){
		`ConfigMap "findings" does not exist, or is not readable: apply it to the experiment's namespace, and change the note`: func(input *report.Input) { input.Notes = nil },
		`ConfigMap "findings" has no text under the key "cause.md"; keys with text: other.md`: func(input *report.Input) {
			input.Notes[0] = findings(map[string]string{"other.md": "words"}, nil)
		},
		`ConfigMap "findings" has no text under the key "cause.md"; keys with text: none`: func(input *report.Input) {
			input.Notes[0] = findings(nil, map[string][]byte{"cause.md": {0xff}})
		},
		"its text is empty": func(input *report.Input) { input.Notes[0].Data["cause.md"] = " \n" },
		"its text has 65 KiB, more than the limit of 64 KiB":  func(input *report.Input) { input.Notes[0].Data["cause.md"] = strings.Repeat("w", 64<<10+1) },
		"its tables have 20604 cells, more than the limit":    func(input *report.Input) { input.Notes[0].Data["cause.md"] = hugeTable(200, 100) },
		"its lists and quotations are nested more than 40":    func(input *report.Input) { input.Notes[0].Data["cause.md"] = strings.Repeat("> 1. ", 21) + "deep" },
		"it has 2001 links and pictures, more than the limit": func(input *report.Input) { input.Notes[0].Data["cause.md"] = strings.Repeat("[a](b)", 2001) },
	} {
		input := noted(few(), "words", nil)
		change(&input)
		r := reportOf(t, input)
		if lacking := r.Lacking(); len(lacking) != 1 || !strings.Contains(lacking[0], want) {
			t.Errorf("it lacks %q, want %q", lacking, want)
		}
		for name := range formats {
			page := html.UnescapeString(written(t, r, name))
			if page = strings.ReplaceAll(page, `\`, ""); !strings.Contains(page, "Omitted: "+want) {
				t.Errorf("%s does not say: %s", name, want)
			}
		}
	}
}

// The total size of all notes is limited too.
func TestTextsOfAllNotes(t *testing.T) {
	input := noted(few(), strings.Repeat("w ", 25<<10), nil)
	for n := range 6 {
		input.Experiment.Spec.Notes = append(input.Experiment.Spec.Notes, kept(fmt.Sprintf("more-%d", n), "cause.md", ""))
	}
	input.Experiment.Spec.Notes = append(input.Experiment.Spec.Notes, v1alpha1.Note{Name: "short", Text: "It fits."})
	expect.Equal(t, []string{`note "more-4": the texts of all notes exceed 256 KiB`, `note "more-5": the texts of all notes exceed 256 KiB`}, reportOf(t, input).Lacking(), "lacking")
}

// hugeTable has many columns, and rows without cells.
func hugeTable(columns, rows int) string {
	return strings.Repeat("|a", columns) + "|\n" + strings.Repeat("|-", columns) + "|\n" + strings.Repeat("|\n", rows)
}

// No text of an accepted size can delay a report much.
func TestNotesTakeLittleTime(t *testing.T) {
	const size = report.MaxNoteBytes
	for name, part := range map[string]string{
		"brackets": "[", "pictures": "![", "closing brackets": "]", "stars": "*a ", "underscores": "_a", "mixed": "**a *b _c __d ", "backticks": "`a ", "growing code": "",
		"angles": "<", "links": "[a](", "nested links": "[a](b ", "definitions": "[a]: b\n", "references": "[a]", "entities": "&#", "lists": "+ ", "numbers": "1. > ", "deeper lists": "", "quotations": ">",
		"rows": "|\n", "columns": "|a", "code": "    a\n", "fences": "```\n", "headings": "#\n", "lines": "a\n", "backslashes": "\\", "table on table": "|a|\n|-|\n", "wide tables": "",
	} {
		text := strings.Repeat(part, size/max(1, len(part)))
		switch name {
		case "growing code":
			for n := 1; len(text)+n < size; n++ {
				text += "a" + strings.Repeat("`", n)
			}
		case "deeper lists":
			for n := 0; len(text)+2*n+3 < size; n++ {
				text += strings.Repeat("  ", n) + "- a\n"
			}
		case "wide tables":
			text = hugeTable(8000, 16000)
		}
		began := time.Now()
		r := reportOf(t, noted(few(), text, nil))
		for format := range formats {
			written(t, r, format)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s take %s", name, took)
		}
	}
}

func TestPicturesAreWhatTheyAre(t *testing.T) {
	jpeg, gif := []byte("\xff\xd8\xff\xe0rest"), []byte("GIF89a rest")
	webp := []byte("RIFF\x10\x00\x00\x00WEBPVP8 rest")
	svg := func(inside string) []byte {
		return []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">` + inside + "</svg>")
	}
	const none = "it is not a PNG, JPEG, GIF, WebP or SVG file"
	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"a PNG":                  {recorded.Image(), ".png"},
		"a JPEG":                 {jpeg, ".jpg"},
		"a GIF":                  {gif, ".gif"},
		"a WebP":                 {webp, ".webp"},
		"an SVG":                 {[]byte(drawing), ".svg"},
		"an SVG's DTD":           {[]byte(`<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">` + drawing), ".svg"},
		"parts and pictures":     {svg(`<defs><g id="a"/></defs><use xlink:href="#a"/><image xlink:href="data:image/png;base64,AAAA"/><g style="clip-path: url(#c)"/>`), ".svg"},
		"HTML":                   {[]byte("<html><script>alert(1)</script></html>"), none},
		"a script":               {[]byte("alert(1)"), none},
		"nothing":                {nil, none},
		"an SVG that is not one": {[]byte(`<svg><script>alert(1)</script></svg>`), none},
		"an SVG cut off":         {[]byte(drawing[:60]), none},
		"a bomb":                 {[]byte(`<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>` + drawing), "it declares XML entities"},
		"a bomb of parts":        {svg(`<g id="a"><use href="#a"/></g>`), "it is nested more than 256 levels deep, or draws more than"},
		"too large":              {append(recorded.Image(), make([]byte, report.MaxPictureBytes)...), "it has 513 KiB, more than the limit of 512 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			// The name of the file does not matter.
			r := reportOf(t, noted(few(), "![a](it.png)", map[string][]byte{"it.png": c.body}))
			if strings.HasPrefix(c.want, ".") {
				if files := r.Pictures(); len(files) != 1 || files["note-cause-1"+c.want] == nil || len(r.Lacking()) != 0 {
					t.Errorf("%d pictures, lacking %q", len(files), r.Lacking())
				}
				return
			}
			if lacking := r.Lacking(); len(lacking) != 1 || !strings.Contains(lacking[0], `note "cause": picture "it.png": `+c.want) || len(r.Pictures()) != 0 {
				t.Errorf("%d pictures, lacking %q", len(r.Pictures()), lacking)
			}
		})
	}
}

// A drawing is shown as it is redrawn, and the page lists what was removed.
func TestDrawingsAreDrawnAnew(t *testing.T) {
	running := `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script><image href="https://evil.example/a.png"/><circle r="3"/></svg>`
	r := reportOf(t, noted(few(), "![a](it.svg)", map[string][]byte{"it.svg": []byte(running)}))
	shown := string(r.Pictures()["note-cause-1.svg"])
	if !strings.Contains(shown, `<circle r="3"/>`) || strings.Contains(shown, "alert") || strings.Contains(shown, "evil.example") {
		t.Errorf("shown is %s", shown)
	}
	expect.Equal(t, []string{`note "cause": picture "it.svg" is shown without an external reference, onload, script`}, r.Lacking(), "lacking")
	page := written(t, r, "report.html")
	if strings.Contains(page, base64.StdEncoding.EncodeToString([]byte("alert(1)"))) || !strings.Contains(page, "data:image/svg+xml;base64,"+base64.StdEncoding.EncodeToString([]byte(shown))) {
		t.Error("the page shows something else")
	}
}

// A picture counts as often as it is shown: each time it takes space in the page.
func TestPicturesTakeNoMoreRoomThanThereIs(t *testing.T) {
	large := append(recorded.Image(), make([]byte, 500<<10)...)
	r := reportOf(t, noted(few(), strings.Repeat("![a](large.png)\n", 1000), map[string][]byte{"large.png": large}))
	page := written(t, r, "report.html")
	if shown := strings.Count(page, "<img "); shown != 4 || len(page) > 5<<20 {
		t.Errorf("it is shown %d times, in a page of %d KiB", shown, len(page)>>10)
	}
	expect.Equal(t, []string{`note "cause": picture "large.png": the pictures of all notes exceed 2 MiB`}, r.Lacking(), "lacking")
}

// A page that is too large to store because of its notes' pictures is stored without them.
func TestPicturesDoNotKeepAPageFromBeingStored(t *testing.T) {
	noise := recorded.Image()
	for at := uint32(1); len(noise) < 500<<10; at = at*1664525 + 1013904223 {
		noise = append(noise, byte(at>>24))
	}
	r := reportOf(t, noted(few(), "![a](noise.png) ![b](noise.png)", map[string][]byte{"noise.png": noise}))
	text, binary, leftOut, err := r.Stored()
	if err != nil || len(leftOut) != 0 || text[report.KeyMarkdown] == "" || binary[report.KeyHTML] == nil {
		t.Fatalf("left out are %q, %v", leftOut, err)
	}
	page := unzipped(t, binary[report.KeyHTML])
	if strings.Contains(page, "<img ") || strings.Count(page, "omitted here because of its size; perflab report shows it]") != 2 {
		t.Errorf("the page does not say that it lacks pictures")
	}
}

func unzipped(t *testing.T, packed []byte) string {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	expect.NoError(t, err)
	page, err := io.ReadAll(reader)
	expect.NoError(t, err)
	return string(page)
}

// Charts draw marks that fall into the run they show; a table lists the marks of every run.
func TestMarksAreDrawnAndTold(t *testing.T) {
	r := reportOf(t, withNotes(t, recorded.Experiment(seed)))
	page := written(t, r, "report.md")
	_, table, found := strings.Cut(page, "**Manual marks, not measured (UTC)**\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, want := range []string{
		`\| container stopped \| 2026-03-0\d \d\d:\d\d:\d\d \| – \| \d \| .create-5k-under-cico. \| .maxram-66. \| 5\.0.min \| .maxram-vs-xmx-`,
		`\| backup \| 2026-03-0\d \d\d:\d\d:\d\d \| 2026-03-0\d \d\d:\d\d:\d\d \| \d \| .create-5k-under-cico. \| .maxram-66. \| 2\.0 to 4\.5.min \|`,
		`\| party \| 2020-01-01 00:00:00 \| – \| – \| – \| – \| – \| outside all loads \|`,
	} {
		if !found || !regexp.MustCompile(want).MatchString(table) {
			t.Errorf("it does not list %s:\n%s", want, table)
		}
	}
	drawn, told := 0, 0
	for name, svg := range r.Charts() {
		if strings.Contains(string(svg), ">container stopped</text>") {
			drawn++
		}
		if strings.Contains(string(svg), "Manual mark 5.0 min into the load: container stopped.") {
			told++
		}
		if strings.Contains(string(svg), "backup") {
			t.Errorf("%s shows a mark of a run that it does not show", name)
		}
	}
	live := strings.Count(written(t, r, "report.html"), `"marks":[{"name":"container stopped","from":5,"to":5}]`)
	if drawn == 0 || drawn != told || live != drawn {
		t.Errorf("the mark is drawn in %d charts, told in %d, and lives in %d", drawn, told, live)
	}
}

// A mark with a duration is listed for every run that it overlaps, and cut to that run.
func TestAMarkOverSeveralRuns(t *testing.T) {
	input := recorded.Experiment(seed)
	first, last := input.Runs[0].Status.Timings.LoadStart, input.Runs[len(input.Runs)-1].Status.Timings.LoadFinish
	input.Experiment.Spec.Notes = []v1alpha1.Note{{Name: "all", At: first, Until: last, Text: "a <noisy> #neighbour"}}
	page := written(t, reportOf(t, input), "report.md")
	if rows := strings.Count(page, `| a &lt;noisy&gt; \#neighbour |`); rows != 5 || !strings.Contains(page, fmt.Sprintf("The first 5 runs of each mark are listed; %d further runs are omitted.", len(input.Runs)-5)) {
		t.Errorf("it is listed %d times", rows)
	}
}

// In a browser, pictures are visible, marks show at the cursor, and notes don't break the page.
func TestNotesInABrowser(t *testing.T) {
	input := withNotes(t, recorded.Experiment(seed))
	input.Experiment.Spec.Notes = append(input.Experiment.Spec.Notes, v1alpha1.Note{Name: "head", Section: v1alpha1.NoteSummary, Text: "| a table | of a head |\n|---|---|\n"})
	for name, text := range evil {
		input.Notes[0].Data[name] = text
		input.Experiment.Spec.Notes = append(input.Experiment.Spec.Notes, kept(fmt.Sprintf("evil-%d", len(input.Experiment.Spec.Notes)), name, v1alpha1.NoteAppendix))
	}
	p := openReport(t, input, 1280, "")
	p.Until("document.querySelectorAll('.written img').length === 2 && [...document.querySelectorAll('.written img')].every((one) => one.complete && one.naturalWidth > 0)")
	p.Must("document.querySelectorAll('main th button').length > 0 && document.querySelectorAll('.written th button').length === 0")
	charts := "[...document.querySelectorAll('figure:has(> script)')]"
	p.liveChart(browser.Ask[int](p.Tab, charts+".findIndex((one) => one.querySelector('script').textContent.includes('container stopped'))"))
	marked := "[...document.querySelectorAll('figure.live')].find((one) => one.querySelector('script').textContent.includes('container stopped'))"
	p.pointAt(browser.Ask[int](p.Tab, "[...document.querySelectorAll('figure.live')].indexOf("+marked+")"), 5/browser.Ask[float64](p.Tab, "Number("+marked+".querySelector('.plot').getAttribute('aria-valuemax'))"))
	p.Until(marked + ".querySelector('.tooltip').innerText.includes('" + recorded.Arm + ": container stopped')")
	p.Must(marked + ".querySelector('.plot').getAttribute('aria-valuetext').endsWith(', " + recorded.Arm + ": container stopped')")
}
