// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/apiserver"
)

// shownNotes are the notes in the documentation.
func shownNotes(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(apiserver.Root("docs", "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, found := strings.Cut(string(page), "```yaml\nnotes:\n")
	if shown, _, _ = strings.Cut(shown, "```"); !found {
		t.Fatal("docs/report.md shows no notes")
	}
	return shown
}

func TestNoteRules(t *testing.T) {
	const (
		oneForm  = "a note needs exactly one of text (written here) and configMap (with the text and its pictures)"
		oneLine  = "a note with at needs text: one line of at most 80 characters without Markdown"
		noPlace  = "a note with at is a mark in time, which has no section"
		isLater  = "until requires at, an earlier time: add at, or remove until"
		ofResult = "scenario requires section: Results: set it, or remove scenario"
		at       = `at: "2026-03-09T07:12:44Z"`
	)
	notes := func(written string) change { return change{"spec.notes", "[" + written + "]"} }
	many := func(count int) string {
		var all []string
		for n := range count {
			all = append(all, fmt.Sprintf("{name: note-%d, text: words}", n))
		}
		return strings.Join(all, ", ")
	}
	long := func(count int) string {
		return strings.ReplaceAll(many(count), "words", strings.Repeat("w", 4096))
	}
	judge(t, map[string]rule{
		"the documentation's":        accept(change{"spec.notes", shownNotes(t)}),
		"a text":                     accept(notes("{name: cause, text: 'The **GC**.'}")),
		"a text of many lines":       accept(notes(`{name: cause, section: Recommendations, text: "# Cause\n\n- one\n- two"}`)),
		"a scenario's":               accept(notes("{name: cause, section: Results, scenario: cico, text: words}")),
		"a text in a ConfigMap":      accept(notes("{name: cause, section: Resources, configMap: {name: findings, key: cpu.md}}")),
		"a mark":                     accept(notes("{name: stopped, " + at + ", text: container stopped}")),
		"a mark of 80 characters":    accept(notes("{name: stopped, " + at + ", text: " + strings.Repeat("ü", 80) + "}")),
		"a mark that lasts":          accept(notes("{name: stopped, " + at + `, until: "2026-03-09T07:15:00+00:00", text: container stopped}`)),
		"32 notes":                   accept(notes(many(32))),
		"33 notes":                   refuse("spec.notes", "must have at most 32 items", notes(many(33))),
		"16 long texts":              accept(notes(long(16))),
		"17 long texts":              refuse("spec.notes", "the texts of all notes have more than 65,536 characters", notes(long(17))),
		"a name twice":               refuse("spec.notes[1]", "Duplicate value", notes("{name: a, text: b}, {name: a, text: c}")),
		"a name of other letters":    refuse("spec.notes[0].name", "a note's name may have lower-case letters, digits and '-'", notes("{name: Cause, text: b}")),
		"neither text nor configMap": refuse("spec.notes[0]", oneForm, notes("{name: cause}")),
		"both":                       refuse("spec.notes[0]", oneForm, notes("{name: cause, text: b, configMap: {name: c, key: k}}")),
		"no text":                    refuse("spec.notes[0].text", "should be at least 1 chars long", notes(`{name: cause, text: ""}`)),
		"a text of 4096 letters":     accept(notes("{name: cause, text: " + strings.Repeat("w", 4096) + "}")),
		"a text too long":            refuse("spec.notes[0].text", "may not be more than 4096", notes("{name: cause, text: "+strings.Repeat("w", 4097)+"}")),
		"no such section":            refuse("spec.notes[0].section", "supported values", notes("{name: cause, section: Foreword, text: b}")),
		"a mark of two lines":        refuse("spec.notes[0]", oneLine, notes("{name: stopped, "+at+`, text: "two\nlines"}`)),
		"a mark too long":            refuse("spec.notes[0]", oneLine, notes("{name: stopped, "+at+", text: "+strings.Repeat("w", 81)+"}")),
		"a mark in a ConfigMap":      refuse("spec.notes[0]", oneLine, notes("{name: stopped, "+at+", configMap: {name: c, key: k}}")),
		"a mark in a section":        refuse("spec.notes[0]", noPlace, notes("{name: stopped, "+at+", section: TestRuns, text: b}")),
		"a time that does not parse": refuse("spec.notes[0].at", "must be of type date-time", notes("{name: stopped, at: noon, text: b}")),
		"until without at":           refuse("spec.notes[0]", isLater, notes(`{name: stopped, until: "2026-03-09T07:12:44Z", text: b}`)),
		"until before at":            refuse("spec.notes[0]", isLater, notes("{name: stopped, "+at+`, until: "2026-03-09T07:12:43Z", text: b}`)),
		"a scenario in Summary":      refuse("spec.notes[0]", ofResult, notes("{name: cause, scenario: cico, text: b}")),
		"a scenario in Validity":     refuse("spec.notes[0]", ofResult, notes("{name: cause, section: Validity, scenario: cico, text: b}")),
	})
}
