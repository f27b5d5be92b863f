// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/testing/confluence"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/github"
	"perflab.dev/perflab/internal/testing/recorded"
)

func TestPublishToFolder(t *testing.T) {
	path, site := exported(t), filepath.Join(t.TempDir(), "site")
	planned := perflab(t, "", "publish", "-f", path, "--dir", site, "--dry-run")
	if _, err := os.Stat(site); err == nil || planned.code != 0 || !strings.Contains(planned.out, "would be added; the index lists 1 report") {
		t.Fatalf("exit code %d: %s%s, and the folder: %v", planned.code, planned.out, planned.problems, err)
	}
	added := perflab(t, "", "publish", recorded.Name, "-f", path, "--dir", site)
	added.ends(0).shows("is added; the index lists 1 report")
	pages, err := filepath.Glob(filepath.Join(site, recorded.Namespace, recorded.Name+"-*", "index.html"))
	if err != nil || len(pages) != 1 {
		t.Fatalf("%v, %v", pages, err)
	}
	published, err := os.ReadFile(pages[0])
	expect.NoError(t, err)
	if want := perflab(t, "", "report", "-f", path, "-o", "html"); string(published) != want.out {
		t.Errorf("the page (%d bytes) is not the report (%d bytes)", len(published), len(want.out))
	}
	again := perflab(t, "", "publish", "-f", path, "--dir", site)
	again.ends(0).shows("is up to date: nothing was written")
}

func TestPublishToWiki(t *testing.T) {
	site, path := confluence.New(t), exported(t)
	arguments := []string{"publish", "-f", path, "--confluence", site.URL, "--space", confluence.SpaceKey, "--parent", confluence.Home}
	t.Setenv("CONFLUENCE_TOKEN", "")
	perflab(t, "", arguments...).ends(exit.Failed).warns("CONFLUENCE_TOKEN is not set in the environment")
	login := filepath.Join(t.TempDir(), "login")
	expect.NoError(t, os.WriteFile(login, []byte("CONFLUENCE_USER="+confluence.User+"\nCONFLUENCE_TOKEN='"+confluence.Token+"'\n"), 0o600))
	planned := perflab(t, "", append(arguments, "--credentials", login, "--dry-run")...)
	if planned.code != 0 || !strings.Contains(planned.out, "would be created") || len(site.Written()) > 0 {
		t.Errorf("exit code %d: %s%s", planned.code, planned.out, planned.problems)
	}
	made := perflab(t, "", append(arguments, "--credentials", login)...)
	if made.code != 0 || site.Len() != 2 {
		t.Fatalf("exit code %d, %d pages: %s%s", made.code, site.Len(), made.out, made.problems)
	}
	t.Setenv("CONFLUENCE_USER", confluence.User)
	t.Setenv("CONFLUENCE_TOKEN", confluence.Token)
	site.Written()
	if again := perflab(t, "", arguments...); !strings.Contains(again.out, "is up to date: nothing was written") || len(site.Written()) > 0 {
		t.Errorf("exit code %d: %s%s", again.code, again.out, again.problems)
	}
	t.Setenv("CONFLUENCE_TOKEN", "an0ther")
	if refused := perflab(t, "", arguments...); refused.code != exit.Failed || strings.Contains(refused.problems, "an0ther") || !strings.Contains(refused.problems, "401") {
		t.Errorf("exit code %d: %s", refused.code, refused.problems)
	}
}

func TestPublishToGitHub(t *testing.T) {
	site, path := github.Start(t), exported(t)
	arguments := []string{"publish", "-f", path, "--github", "team/shop#7", "--link", "https://reports.example.org"}
	t.Setenv("GITHUB_TOKEN", "")
	t.Setenv("GITHUB_API_URL", site.URL)
	perflab(t, "", arguments...).ends(exit.Failed).warns("GITHUB_TOKEN is not set")
	t.Setenv("GITHUB_TOKEN", github.Token)
	for _, step := range []struct {
		more         []string
		says, writes string
	}{{[]string{"--dry-run"}, "would have added a comment", ""}, {nil, ": added a comment", "POST"}, {nil, "is up to date", "POST"}} {
		got := perflab(t, "", append(arguments, step.more...)...)
		if got.code != 0 || !strings.Contains(got.out, step.says) || site.Writes() != step.writes {
			t.Errorf("exit code %d, writes %q: %s%s", got.code, site.Writes(), got.out, got.problems)
		}
	}
	summary := filepath.Join(t.TempDir(), "summary")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	perflab(t, "", "publish", "-f", path, "--github-summary").ends(0).shows("was added to the step's summary")
	t.Setenv("GITHUB_STEP_SUMMARY", "")
	perflab(t, "", "publish", "-f", path, "--github-summary").ends(exit.Failed).warns("needs a step of GitHub Actions")
}

func TestPublishProblems(t *testing.T) {
	path := exported(t)
	for name, tc := range map[string]struct {
		arguments []string
		want      string
	}{
		"NoPlace":        {[]string{"publish", "-f", path}, "choose one destination"},
		"TwoPlaces":      {[]string{"publish", "-f", path, "--dir", "x", "--confluence", "https://x", "--space", "X"}, "choose one destination"},
		"NoSpace":        {[]string{"publish", "-f", path, "--confluence", "https://x"}, "--confluence requires --space"},
		"NoWiki":         {[]string{"publish", "-f", path, "--dir", "x", "--title", "x"}, "--title, --adopt and --credentials require --confluence"},
		"NoLink":         {[]string{"publish", "-f", path, "--dir", "x", "--link", "https://x"}, "--link requires --github"},
		"NoThread":       {[]string{"publish", "-f", path, "--github", "team/shop"}, "write --github OWNER/REPOSITORY#NUMBER"},
		"NoSource":       {[]string{"publish", "--dir", t.TempDir()}, "specify an experiment in the cluster"},
		"OtherName":      {[]string{"publish", "other", "-f", path, "--dir", t.TempDir()}, `no experiment "other" in the files, only lab/maxram-vs-xmx`},
		"OtherNamespace": {[]string{"publish", "-f", path, "-n", "x", "--dir", t.TempDir()}, `no experiment of namespace "x" in the files`},
	} {
		t.Run(name, func(t *testing.T) {
			got := perflab(t, "", tc.arguments...)
			if got.code != exit.Failed || !strings.Contains(got.problems, tc.want) || got.out != "" {
				t.Errorf("exit code %d: %s%s, want %s", got.code, got.out, got.problems, tc.want)
			}
		})
	}
}
