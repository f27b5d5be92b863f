// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/internal/testing/expect"
)

// A person who looks a reason up finds it, and finds none that is no more.
func TestDocumentationOfReasons(t *testing.T) {
	page, err := os.ReadFile("../../docs/troubleshooting.md")
	expect.NoError(t, err)
	wanted := reasons(t)
	if len(wanted) < 50 {
		t.Fatalf("only %d reasons were found in the API", len(wanted))
	}
	// A reason may stand under several conditions, but is told of in one way.
	documented := reasonCells(string(page))
	slices.Sort(documented)
	if difference := cmp.Diff(wanted, documented); difference != "" {
		t.Errorf("docs/troubleshooting.md should have each reason of api/v1alpha1/condition_types.go once (- lacks, + has too many):\n%s", difference)
	}
}

// reasons are the values of the API's constants named Reason…, sorted.
func reasons(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../api/v1alpha1/condition_types.go", nil, parser.SkipObjectResolution)
	expect.NoError(t, err)
	var found []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, isValue := node.(*ast.ValueSpec)
		if !isValue || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		expect.NoError(t, err)
		found = append(found, value)
		return true
	})
	slices.Sort(found)
	return found
}

var codeCell = regexp.MustCompile("^`([A-Za-z]+)`$")

// reasonCells are what stands in the columns "reason" of a page's tables.
func reasonCells(page string) []string {
	var found []string
	column := -1
	for _, line := range strings.Split(page, "\n") {
		if !strings.HasPrefix(line, "|") {
			column = -1
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if column < 0 {
			column = slices.Index(cells, "reason")
			continue
		}
		if reason := codeCell.FindStringSubmatch(cells[column]); reason != nil {
			found = append(found, reason[1])
		}
	}
	return found
}

// What a page says is shown by a test, is.
func TestDocumentationOfTests(t *testing.T) {
	page, err := os.ReadFile("../../test/README.md")
	expect.NoError(t, err)
	there := tests(t)
	named := regexp.MustCompile("`(Test[A-Za-z]+)").FindAllStringSubmatch(string(page), -1)
	if len(named) < 10 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, name := range named {
		if !slices.Contains(there, name[1]) {
			t.Errorf("test/README.md names %s, which is no test", name[1])
		}
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)

// tests are the names of all tests of the module.
func tests(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, directory := range []string{"../../controllers", "../../internal", "../../test"} {
		err := filepath.WalkDir(directory, func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, name := range testFunction.FindAllStringSubmatch(string(text), -1) {
				found = append(found, name[1])
			}
			return err
		})
		expect.NoError(t, err)
	}
	return found
}

// A link that leads nowhere sends people away.
func TestDocumentationLinks(t *testing.T) {
	for page, text := range documentation(t) {
		for _, link := range links.FindAllStringSubmatch(withoutCode(text), -1) {
			target, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := page
			if target != "" {
				path = filepath.Join(filepath.Dir(page), target)
			}
			linked, err := os.Stat(path)
			if err != nil {
				t.Errorf("%s: %s is not there", page, link[1])
				continue
			}
			if anchor == "" || linked.IsDir() {
				continue
			}
			content, err := os.ReadFile(path)
			expect.NoError(t, err)
			if !slices.Contains(anchors(string(content)), anchor) {
				t.Errorf("%s: %s has no heading #%s", page, path, anchor)
			}
		}
	}
}

// A page that the README does not list is found by nobody.
func TestDocumentationIsListed(t *testing.T) {
	pages := documentation(t)
	for page := range pages {
		listed := strings.TrimPrefix(page, "../../")
		if strings.HasPrefix(listed, "docs/") && !strings.Contains(pages["../../README.md"], "("+listed+")") {
			t.Errorf("README.md does not link %s", listed)
		}
	}
}

// The page for newcomers shows the sample that it says is tested.
func TestDocumentationShowsTheSample(t *testing.T) {
	sample, err := os.ReadFile("../../config/samples/local/keycloak.yaml")
	expect.NoError(t, err)
	shown := strings.Split(documentation(t)["../../docs/your-system.md"], "```yaml\n")[1:]
	if len(shown) < 2 {
		t.Fatalf("%d manifests are shown, want the script and the experiment", len(shown))
	}
	for _, block := range shown {
		manifest, _, _ := strings.Cut(block, "```")
		if !strings.Contains(string(sample), manifest) {
			t.Errorf("the sample does not have, as it is shown,\n%s", manifest)
		}
	}
}

// What a page tells people to type exists: files that are applied, targets of
// make; and plans are made.
func TestDocumentationCommands(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	expect.NoError(t, err)
	planned := 0
	for page, text := range documentation(t) {
		for _, command := range typed.FindAllStringSubmatch(text, -1) {
			for _, file := range shippedFiles.FindAllString(command[1], -1) {
				if _, err := os.Stat("../../" + file); err != nil {
					t.Errorf("%s: %s: %s is not there", page, command[1], file)
				}
			}
			for _, target := range targetsOf(command[1]) {
				if !strings.Contains(string(makefile), "\n"+target+":") {
					t.Errorf("%s: %s: make has no target %s", page, command[1], target)
				}
			}
			if plan := planOf(command[1]); plan != nil {
				planned++
				if got := perflab(t, "", plan...); got.code != 0 {
					t.Errorf("%s: %s: %s", page, command[1], got.problems)
				}
			}
		}
	}
	if planned < 3 {
		t.Errorf("only %d plans were found in the documentation", planned)
	}
}

var (
	links        = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenced       = regexp.MustCompile("(?s)```.*?```")
	heading      = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	typed        = regexp.MustCompile(`(?m)^ *\$ (.*?)(?: +#.*)?$`)
	shippedFiles = regexp.MustCompile(`\b(?:config|hack|cmd)/[\w./-]+`)
)

// documentation is every page by its path.
func documentation(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	expect.NoError(t, err)
	pages := map[string]string{}
	for _, path := range append(paths, "../../README.md", "../../CONTRIBUTING.md", "../../k6/README.md", "../../hack/cluster/README.md", "../../hack/release/README.md", "../../docs/examples/README.md", "../../test/README.md", "../../test/archive/bench/README.md", "../../test/bench/scale/README.md", "../../test/bench/stats/README.md", "../../test/bench/topics/README.md") {
		text, err := os.ReadFile(path)
		expect.NoError(t, err)
		pages[path] = string(text)
	}
	return pages
}

func withoutCode(page string) string { return fenced.ReplaceAllString(page, "") }

// anchors are a page's headings as links name them.
func anchors(page string) []string {
	var found []string
	for _, line := range heading.FindAllStringSubmatch(withoutCode(page), -1) {
		plain := notInAnchors.ReplaceAllString(strings.ToLower(line[1]), "")
		found = append(found, strings.ReplaceAll(plain, " ", "-"))
	}
	return found
}

// targetsOf are the targets a command makes.
func targetsOf(command string) []string {
	words := strings.Fields(command)
	at := slices.Index(words, "make")
	if at < 0 {
		return nil
	}
	return slices.DeleteFunc(words[at+1:], func(word string) bool { return strings.Contains(word, "=") })
}

// planOf are the arguments of a command that plans what is shipped, as seen
// from this directory; nil for any other.
func planOf(command string) []string {
	words := strings.Fields(strings.TrimPrefix(command, "bin/"))
	if !strings.HasPrefix(strings.Join(words, " "), "perflab plan ") || !shippedFiles.MatchString(command) {
		return nil
	}
	for i, word := range words {
		if shippedFiles.MatchString(word) {
			words[i] = "../../" + word
		}
	}
	return words[1:]
}
