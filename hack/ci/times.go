// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// slowSeconds is the minimum duration of a test in the ledger.
const slowSeconds = 3

// slowTest is a slow test.
type slowTest struct {
	pkg, name string
	seconds   float64
}

// times prints the ledger: each check and each slow test with its seconds, what it
// protects, and the other tests that do.
func (o *options) times(read *catalogue, out io.Writer) error {
	records, err := readRecords(filepath.Join(o.directory(), "passed.json"))
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(out, "| check | tier | seconds | protects |\n|---|---|---|---|")
	total := map[tier]int{}
	for _, c := range read.Checks {
		seconds := "not run here"
		if last, known := records.Passed[c.Name]; known {
			seconds = fmt.Sprint(last.Seconds)
			total[c.Tier] += last.Seconds
		}
		_, _ = fmt.Fprintf(out, "| %s | %s | %s | %s |\n", c.Name, c.Tier, seconds, c.Protects)
	}
	_, _ = fmt.Fprintf(out, "\nOne after another: make test %d s, further ones of each landing %d s, those that take turns %d s.\n",
		total[tierTest], total[tierLanding], total[tierTurn])
	for _, c := range read.Checks {
		if err := o.slowTests(read, &c, out); err != nil {
			return err
		}
	}
	return nil
}

// slowTests prints the slow tests of one check.
func (o *options) slowTests(read *catalogue, c *check, out io.Writer) error {
	slow, err := readEvents(filepath.Join(o.directory(), "events", c.Name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(slow) == 0 {
		return nil
	}
	_, _ = fmt.Fprintf(out, "\n## %s: tests above %d s\n\n| test | seconds | protects | so does |\n|---|---|---|---|\n", c.Name, slowSeconds)
	for _, test := range slow {
		directory := strings.TrimPrefix(test.pkg, "perflab.dev/perflab/")
		_, _ = fmt.Fprintf(out, "| %s %s | %.1f | %s | %s |\n", directory, test.name, test.seconds, synopsis(directory, test.name), read.others(test.name))
	}
	return nil
}

// others returns the other tests of the same promises.
func (read *catalogue) others(test string) string {
	top, _, _ := strings.Cut(test, "/")
	var found []string
	for _, p := range read.Promises {
		all := slices.Concat(p.Test, p.Landing, p.Turn)
		if !slices.Contains(all, top) {
			continue
		}
		for _, other := range all {
			if other != top && !slices.Contains(found, other) {
				found = append(found, other)
			}
		}
	}
	return strings.Join(found, ", ")
}

// readEvents returns the slow tests in the output of go test -json, slowest first. A test
// includes its subtests.
func readEvents(file string) ([]slowTest, error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close() //nolint:errcheck // It was only read.
	var slow []slowTest
	lines := bufio.NewScanner(opened)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct {
			Action, Package, Test string
			Elapsed               float64
		}
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.Action != "pass" || event.Test == "" || strings.Contains(event.Test, "/") {
			continue
		}
		if event.Elapsed >= slowSeconds {
			slow = append(slow, slowTest{event.Package, event.Test, event.Elapsed})
		}
	}
	slices.SortFunc(slow, func(a, b slowTest) int { return int(1000 * (b.seconds - a.seconds)) })
	return slow, lines.Err()
}

// synopsis is the first sentence of a test's comment.
func synopsis(directory, test string) string {
	files, err := filepath.Glob(filepath.Join(directory, "*_test.go"))
	if err != nil {
		return ""
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, declared := range parsed.Decls {
			if function, is := declared.(*ast.FuncDecl); is && function.Name.Name == test {
				return new(doc.Package).Synopsis(function.Doc.Text())
			}
		}
	}
	return ""
}
