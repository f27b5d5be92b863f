// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// group is a block of constants with its comment.
type group struct {
	heading, intro string
	reasons        []reason
}

// reason is a constant, split into the parts of its comment.
type reason struct {
	name, meaning, fix, on string
}

// groups are the API's blocks of conditions and reasons.
func groups(root string) ([]group, error) {
	path := filepath.Join(root, "api", "v1alpha1", "condition_types.go")
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("reading the reasons: %w", err)
	}
	var found []group
	for _, declaration := range file.Decls {
		if block, is := declaration.(*ast.GenDecl); is && block.Tok == token.CONST {
			found = append(found, groupOf(block))
		}
	}
	return found, nil
}

func groupOf(block *ast.GenDecl) group {
	heading, intro, _ := strings.Cut(flowing(block.Doc.Text()), ". ")
	found := group{heading: strings.TrimSuffix(heading, "."), intro: intro}
	for _, spec := range block.Specs {
		if value, is := spec.(*ast.ValueSpec); is {
			found.reasons = append(found.reasons, reasonOf(value))
		}
	}
	return found
}

func reasonOf(spec *ast.ValueSpec) reason {
	text, on, _ := strings.Cut(spec.Doc.Text(), "\nOn: ")
	meaning, fix, _ := strings.Cut(text, "\nFix: ")
	_, meaning, _ = strings.Cut(meaning, ": ")
	return reason{valueOf(spec), capitalized(meaning), capitalized(fix), strings.TrimSuffix(flowing(on), ".")}
}

// valueOf is the string value of a constant; empty if it is not a literal.
func valueOf(spec *ast.ValueSpec) string {
	if len(spec.Values) == 1 {
		if literal, is := spec.Values[0].(*ast.BasicLit); is {
			value, _ := strconv.Unquote(literal.Value)
			return value
		}
	}
	return ""
}

// flowing is a comment without its line breaks.
func flowing(comment string) string {
	return strings.Join(strings.Fields(comment), " ")
}

// plainWord matches an English word, as opposed to a name.
var plainWord = regexp.MustCompile(`^[a-z]+[.,:]?( |$)`)

// capitalized begins with a capital, unless it begins with a name.
func capitalized(comment string) string {
	text := flowing(comment)
	if !plainWord.MatchString(text) {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
