// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A person who looks a reason up finds it, and finds none that is no more.
func TestDocumentationOfReasons(t *testing.T) {
	page, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, isValue := node.(*ast.ValueSpec)
		if !isValue || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
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
