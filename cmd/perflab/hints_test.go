// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/testing/expect"
)

// Commands, variables and files in messages exist.
func TestHintsExist(t *testing.T) {
	known := newHints(t)
	found := 0
	for place, text := range messages(t) {
		known.here = filepath.Dir(place)
		for _, hint := range known.in(text) {
			found++
			if hint.missing {
				t.Errorf("%s: %q: %s", place, hint.text, hint.why)
			}
		}
	}
	if found < 150 {
		t.Errorf("only %d hints were found", found)
	}
}

// Missing ones are found, for each kind.
func TestHintsFindMissing(t *testing.T) {
	known := newHints(t)
	known.here = "../../cmd/perflab"
	for text, missing := range map[string]bool{
		"it is written by make cluster or kind":                true,
		"it is written by make cluster-up or kind":             false,
		"make it with the key":                                 false,
		"run perflab statuses NAME":                            true,
		"run perflab status NAME --wait":                       true,
		"run perflab status NAME --watch":                      false,
		"run perflab archive indexes":                          true,
		"run perflab archive index --from-objects":             false,
		"run perflab report x -o md | perflab audit --faill -": true,
		"give it with --max-memories":                          true,
		"give it with --max-memory":                            false,
		"list experiments with kubectl get perfexperience -A":  true,
		"list experiments with kubectl get perfexperiments -A": false,
		"see docs/installation.md":                             true,
		"see docs/install.md":                                  false,
		"see docs/install.md#no-such-heading":                  true,
	} {
		isMissing := slices.ContainsFunc(known.in(text), func(h hint) bool { return h.missing })
		expect.Equal(t, missing, isMissing, "%q", text)
	}
}

// hint is something that a message names, and whether it is missing.
type hint struct {
	text, why string
	missing   bool
}

// hints finds the names in messages.
type hints struct {
	root      *cobra.Command
	makefile  string
	resources []string
	pages     map[string]string
	// flags are the operator's.
	flags []string
	// here is the directory of the message. A flag without a command belongs to its
	// program.
	here string
}

func newHints(t *testing.T) hints {
	t.Helper()
	makefile, err := os.ReadFile("../../Makefile")
	expect.NoError(t, err)
	known := hints{root: newRoot(), makefile: string(makefile), pages: documentation(t)}
	operator := map[string]string{}
	addTexts(t, "../../cmd/manager/main.go", operator)
	addTexts(t, "../../cmd/manager/archives.go", operator)
	known.flags = slices.Collect(maps.Values(operator))
	known.root.InitDefaultHelpCmd()
	known.root.InitDefaultCompletionCmd()
	kinds, err := filepath.Glob("../../config/crd/perflab.dev_*.yaml")
	expect.NoError(t, err)
	for _, path := range kinds {
		text, err := os.ReadFile(path)
		expect.NoError(t, err)
		var definition apiextensionsv1.CustomResourceDefinition
		expect.NoError(t, yaml.Unmarshal(text, &definition))
		names := definition.Spec.Names
		known.resources = append(known.resources, append(names.ShortNames, names.Plural, names.Singular)...)
	}
	return known
}

var (
	makeHint    = regexp.MustCompile(`\bmake ([a-z][a-z0-9-]*)`)
	commandHint = regexp.MustCompile(`\bperflab ([a-z]+[^|;:,")\n&]*)`)
	foreignHint = regexp.MustCompile(`\b(?:helm|kubectl (?:[^p]|p[^e])|k6|go test) ?[^|;,)\n]*`)
	flagHint    = regexp.MustCompile(`(?:^|[\s("])(--[a-z][a-z-]*[a-z])`)
	kindHint    = regexp.MustCompile(`\bkubectl [^|;,)\n]*?\b(perf[a-z]+)`)
	pathHint    = regexp.MustCompile(`\b((?:docs|config|hack|charts)/[\w./-]*\w)(#[\w-]+)?`)
	// notTargets are words that follow "make" as a verb.
	notTargets = strings.Fields("a an experiments it no one room sets sure the them this two")
	// notCommands are words that follow "perflab" as a noun.
	notCommands = strings.Fields("and bin/perflab does gives is knows release that")
)

// in finds the hints in a text.
func (h hints) in(text string) []hint {
	var found []hint
	for _, match := range makeHint.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(notTargets, match[1]) {
			found = append(found, hint{match[0], "make has no such target", !strings.Contains(h.makefile, "\n"+match[1]+":")})
		}
	}
	own := foreignHint.ReplaceAllString(text, "")
	for _, match := range commandHint.FindAllStringSubmatch(own, -1) {
		if words := strings.Fields(match[1]); !slices.Contains(notCommands, words[0]) {
			found = append(found, h.command(words)...)
		}
	}
	for _, match := range kindHint.FindAllStringSubmatch(text, -1) {
		if match[1] != "perflab" {
			found = append(found, hint{match[0], "no kind is called so", !slices.Contains(h.resources, match[1])})
		}
	}
	for _, match := range pathHint.FindAllStringSubmatch(text, -1) {
		found = append(found, h.path(match[1], match[2]))
	}
	return append(found, h.ownFlags(commandHint.ReplaceAllString(own, ""))...)
}

// command checks the words after "perflab": a command and its flags.
func (h hints) command(words []string) []hint {
	line := "perflab " + strings.Join(words, " ")
	named, rest, err := h.root.Find(words)
	if err != nil || named == h.root {
		return []hint{{line, "there is no such command", true}}
	}
	if named.HasAvailableSubCommands() && len(rest) > 0 {
		return []hint{{line, "there is no such command below it", true}}
	}
	found := []hint{{line, "", false}}
	for _, word := range rest {
		if match := flagHint.FindStringSubmatch(word); match != nil {
			found = append(found, hint{line, "the command has no flag " + match[1], flagOf(named, match[1]) == nil})
		}
	}
	return found
}

// ownFlags checks flags without a command.
func (h hints) ownFlags(text string) []hint {
	var has func(flag string) bool
	switch filepath.Base(h.here) {
	case "perflab":
		has = func(flag string) bool { return hasFlag(h.root, flag) }
	case "manager":
		has = func(flag string) bool { return slices.Contains(h.flags, strings.TrimPrefix(flag, "--")) }
	default:
		return nil
	}
	var found []hint
	for _, match := range flagHint.FindAllStringSubmatch(text, -1) {
		found = append(found, hint{match[1], "there is no such flag", !has(match[1])})
	}
	return found
}

func (h hints) path(path, anchor string) hint {
	_, err := os.Stat("../../" + path)
	lacks := anchor != "" && !slices.Contains(anchors(h.pages["../../"+path]), strings.TrimPrefix(anchor, "#"))
	return hint{path + anchor, "it is not there", err != nil || lacks}
}

func flagOf(command *cobra.Command, flag string) *pflag.Flag {
	command.InitDefaultHelpFlag()
	return command.Flag(strings.TrimPrefix(flag, "--"))
}

func hasFlag(command *cobra.Command, flag string) bool {
	return flagOf(command, flag) != nil || slices.ContainsFunc(command.Commands(), func(c *cobra.Command) bool { return hasFlag(c, flag) })
}

// messages are the strings in the source of shipped programs, by location.
func messages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, directory := range []string{"api", "cmd", "controllers", "hack", "internal", "k6", "payload", "sample", "test"} {
		err := filepath.WalkDir("../../"+directory, func(path string, entry os.DirEntry, err error) error {
			if entry.IsDir() && path == "../../internal/testing" {
				return filepath.SkipDir
			}
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			addTexts(t, path, found)
			return nil
		})
		expect.NoError(t, err)
	}
	return found
}

// addTexts adds the strings of a file.
func addTexts(t *testing.T, path string, found map[string]string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	expect.NoError(t, err)
	ast.Inspect(file, func(node ast.Node) bool {
		literal, is := node.(*ast.BasicLit)
		if !is || literal.Kind != token.STRING {
			_, imports := node.(*ast.ImportSpec)
			return !imports
		}
		text, err := strconv.Unquote(literal.Value)
		expect.NoError(t, err)
		found[files.Position(literal.Pos()).String()] = text
		return true
	})
}
