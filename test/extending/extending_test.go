// SPDX-License-Identifier: Apache-2.0

// Package extending_test checks docs/extending.md against the code. For each kind of addition
// on the page there is a patch, which must touch exactly the files that the page lists, and
// must work.
package extending_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/internal/testing/expect"
)

const root = "../.."

// kinds are the kinds of additions, by the name of their patch, with the title of their section
// and the maximum number of files that the patch may touch.
var kinds = map[string]struct {
	section string
	files   int
}{
	"component":      {"A component", 7},
	"load-kind":      {"A load kind", 4},
	"factor":         {"A factor", 3},
	"statistic":      {"A statistic", 3},
	"report-section": {"A report section", 3},
	"artifact":       {"An artifact", 3},
}

// section is a section of the page.
type section struct {
	// files are the files that the addition touches, except tests.
	files []string
	// command is the command that verifies the addition.
	command string
}

var (
	listed  = regexp.MustCompile("(?m)^[-0-9.]+ `([^`]+)`")
	command = regexp.MustCompile("(?m)^(go test .*)$")
)

func sections(t *testing.T) map[string]section {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "extending.md"))
	expect.NoError(t, err)
	found := map[string]section{}
	for _, text := range strings.Split(string(page), "\n## ")[1:] {
		title, body, _ := strings.Cut(text, "\n")
		var own section
		for _, match := range listed.FindAllStringSubmatch(body, -1) {
			own.files = append(own.files, match[1])
		}
		if match := command.FindStringSubmatch(body); match != nil {
			own.command = match[1]
		}
		slices.Sort(own.files)
		found[title] = own
	}
	return found
}

// touched returns the files that a patch touches, except tests.
func touched(t *testing.T, patch string) []string {
	t.Helper()
	var files []string
	for line := range strings.Lines(run(t, root, "git", "apply", "--numstat", patch)) {
		fields := strings.Fields(line)
		if file := fields[len(fields)-1]; !strings.HasSuffix(file, "_test.go") {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files
}

func run(t *testing.T, directory, name string, arguments ...string) string {
	t.Helper()
	program := exec.CommandContext(t.Context(), name, arguments...)
	program.Dir = directory
	output, err := program.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, output)
	}
	return string(output)
}

func patchPath(t *testing.T, kind string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", kind+".patch"))
	expect.NoError(t, err)
	return path
}

func TestPageListsTouchedFiles(t *testing.T) {
	page := sections(t)
	for kind, want := range kinds {
		t.Run(kind, func(t *testing.T) {
			own, found := page[want.section]
			if !found {
				t.Fatalf("docs/extending.md has no section %q", want.section)
			}
			files := touched(t, patchPath(t, kind))
			if difference := cmp.Diff(files, own.files); difference != "" {
				t.Errorf("docs/extending.md, %s: the files that are touched (- lacks, + has too many):\n%s", want.section, difference)
			}
			if len(files) > want.files {
				t.Errorf("%d files have to be touched, %d were promised", len(files), want.files)
			}
		})
	}
}
