// SPDX-License-Identifier: Apache-2.0

package publish_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/publish"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/confluence"
	"perflab.dev/perflab/internal/testing/expect"
)

const (
	uid   = types.UID("3b8f0b1e-53a1-4b65-9d2f-0a4f3a1d7c11")
	other = types.UID("00000000-53a1-4b65-9d2f-0a4f3a1d7c11")
)

var shelf = publish.Location{Space: confluence.SpaceKey, Parent: confluence.Home}

// newArticle returns the article of an experiment with changes.
func newArticle(t *testing.T, of types.UID, title string, change ...func(*report.Input)) *publish.Article {
	t.Helper()
	made, err := publish.NewArticle(measured(t, "heap", of, 0, change...), title)
	expect.NoError(t, err)
	return made
}

func newConfluence(t *testing.T, site *confluence.Site) *publish.Confluence {
	t.Helper()
	made, err := publish.NewConfluence(site.URL+"/wiki/", confluence.User, confluence.Token)
	expect.NoError(t, err)
	var waits []time.Duration
	made.Waits(&waits)
	return made
}

// publishArticle publishes an article, and returns the description.
func publishArticle(t *testing.T, site *confluence.Site, a *publish.Article, on publish.Location) string {
	t.Helper()
	told, err := newConfluence(t, site).Publish(t.Context(), a, on)
	expect.NoError(t, err)
	return told
}

func TestConfluencePageIsCreated(t *testing.T) {
	site, report := confluence.New(t), newArticle(t, uid, "", asked("Is it <faster> & better?"))
	told := publishArticle(t, site, report, shelf)
	page := site.Titled("Is it <faster> & better? (heap)")
	if page == nil || site.Len() != 2 || page.Parent != site.Titled(confluence.Home).ID {
		t.Fatalf("%d pages, it is %+v", site.Len(), page)
	}
	if want := fmt.Sprintf(`page %q is created; %d charts are uploaded: https://example.atlassian.net/wiki/spaces/PERF/pages/%s`, page.Title, len(report.Pictures), page.ID); told != want {
		t.Errorf("told %q, want %q", told, want)
	}
	if len(report.Pictures) < 6 || len(page.Attachments) != len(report.Pictures) {
		t.Fatalf("%d charts, %d attachments", len(report.Pictures), len(page.Attachments))
	}
	for _, one := range report.Pictures {
		attached := page.Attachments[one.Name]
		if attached == nil || !bytes.Equal(attached.Body, one.Body) || attached.Kind != "image/svg+xml" || !strings.Contains(page.Body, `ri:filename="`+one.Name+`"`) {
			t.Errorf("%s: %+v", one.Name, attached)
		}
		if !bytes.Contains(one.Body[:300], []byte(` width="420" height="`)) {
			t.Errorf("%s has no size: %s", one.Name, one.Body[:300])
		}
	}
}

// Pictures of notes are attached with their types: photos unchanged, drawings redrawn.
func TestPicturesOfNotesAreAttached(t *testing.T) {
	const drawing = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 8 8" width="8" height="8"/>`
	site, photo := confluence.New(t), "\xff\xd8\xff photo"
	report := newArticle(t, uid, "", asked("Why?"), func(input *report.Input) {
		input.Experiment.Spec.Notes = []v1alpha1.Note{{Name: "cause", ConfigMap: &v1alpha1.ConfigMapKey{Name: "findings", Key: "cause.md"}}}
		kept := corev1.ConfigMap{Data: map[string]string{"cause.md": "![a](a.jpg) ![b](b.svg)", "b.svg": drawing}, BinaryData: map[string][]byte{"a.jpg": []byte(photo)}}
		kept.Name = "findings"
		input.Notes = []corev1.ConfigMap{kept}
	})
	publishArticle(t, site, report, shelf)
	page := site.Titled("Why? (heap)")
	for name, want := range map[string][2]string{"note-cause-1.jpg": {"image/jpeg", photo}, "note-cause-2.svg": {"image/svg+xml", drawing}} {
		attached := page.Attachments[name]
		if attached == nil || attached.Kind != want[0] || string(attached.Body) != want[1] || !strings.Contains(page.Body, `ri:filename="`+name+`"`) {
			t.Errorf("%s: %+v", name, attached)
		}
	}
}

func TestConfluencePageIsUpdatedInPlace(t *testing.T) {
	site := confluence.New(t)
	publishArticle(t, site, newArticle(t, uid, "", asked("Before?")), shelf)
	site.Written()
	if told := publishArticle(t, site, newArticle(t, uid, "", asked("Before?")), shelf); !strings.Contains(told, `page "Before? (heap)" is up to date: nothing was written: https://`) || len(site.Written()) > 0 {
		t.Errorf("an unchanged report: %s", told)
	}
	site.Index()
	page := site.Titled("Before? (heap)")
	// With one block less, the numbers change, but not the charts.
	told := publishArticle(t, site, newArticle(t, uid, "", asked("After?"), withoutBlock(6)), shelf)
	if page.Title != "After? (heap)" || page.Version != 2 || !strings.HasPrefix(told, `page "After? (heap)" is updated; `) || strings.Contains(told, "history") {
		t.Errorf("%s, version %d: %s", page.Title, page.Version, told)
	}
	if site.Len() != 2 {
		t.Errorf("%d pages", site.Len())
	}
}

func withoutBlock(number int32) func(*report.Input) {
	return func(input *report.Input) {
		for i := range input.Runs {
			if input.Runs[i].Spec.Block == number {
				input.Runs[i].Status.Phase = "Invalid"
			}
		}
	}
}

func TestConfluenceFindsMovedPage(t *testing.T) {
	site := confluence.New(t)
	publishArticle(t, site, newArticle(t, uid, "", asked("Asked?")), shelf)
	page := site.Titled("Asked? (heap)")
	page.Title, page.Version = "Renamed", 2
	site.Index()
	site.Written()
	if told := publishArticle(t, site, newArticle(t, uid, "", asked("Asked?")), shelf); !strings.Contains(told, `page "Renamed" is up to date`) || len(site.Written()) > 0 {
		t.Errorf("a renamed page: %s", told)
	}
	told := publishArticle(t, site, newArticle(t, uid, "", asked("Asked otherwise?"), withoutBlock(6)), shelf)
	if page.Title != "Renamed" || page.Version != 3 || site.Len() != 2 || !strings.Contains(told, "changes made to the page since version 1 are now only in its history") {
		t.Errorf("%d pages, %s version %d: %s", site.Len(), page.Title, page.Version, told)
	}
	publishArticle(t, site, newArticle(t, uid, "Chosen", asked("Asked otherwise?"), withoutBlock(6)), shelf)
	if page.Title != "Chosen" {
		t.Errorf("the title is %s", page.Title)
	}
}

// A copy of a page has the same label and property, but is not ours.
func TestConfluenceIgnoresCopies(t *testing.T) {
	site := confluence.New(t)
	copied := site.Add("Copy of Asked? (heap)", "")
	publishArticle(t, site, newArticle(t, uid, "", asked("Asked?")), shelf)
	page := site.Titled("Asked? (heap)")
	copied.Labels, copied.Properties, copied.Body = page.Labels, maps.Clone(page.Properties), page.Body
	site.Index()
	publishArticle(t, site, newArticle(t, uid, "", asked("Asked?"), withoutBlock(6)), shelf)
	if page.Version != 2 || copied.Version != 1 {
		t.Errorf("versions %d and %d of the copy", page.Version, copied.Version)
	}
	copied.Properties = nil
	publishArticle(t, site, newArticle(t, uid, "", asked("Asked?")), shelf)
	if page.Version != 3 || copied.Version != 1 {
		t.Errorf("versions %d and %d of the copy without its property", page.Version, copied.Version)
	}
}

func TestConfluenceAttachments(t *testing.T) {
	site := confluence.New(t)
	first := newArticle(t, uid, "", asked("Asked?"))
	publishArticle(t, site, first, shelf)
	page := site.Titled("Asked? (heap)")
	byHand := &confluence.Attachment{ID: "att1", Name: "notes.pdf", Comment: "mine", Body: []byte("x"), Version: 1}
	page.Attachments[byHand.Name] = byHand
	lost, drawnOver := first.Pictures[0].Name, first.Pictures[1].Name
	delete(page.Attachments, lost)
	*page.Attachments[drawnOver] = confluence.Attachment{ID: page.Attachments[drawnOver].ID, Name: drawnOver, Comment: "drawn over", Body: []byte("x"), Version: 2}
	site.Written()
	told := publishArticle(t, site, first, shelf)
	uploads := slices.DeleteFunc(site.Written(), func(write string) bool { return !strings.HasSuffix(write, "/child/attachment") })
	if len(uploads) != 2 || page.Version != 1 || !strings.Contains(told, "is unchanged; 2 charts are uploaded") {
		t.Errorf("%d uploads, version %d: %s", len(uploads), page.Version, told)
	}
	for _, name := range []string{lost, drawnOver} {
		if attached := page.Attachments[name]; attached == nil || !bytes.HasPrefix(attached.Body, []byte("<?xml")) {
			t.Errorf("%s is %+v", name, attached)
		}
	}
	// The next report lacks the charts of one arm.
	second := newArticle(t, uid, "", asked("Asked?"), func(input *report.Input) { input.Raw = nil })
	told = publishArticle(t, site, second, shelf)
	if len(page.Attachments) != len(second.Pictures)+1 || page.Attachments[byHand.Name] != byHand || !strings.Contains(told, "of an earlier report are deleted") {
		t.Errorf("%d charts, and attached are %v: %s", len(second.Pictures), slices.Sorted(maps.Keys(page.Attachments)), told)
	}
}

func TestConfluenceRejectsPageOfOthers(t *testing.T) {
	site, report := confluence.New(t), newArticle(t, uid, "", asked("Asked?"))
	page := site.Add("Asked? (heap)", "<p>Mine.</p>")
	_, err := newConfluence(t, site).Publish(t.Context(), report, shelf)
	if !errors.Is(err, publish.ErrNotOurs) || !strings.Contains(err.Error(), `there is a page "Asked? (heap)" in space PERF (https://`) || len(site.Written()) > 0 {
		t.Errorf("%v", err)
	}
	adopting := shelf
	adopting.Adopt = true
	chart := report.Pictures[0].Name
	page.Attachments[chart] = &confluence.Attachment{ID: "att1", Name: chart, Comment: "mine", Version: 1}
	if _, err := newConfluence(t, site).Publish(t.Context(), report, adopting); !errors.Is(err, publish.ErrNotOurs) || !strings.Contains(err.Error(), chart+" is attached to the page") || len(site.Written()) > 0 {
		t.Errorf("%v", err)
	}
	delete(page.Attachments, chart)
	publishArticle(t, site, report, adopting)
	if page.Version != 2 || site.Len() != 2 {
		t.Errorf("%d pages, version %d", site.Len(), page.Version)
	}
	// The page of another experiment with the same name and question is not ours either.
	again := newArticle(t, other, "", asked("Asked?"))
	if _, err := newConfluence(t, site).Publish(t.Context(), again, shelf); !errors.Is(err, publish.ErrNotOurs) {
		t.Errorf("%v", err)
	}
	publishArticle(t, site, again, adopting)
	if page.Version != 3 || site.Len() != 2 {
		t.Errorf("%d pages, version %d", site.Len(), page.Version)
	}
}

func TestConfluenceDryRunWritesNothing(t *testing.T) {
	site, report, dry := confluence.New(t), newArticle(t, uid, "", asked("Asked?")), shelf
	dry.DryRun = true
	if told := publishArticle(t, site, report, dry); !strings.Contains(told, `page "Asked? (heap)" would be created; `) || !strings.Contains(told, "would be uploaded") {
		t.Error(told)
	}
	publishArticle(t, site, report, shelf)
	site.Written()
	if told := publishArticle(t, site, newArticle(t, uid, "", asked("Asked?"), withoutBlock(6)), dry); !strings.Contains(told, "would be updated; ") || len(site.Written()) > 0 {
		t.Error(told)
	}
}

// A publication that is interrupted at any write can be resumed.
func TestConfluenceResumesPublication(t *testing.T) {
	report := newArticle(t, uid, "", asked("Asked?"))
	for before := 1; ; before++ {
		site := confluence.New(t)
		writes := 0
		site.Before = func(out http.ResponseWriter, asked *http.Request) bool {
			if asked.Method != http.MethodGet {
				writes++
			}
			if asked.Method == http.MethodGet || writes != before {
				return false
			}
			out.WriteHeader(http.StatusInternalServerError)
			return true
		}
		_, err := newConfluence(t, site).Publish(t.Context(), report, shelf)
		if err == nil {
			if before < 5 {
				t.Fatalf("only %d writes", before)
			}
			return
		}
		site.Before = nil
		publishArticle(t, site, report, shelf)
		page := site.Titled("Asked? (heap)")
		if site.Len() != 2 || len(page.Attachments) != len(report.Pictures) || len(page.Labels) != 1 || len(page.Properties) != 1 {
			t.Errorf("without write %d: %d pages, it is %+v", before, site.Len(), page)
		}
		site.Written()
		if told := publishArticle(t, site, report, shelf); len(site.Written()) > 0 {
			t.Errorf("without write %d: %s", before, told)
		}
	}
}

func TestConfluenceProblems(t *testing.T) {
	first, second := newArticle(t, uid, "", asked("Asked?")), newArticle(t, uid, "", asked("Asked?"), withoutBlock(6))
	for name, tc := range map[string]struct {
		before func(*confluence.Site)
		shelf  publish.Location
		token  string
		want   string
	}{
		"Space":  {shelf: publish.Location{Space: "NONE"}, want: `there is no space "NONE", or the login can't view it`},
		"Parent": {shelf: publish.Location{Space: "PERF", Parent: "77"}, want: `there is no page "77" in space PERF to publish the report under`},
		"Login":  {shelf: shelf, token: "wr0ng", want: "401 Unauthorized: Unauthorized: no login Basic ***"},
		"Conflict": {shelf: shelf, before: func(site *confluence.Site) {
			site.Before = func(_ http.ResponseWriter, asked *http.Request) bool {
				if asked.Method == http.MethodPut && strings.HasPrefix(asked.URL.Path, "/wiki/api/v2/pages/") && !strings.Contains(asked.URL.Path, "properties") {
					site.Titled("Asked? (heap)").Version++
				}
				return false
			}
		}, want: "409 Conflict: Version must be incremented when updating a page. Current Version: [2]. Provided version: [2]: the page was changed while"},
		"Redirect": {shelf: shelf, before: func(site *confluence.Site) {
			site.Before = func(out http.ResponseWriter, asked *http.Request) bool {
				http.Redirect(out, asked, "https://elsewhere.example/", http.StatusFound)
				return true
			}
		}, want: "it redirects to https://elsewhere.example/"},
		"Long": {shelf: shelf, before: func(site *confluence.Site) {
			site.Before = func(out http.ResponseWriter, _ *http.Request) bool {
				_, _ = out.Write(bytes.Repeat([]byte(" "), 17<<20))
				return true
			}
		}, want: "its response exceeds 16 MiB"},
		"Busy": {shelf: shelf, before: func(site *confluence.Site) {
			site.Before = func(out http.ResponseWriter, _ *http.Request) bool {
				out.Header().Set("Retry-After", "3600")
				out.WriteHeader(http.StatusTooManyRequests)
				return true
			}
		}, want: "it requests a wait of 1h: try again then"},
	} {
		t.Run(name, func(t *testing.T) {
			site := confluence.New(t)
			publishArticle(t, site, first, shelf)
			if tc.before != nil {
				tc.before(site)
			}
			token := confluence.Token + tc.token
			as, err := publish.NewConfluence(site.URL, confluence.User, token)
			expect.NoError(t, err)
			var waits []time.Duration
			as.Waits(&waits)
			_, err = as.Publish(t.Context(), second, tc.shelf)
			if !errors.Is(err, publish.ErrServer) || !strings.Contains(err.Error(), tc.want) || len(waits) > 0 {
				t.Fatalf("%v after waiting %v, want %s", err, waits, tc.want)
			}
			for _, secret := range []string{token, base64.StdEncoding.EncodeToString([]byte(confluence.User + ":" + token))} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("it tells the login: %v", err)
				}
			}
		})
	}
}

// Requests to a busy server, or one that does not have a new page yet, are retried.
func TestConfluenceRetries(t *testing.T) {
	site := confluence.New(t)
	busy := map[string]int{}
	site.Before = func(out http.ResponseWriter, asked *http.Request) bool {
		what := asked.Method + asked.URL.Path
		busy[what]++
		fresh := strings.HasSuffix(asked.URL.Path, "/label")
		switch {
		case busy[what] == 1 && !fresh:
			out.Header().Set("Retry-After", "7")
			out.WriteHeader(http.StatusTooManyRequests)
		case busy[what] == 2 && asked.Method == http.MethodGet:
			out.WriteHeader(http.StatusBadGateway)
		case busy[what] == 1 && fresh:
			out.WriteHeader(http.StatusNotFound)
		default:
			return false
		}
		return true
	}
	as := newConfluence(t, site)
	var waits []time.Duration
	as.Waits(&waits)
	if _, err := as.Publish(t.Context(), newArticle(t, uid, "", asked("Asked?")), shelf); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(waits, 7*time.Second) || !slices.Contains(waits, 2*time.Second) || site.Len() != 2 {
		t.Errorf("%d pages, it waited %v", site.Len(), waits)
	}
}

// A creation that may have succeeded is not retried.
func TestConfluenceDoesNotDuplicatePage(t *testing.T) {
	site := confluence.New(t)
	posts := 0
	site.Before = func(out http.ResponseWriter, asked *http.Request) bool {
		if asked.Method != http.MethodPost {
			return false
		}
		posts++
		out.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	if _, err := newConfluence(t, site).Publish(t.Context(), newArticle(t, uid, ""), shelf); err == nil || posts != 1 {
		t.Errorf("%d requests, %v", posts, err)
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"https://team.atlassian.net":                 "",
		"https://team.atlassian.net/wiki":            "",
		"https://api.atlassian.com/ex/confluence/12": "",
		"http://localhost:8080":                      "",
		"http://127.0.0.1":                           "",
		"http://team.atlassian.net":                  "must begin with https://",
		"http://localhost.example.org":               "must begin with https://",
		"https://jane:secret@team.atlassian.net":     "contains a user",
		"https://team.atlassian.net/?token=secret":   "has a query or a fragment",
		"team.atlassian.net":                         "is invalid",
		"ftp://team.atlassian.net":                   "must begin with https://",
	} {
		_, err := publish.NewConfluence(address, "jane", "t0ken")
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

func TestArticleProblems(t *testing.T) {
	document := measured(t, "heap", uid, 0)
	if _, err := publish.NewArticle(document, strings.Repeat("x", 256)); err == nil || !strings.Contains(err.Error(), "limit of 255 characters") {
		t.Errorf("a long title: %v", err)
	}
	if _, err := publish.NewArticle(measured(t, "heap", "", 0), ""); !errors.Is(err, report.ErrInput) {
		t.Errorf("no UID: %v", err)
	}
	long := newArticle(t, uid, "", asked(strings.Repeat("long ", 100)+"?"))
	if title := []rune(long.Title); len(title) > 255 || !strings.HasSuffix(long.Title, "… (heap)") {
		t.Errorf("%d letters: %s", len(title), long.Title)
	}
}
