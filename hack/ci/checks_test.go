// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// root is the directory that the catalogue's paths start from.
const root = "../.."

func mustReadCatalogue(t *testing.T) *catalogue {
	t.Helper()
	return readChecks(t, "checks.yaml")
}

func readChecks(t *testing.T, file string) *catalogue {
	t.Helper()
	read, err := readCatalogue(file)
	expect.NoError(t, err)
	return read
}

// A check whose own files were moved would never run for their changes.
func TestOwnFilesExist(t *testing.T) {
	for _, c := range mustReadCatalogue(t).Checks {
		for _, own := range c.Own {
			if found, err := filepath.Glob(filepath.Join(root, own)); err != nil || len(found) == 0 {
				t.Errorf("check %s: %s does not exist", c.Name, own)
			}
		}
	}
}

// The packages of a check are listed only if there is a commit to compare with.
func TestPackagesList(t *testing.T) {
	t.Chdir(root)
	for _, c := range readChecks(t, "hack/ci/checks.yaml").Checks {
		found, err := dependencies(&c)
		if err != nil || len(found) == 0 && len(c.Packages) > 0 {
			t.Errorf("check %s depends on %d directories: %v", c.Name, len(found), err)
		}
	}
}

var function = regexp.MustCompile(`(?m)^func (Test\w+|Fuzz\w+)\(`)

// tests are the names of all tests of the project.
func tests(t *testing.T) []string {
	t.Helper()
	listed, err := exec.Command("git", "-C", root, "grep", "-h", "--untracked", "-E", `^func (Test|Fuzz)`, "--", "*_test.go").Output()
	expect.NoError(t, err, "git grep")
	var names []string
	for _, match := range function.FindAllStringSubmatch(string(listed), -1) {
		names = append(names, match[1])
	}
	return names
}

// Every promise has existing tests.
func TestPromisesHaveTests(t *testing.T) {
	known := tests(t)
	promises := mustReadCatalogue(t).Promises
	if len(promises) == 0 {
		t.Error("no promise is listed")
	}
	for _, p := range promises {
		held := slices.Concat(p.Test, p.Landing, p.Turn)
		if len(held) == 0 {
			t.Errorf("%s: no test holds it", p.Promise)
		}
		for _, name := range held {
			if !slices.Contains(known, name) {
				t.Errorf("%s: unknown test %s", p.Promise, name)
			}
		}
	}
}

// Every end-to-end test belongs to a check.
func TestEndToEndTestsHaveChecks(t *testing.T) {
	var commands strings.Builder
	for _, c := range mustReadCatalogue(t).Checks {
		commands.WriteString(c.Run + "\n")
	}
	listed, err := exec.Command("git", "-C", root, "grep", "-h", "-E", `^func Test`, "--", "test/e2e").Output()
	expect.NoError(t, err, "git grep")
	for _, match := range function.FindAllStringSubmatch(string(listed), -1) {
		// It takes half an hour; make e2e-effect runs it.
		if name := match[1]; name != "TestMain" && name != "TestInjectedEffect" && !regexp.MustCompile(`\b`+name+`\b`).MatchString(commands.String()) {
			t.Errorf("no check runs %s", name)
		}
	}
}
