// SPDX-License-Identifier: Apache-2.0

// Package sentences_test checks a rule of the code: messages, warnings and errors are for people,
// and no code depends on their wording. Reasons, codes and fields are for programs.
package sentences_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

const root = "../.."

// exceptions are the files that read sentences, each with the reason.
var exceptions = map[string]string{
	"cmd/perflab/source/refusal.go":                 "the schema's validation reports the expected type and form only in the message",
	"internal/runs/earlier/earlier.go":              "earlier versions of PerfLab wrote facts only into sentences",
	"internal/text/digits/digits.go":                "sets the signs of numbers",
	"internal/text/prose/prose.go":                  "messages of other programs, of which the changing parts are cut",
	"internal/environment/events.go":                "the kubelet and controllers of Kubernetes report causes only in messages of events",
	"internal/environment/pods.go":                  "the kubelet reports runAsNonRoot only in the message",
	"internal/environment/jvm/log.go":               "lines of the JVM's log",
	"internal/kube/refusal.go":                      "gRPC reports the size of an answer only in the message",
	"internal/archive/stores/gcs/gcs.go":            "Cloud Storage reports a missing bucket only in the message",
	"internal/publish/sinks/sinks.go":               "TLS reports refused certificates as untyped errors",
	"internal/admission/fields.go":                  "strict decoding names unknown fields only in the message",
	"internal/measure/collector/sampler/refusal.go": "cuts what PostgreSQL reports out of an error",
	"internal/load/k6options/value.go":              "errors of a JavaScript parser have a first line",
	"controllers/component/brokers.go":              "the API server names the account only in the message",
}

// The rule holds in all code of the programs.
func TestSentencesAreNotRead(t *testing.T) {
	read := map[string]bool{}
	for _, found := range inTree(t, "internal", "controllers", "cmd") {
		name, err := filepath.Rel(root, found.at.Filename)
		expect.NoError(t, err)
		read[name] = true
		if exceptions[name] == "" {
			t.Errorf("%s:%d: %s reads a sentence: decide by a reason, a code or a field", name, found.at.Line, found.what)
		}
	}
	for name, cause := range exceptions {
		if !read[name] {
			t.Errorf("%s reads no sentence: remove the exception (%s)", name, cause)
		}
	}
}

// Code that reads a sentence is found; code that only passes on or compares sentences is not.
func TestReadingIsFound(t *testing.T) {
	for statement, want := range map[string]bool{
		`_ = strings.HasPrefix(condition.Message, "x")`:                                                          true,
		`_ = strings.HasPrefix(warning, beginning)`:                                                              true,
		`_ = strings.Contains(strings.ToLower(run.Status.Message), "x")`:                                         true,
		`_, _, _ = strings.Cut(status.Warnings[0], ": ")`:                                                        true,
		`_ = strings.TrimPrefix(found.Sentence, "left out ")`:                                                    true,
		`_ = strings.Contains(err.Error(), "x")`:                                                                 true,
		`_ = form.MatchString(warning)`:                                                                          true,
		`_ = form.FindStringSubmatch(condition.Message)`:                                                         true,
		`_ = form.ReplaceAllString(current.Message, "")`:                                                         true,
		`for _, one := range status.Warnings { _ = strings.HasSuffix(one, "x") }`:                                true,
		`for _, one := range slices.Concat(a.Warnings, b.Warnings) { if one == "x" { return } }`:                 true,
		`_ = slices.ContainsFunc(status.Warnings, func(one string) bool { return strings.HasPrefix(one, "x") })`: true,
		`_ = slices.ContainsFunc(status.Warnings, rendering.IsWarning)`:                                          true,
		`_ = condition.Message == "no run"`:                                                                      true,
		`_ = condition.Message != noRun`:                                                                         true,
		`_ = condition.Message == progress.NoRun`:                                                                true,
		`switch condition.Message { case "no run": }`:                                                            true,
		`_ = condition.Message == ""`:                                                                            false,
		`_ = condition.Message == other.Message`:                                                                 false,
		`_ = slices.Contains(status.Warnings, warning)`:                                                          false,
		`_ = condition.Reason == v1alpha1.ReasonNoRun`:                                                           false,
		`_ = strings.TrimSuffix(warning, ".")`:                                                                   false,
		`_ = strings.Join(status.Warnings, "; ")`:                                                                false,
		`_ = strings.HasPrefix(run.Name, "x")`:                                                                   false,
		`for _, one := range status.Loads { _ = strings.HasSuffix(one.Name, "x") }`:                              false,
		`_ = slices.ContainsFunc(status.Warnings, func(one Warning) bool { return one.Code == CodeOutlier && one.Message != "" })`: false,
	} {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "made.go", "package made\n\nconst noRun = \"no run\"\n\nfunc f() { "+statement+" }", parser.SkipObjectResolution)
		expect.NoError(t, err)
		constants := map[string]bool{"NoRun": true}
		addConstants(constants, file)
		if found := inFile(files, file, constants); (len(found) > 0) != want {
			t.Errorf("%s: found %v, want %t", statement, found, want)
		}
	}
}

// reading is a place that reads a sentence.
type reading struct {
	at   token.Position
	what string
}

// inTree returns the readings of the folders' files, except those of tests.
func inTree(t *testing.T, folders ...string) []reading {
	t.Helper()
	files, constants := token.NewFileSet(), map[string]bool{}
	var parsed []*ast.File
	for _, folder := range folders {
		expect.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && path == filepath.Join(root, "internal", "testing") {
				return filepath.SkipDir
			}
			if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err == nil {
				parsed = append(parsed, file)
				addConstants(constants, file)
			}
			return err
		}))
	}
	if len(parsed) < 500 {
		t.Errorf("only %d files were found", len(parsed))
	}
	var found []reading
	for _, file := range parsed {
		found = append(found, inFile(files, file, constants)...)
	}
	return found
}

// addConstants adds the names of a file's constants.
func addConstants(constants map[string]bool, file *ast.File) {
	ast.Inspect(file, func(node ast.Node) bool {
		if block, is := node.(*ast.GenDecl); is && block.Tok == token.CONST {
			for _, spec := range block.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					constants[name.Name] = true
				}
			}
		}
		return true
	})
}

// inFile returns the readings of a file.
func inFile(files *token.FileSet, file *ast.File, constants map[string]bool) []reading {
	s := &searcher{constants: constants, elements: map[string][]ast.Node{}}
	ast.Inspect(file, func(node ast.Node) bool {
		s.noteElements(node)
		return true
	})
	var found []reading
	ast.Inspect(file, func(node ast.Node) bool {
		if what := s.read(node); what != "" {
			found = append(found, reading{files.Position(node.Pos()), what})
		}
		return true
	})
	return found
}

// searcher recognizes sentences by their names: types would need every dependency.
type searcher struct {
	constants map[string]bool
	// elements are the variables that hold elements of lists of sentences, with their scopes.
	elements map[string][]ast.Node
}

// noteElements records the variable of a loop over sentences, and the parameter of a function that
// is called for each.
func (s *searcher) noteElements(node ast.Node) {
	switch node := node.(type) {
	case *ast.RangeStmt:
		if value, is := node.Value.(*ast.Ident); is && isList(node.X) {
			s.elements[value.Name] = append(s.elements[value.Name], node.Body)
		}
	case *ast.CallExpr:
		if len(node.Args) != 2 || !isList(node.Args[0]) {
			return
		}
		if called, is := node.Args[1].(*ast.FuncLit); is {
			for _, parameter := range called.Type.Params.List {
				for _, name := range parameter.Names {
					s.elements[name.Name] = append(s.elements[name.Name], called.Body)
				}
			}
		}
	}
}

var (
	listName     = regexp.MustCompile(`(^w|W)arnings$|^Notices$|^sentences$`)
	sentenceName = regexp.MustCompile(`^(warning|sentence|message|detail|Warning|Sentence|Message|Detail)$`)
	// readers of package strings, and of package regexp, read their first argument.
	readers = regexp.MustCompile(`^(HasPrefix|HasSuffix|Contains|ContainsAny|Cut|CutPrefix|CutSuffix|TrimPrefix|TrimSuffix|Index|LastIndex|EqualFold|Split|SplitN|SplitSeq|Replace|ReplaceAll)$`)
	forms   = regexp.MustCompile(`^(MatchString|FindString\w*|FindAllString\w*|ReplaceAllString\w*)$`)
	// punctuation matches text without words.
	punctuation = regexp.MustCompile(`^"[^A-Za-z]*"$`)
)

// isList reports whether an expression is a list of sentences.
func isList(expression ast.Expr) bool {
	switch expression := ast.Unparen(expression).(type) {
	case *ast.Ident:
		return listName.MatchString(expression.Name)
	case *ast.SelectorExpr:
		return listName.MatchString(expression.Sel.Name)
	case *ast.CallExpr:
		called, is := expression.Fun.(*ast.SelectorExpr)
		return is && slices.Contains([]string{"Concat", "Clone"}, called.Sel.Name) && slices.ContainsFunc(expression.Args, isList)
	}
	return false
}

// isSentence reports whether an expression is a sentence.
func (s *searcher) isSentence(expression ast.Expr) bool {
	switch expression := ast.Unparen(expression).(type) {
	case *ast.Ident:
		isElement := slices.ContainsFunc(s.elements[expression.Name], func(within ast.Node) bool {
			return within.Pos() <= expression.Pos() && expression.End() <= within.End()
		})
		return isElement || sentenceName.MatchString(expression.Name)
	case *ast.SelectorExpr:
		return sentenceName.MatchString(expression.Sel.Name)
	case *ast.IndexExpr:
		return isList(expression.X)
	case *ast.CallExpr:
		called, is := expression.Fun.(*ast.SelectorExpr)
		if !is {
			return false
		}
		if len(expression.Args) == 0 {
			return called.Sel.Name == "Error"
		}
		return isPackage(called, "strings") && s.isSentence(expression.Args[0])
	}
	return false
}

func isPackage(called *ast.SelectorExpr, name string) bool {
	of, is := called.X.(*ast.Ident)
	return is && of.Name == name
}

// read describes how a node reads a sentence; empty if it does not.
func (s *searcher) read(node ast.Node) string {
	switch node := node.(type) {
	case *ast.CallExpr:
		return s.readByCall(node)
	case *ast.BinaryExpr:
		isComparison := node.Op == token.EQL || node.Op == token.NEQ
		if isComparison && (s.isSentence(node.X) && s.isWording(node.Y) || s.isSentence(node.Y) && s.isWording(node.X)) {
			return node.Op.String()
		}
	case *ast.SwitchStmt:
		if node.Tag != nil && s.isSentence(node.Tag) {
			return "switch"
		}
	}
	return ""
}

func (s *searcher) readByCall(call *ast.CallExpr) string {
	called, is := call.Fun.(*ast.SelectorExpr)
	if !is || len(call.Args) == 0 {
		return ""
	}
	name := called.Sel.Name
	switch first := call.Args[0]; {
	case isPackage(called, "strings") && readers.MatchString(name) && s.isSentence(first) && !isPunctuation(call),
		!isPackage(called, "strings") && forms.MatchString(name) && s.isSentence(first),
		isPackage(called, "slices") && strings.HasSuffix(name, "Func") && len(call.Args) == 2 && isList(first) && isNamed(call.Args[1]):
		return fmt.Sprintf("%s.%s", receiver(called), name)
	}
	return ""
}

func receiver(called *ast.SelectorExpr) string {
	if of, is := called.X.(*ast.Ident); is {
		return of.Name
	}
	return "…"
}

// isPunctuation reports whether a call cuts only punctuation off.
func isPunctuation(call *ast.CallExpr) bool {
	called, isCall := call.Fun.(*ast.SelectorExpr)
	literal, is := call.Args[len(call.Args)-1].(*ast.BasicLit)
	return isCall && strings.HasPrefix(called.Sel.Name, "Trim") && is && punctuation.MatchString(literal.Value)
}

// isNamed reports whether an argument is a function that is declared elsewhere.
func isNamed(argument ast.Expr) bool {
	_, is := argument.(*ast.SelectorExpr)
	return is
}

// isWording reports whether an expression is a text that a person wrote.
func (s *searcher) isWording(expression ast.Expr) bool {
	switch expression := ast.Unparen(expression).(type) {
	case *ast.BasicLit:
		return expression.Kind == token.STRING && expression.Value != `""` && expression.Value != "``"
	case *ast.Ident:
		return s.constants[expression.Name]
	case *ast.SelectorExpr:
		return s.constants[expression.Sel.Name]
	}
	return false
}
