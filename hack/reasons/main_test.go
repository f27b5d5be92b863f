// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/internal/testing/expect"
)

const root = "../.."

// The page matches the comments.
func TestReasonReference(t *testing.T) {
	want, err := reference(root)
	expect.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(root, "docs", "reasons.md"))
	expect.NoError(t, err)
	if difference := cmp.Diff(want, string(page)); difference != "" {
		t.Errorf("docs/reasons.md is not current (- lacks, + has too much): run make generate\n%s", difference)
	}
}

// The page has the meaning and the objects of each reason.
func TestReasonsAreDocumented(t *testing.T) {
	all := allReasons(t)
	if len(all) < 100 {
		t.Errorf("only %d conditions and reasons were found in the API", len(all))
	}
	places := []string{"components", "events", "status.analysis.stopped", "status.artifacts", "status.comparisons", "PerfExperiment", "PerfRun", "PerfSchedule", "the workload"}
	conditions, err := groups(root)
	expect.NoError(t, err)
	for _, condition := range conditions[0].reasons {
		places = append(places, condition.name)
	}
	for _, one := range all {
		if one.name == "" || one.meaning == "" {
			t.Errorf("the comment of %q does not say what it means", one.name)
		}
		for place := range strings.SplitSeq(one.on, ", ") {
			if !slices.Contains(places, place) {
				t.Errorf("the comment of %s: On: %q is no condition and no kind", one.name, place)
			}
		}
	}
}

func allReasons(t *testing.T) []reason {
	t.Helper()
	found, err := groups(root)
	expect.NoError(t, err)
	var all []reason
	for _, one := range found {
		all = append(all, one.reasons...)
	}
	return all
}

// The reference has all reasons of events.
func TestEventsAreDocumented(t *testing.T) {
	all, found := allReasons(t), eventReasons(t)
	if len(found) < 15 {
		t.Errorf("only %d events were found", len(found))
	}
	for name, place := range found {
		if !slices.ContainsFunc(all, func(one reason) bool { return one.name == name }) {
			t.Errorf("%s: api/v1alpha1/condition_types.go has no constant for the event %s", place, name)
		}
	}
}

// eventReasons returns the literal reasons of events in controllers, with their positions.
func eventReasons(t *testing.T) map[string]token.Position {
	t.Helper()
	found, files := map[string]token.Position{}, token.NewFileSet()
	expect.NoError(t, filepath.WalkDir(filepath.Join(root, "controllers"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err == nil {
			ast.Inspect(file, func(node ast.Node) bool {
				if call, is := node.(*ast.CallExpr); is {
					addEventReason(found, files, call)
				}
				return true
			})
		}
		return err
	}))
	return found
}

var camelCase = regexp.MustCompile(`^"([A-Z][A-Za-z]+)"$`)

// addEventReason finds the reason that follows the kind of an event.
func addEventReason(found map[string]token.Position, files *token.FileSet, call *ast.CallExpr) {
	for i, argument := range call.Args[:max(0, len(call.Args)-1)] {
		kind, is := argument.(*ast.SelectorExpr)
		if !is || !strings.HasPrefix(kind.Sel.Name, "EventType") {
			continue
		}
		if literal, is := call.Args[i+1].(*ast.BasicLit); is {
			if name := camelCase.FindStringSubmatch(literal.Value); name != nil {
				found[name[1]] = files.Position(literal.Pos())
			}
		}
	}
}

// The parts of a comment become a row, with fields and paths marked up.
func TestCommentsBecomeText(t *testing.T) {
	for comment, want := range map[string]string{
		"raise deadlines.environment.":          "Raise `deadlines.environment`.",
		"k6 exited.":                            "k6 exited.",
		"`perflab resume NAME` continues.":      "`perflab resume NAME` continues.",
		"see the\nmodes (docs/kafka.md#modes).": "See the modes ([Modes](kafka.md#modes)).",
		"see k6/README.md#how-a-load-ends.":     "See [How a load ends](../k6/README.md#how-a-load-ends).",
		"see docs/none.md#nowhere.":             "See [docs/none.md#nowhere](none.md#nowhere).",
	} {
		expect.Equal(t, want, linked(root, capitalized(comment)), "%q", comment)
	}
}
