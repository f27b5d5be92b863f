// SPDX-License-Identifier: Apache-2.0

package publish_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/internal/publish"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/github"
)

const thread = "team/shop#7"

// noted returns the summary of an experiment with this question.
func noted(t *testing.T, question, link string) publish.Note {
	t.Helper()
	note, err := publish.NewNote(measured(t, "heap", uid, 0, asked(question)), link)
	expect.NoError(t, err)
	return note
}

func comment(t *testing.T, site *github.Site, note publish.Note, dryRun bool) (string, error) {
	t.Helper()
	on, err := publish.ParseThread(thread)
	expect.NoError(t, err)
	made, err := publish.NewGitHub(site.URL, github.Token)
	expect.NoError(t, err)
	return made.Comment(t.Context(), on, note, dryRun)
}

// An experiment has one comment, which is updated when the summary changes, among any number
// of comments.
func TestGitHubCommentIsUpdatedInPlace(t *testing.T) {
	site := github.Start(t)
	site.AddComment(slices.Repeat([]string{"Looks good to me."}, 150)...)
	first := noted(t, "Is it faster with a larger heap?", "https://reports.example.org/heap?a=b")
	steps := []struct {
		note   publish.Note
		dryRun bool
		says   string
		writes string
	}{
		{first, true, "would have added a comment to team/shop#7", ""},
		{first, false, "https://github.com/team/shop/issues/7#issuecomment-1150: added a comment to team/shop#7", "POST"},
		{first, false, "is up to date: nothing was written", "POST"},
		{noted(t, "Is it faster with a smaller heap?", ""), false, "updated the comment", "POST PATCH"},
	}
	for _, step := range steps {
		told, err := comment(t, site, step.note, step.dryRun)
		if err != nil || !strings.Contains(told, step.says) || site.Writes() != step.writes {
			t.Fatalf("told %q, %v, after %q; want %q after %q", told, err, site.Writes(), step.says, step.writes)
		}
	}
	all := site.Comments()
	if last := all[len(all)-1]; len(all) != 151 || !strings.Contains(last.Body, "smaller heap") {
		t.Errorf("%d comments, the last is %q", len(all), last.Body)
	}
	expect.Contains(t, first.Body, []string{"### Is it faster with a larger heap?", "[Full report](<https://reports.example.org/heap?a=b>)", "**2 better**", "36 runs in"}, "the comment")
}

// A rejection is reported with advice, and without the token.
func TestGitHubExplainsRejectedComment(t *testing.T) {
	site := github.Start(t)
	site.Refuse(http.StatusForbidden)
	_, err := comment(t, site, noted(t, "Is it faster?", ""), false)
	if err == nil || !strings.Contains(err.Error(), "needs the right to write issues") || strings.Contains(err.Error(), github.Token) {
		t.Errorf("told %v", err)
	}
	stranger, err := publish.NewGitHub(site.URL, "another")
	expect.NoError(t, err)
	on, _ := publish.ParseThread(thread)
	if _, err := stranger.Comment(t.Context(), on, noted(t, "Is it faster?", ""), false); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("a wrong token: %v", err)
	}
	elsewhere, _ := publish.ParseThread("team/shop#8")
	if _, err := publish.NewGitHub("http://github.example.org", github.Token); err == nil {
		t.Error("a token is sent in plain text")
	}
	known, _ := publish.NewGitHub(site.URL, github.Token)
	if _, err := known.Comment(t.Context(), elsewhere, noted(t, "Is it faster?", ""), false); err == nil || !strings.Contains(err.Error(), "team/shop#8 does not exist") {
		t.Errorf("an issue that is not there: %v", err)
	}
}

// Text from the experiment mentions no user and links to nothing.
func TestGitHubCommentHasNoMentions(t *testing.T) {
	note := noted(t, "Does @team/all like #12, <b>x</b> and https://evil.example.org?", "")
	for _, unwanted := range []string{"@team", "#12", "<b>", "https://evil"} {
		if strings.Contains(note.Body, unwanted) {
			t.Errorf("the comment has %q in it:\n%s", unwanted, note.Body)
		}
	}
	if _, err := publish.NewNote(measured(t, "heap", uid, 0), "javascript:alert(1)"); err == nil {
		t.Error("a link that is none is taken")
	}
	for _, none := range []types.UID{"", "--> @team/all <!--"} {
		if _, err := publish.NewNote(measured(t, "heap", none, 0), ""); err == nil || !strings.Contains(err.Error(), "has no UID") {
			t.Errorf("an experiment with the UID %q: %v", none, err)
		}
	}
	long := func(input *report.Input) { input.Experiment.Spec.Question = strings.Repeat("word ", 20000) }
	if _, err := publish.NewNote(measured(t, "heap", uid, 0, long), ""); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a comment that GitHub refuses: %v", err)
	}
}

func TestParseThread(t *testing.T) {
	for text, want := range map[string]bool{
		"team/shop#7": true, "team/shop.js#70000": true, "team/shop": false, "team/shop#0": false, "team/..#7": false,
		"team/shop/x#7": false, "-team/shop#7": false, "team/shop#7 ": false,
	} {
		if got, err := publish.ParseThread(text); (err == nil) != want || want && got.String() != text {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestAppendSummaryIsIdempotent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.md")
	expect.NoError(t, os.WriteFile(path, []byte("## Before\n"), 0o600))
	note := noted(t, "Is it faster?", "")
	for _, step := range []struct {
		dryRun bool
		says   string
	}{{true, "would be added"}, {false, "was added"}, {false, "up to date"}} {
		told, err := publish.AppendSummary(path, note, step.dryRun)
		if err != nil || !strings.Contains(told, step.says) {
			t.Errorf("told %q, %v, want %q", told, err, step.says)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "### Is it faster?") != 1 || !strings.HasPrefix(string(text), "## Before\n") {
		t.Errorf("%v: %s", err, text)
	}
}
