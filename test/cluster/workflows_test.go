// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// A tag can be moved to other code; a commit can't.
func TestActionsArePinnedToCommits(t *testing.T) {
	pinned := regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40} # v[0-9]`)
	uses := 0
	for path, text := range workflows(t) {
		for line := range strings.Lines(text) {
			_, action, found := strings.Cut(line, "uses: ")
			if !found {
				continue
			}
			uses++
			if !pinned.MatchString(action) {
				t.Errorf("%s: %s is not pinned by its commit, with its version behind it", path, strings.TrimSpace(action))
			}
		}
	}
	if uses == 0 {
		t.Error("no action is used")
	}
}

// The make targets of the workflows exist.
func TestWorkflowTargetsExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	expect.NoError(t, err)
	target := regexp.MustCompile(`make ([a-z][a-z0-9-]+)|target: \[([a-z0-9, -]+)\]`)
	var asked []string
	for _, text := range workflows(t) {
		for _, found := range target.FindAllStringSubmatch(text, -1) {
			asked = append(asked, strings.FieldsFunc(found[1]+found[2], func(r rune) bool { return r == ',' || r == ' ' })...)
		}
	}
	for _, name := range asked {
		if !strings.Contains(string(makefile), "\n"+name+":") {
			t.Errorf("a workflow makes %s, which the Makefile has not", name)
		}
	}
	for _, name := range []string{"test", "verify", "lint", "e2e"} {
		if !strings.Contains(" "+strings.Join(asked, " ")+" ", " "+name+" ") {
			t.Errorf("no workflow makes %s", name)
		}
	}
}

func workflows(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("%d workflows, %v", len(paths), err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		expect.NoError(t, err)
		texts[path] = string(text)
	}
	return texts
}
