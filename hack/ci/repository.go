// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// observe returns the input of a plan. Without base, changes count from the commit at
// which each check last passed on this machine.
func observe(checks []check, records *records, base string) (*state, error) {
	commits, err := git("rev-list", "--count", "HEAD")
	if err != nil {
		return nil, err
	}
	s := &state{passed: records.Passed, changed: map[string][]string{}, depends: map[string]map[string]bool{}}
	if s.commits, err = strconv.Atoi(commits); err != nil {
		return nil, err
	}
	for i := range checks {
		c := &checks[i]
		from := base
		if from == "" {
			from = records.Passed[c.Name].Commit
		}
		if c.Tier != tierTurn || from == "" {
			continue
		}
		changed, err := changedSince(from)
		if err != nil {
			return nil, err
		}
		if changed != nil {
			s.changed[c.Name] = changed
		}
		if s.depends[c.Name], err = dependencies(c); err != nil {
			return nil, fmt.Errorf("check %s: %w", c.Name, err)
		}
	}
	return s, nil
}

// changedSince returns the files in which the working tree differs from a commit; nil if the
// repository has no such commit.
func changedSince(commit string) ([]string, error) {
	if _, err := git("cat-file", "-e", commit+"^{commit}"); err != nil {
		return nil, nil
	}
	tracked, err := git("diff", "--name-only", "--no-renames", commit)
	if err != nil {
		return nil, err
	}
	untracked, err := git("ls-files", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	files := slices.Concat(strings.Fields(tracked), strings.Fields(untracked))
	if files == nil {
		files = []string{}
	}
	return files, nil
}

// dependencies are the project's directories that the packages of a check depend on,
// from the root.
func dependencies(c *check) (map[string]bool, error) {
	found := map[string]bool{}
	if len(c.Packages) == 0 {
		return found, nil
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	arguments := append([]string{"list", "-deps", "-test", "-f", "{{if not .Standard}}{{.Dir}}{{end}}"}, c.Packages...)
	listed, err := output("go", arguments...)
	if err != nil {
		return nil, err
	}
	for directory := range strings.Lines(listed) {
		if inside, err := filepath.Rel(root, strings.TrimSpace(directory)); err == nil && filepath.IsLocal(inside) {
			found[filepath.ToSlash(inside)] = true
		}
	}
	return found, nil
}

func git(arguments ...string) (string, error) { return output("git", arguments...) }

func output(name string, arguments ...string) (string, error) {
	var complaint bytes.Buffer
	command := exec.Command(name, arguments...)
	command.Stderr = &complaint
	printed, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(arguments, " "), err, complaint.String())
	}
	return strings.TrimSpace(string(printed)), nil
}

// records are the passes on this machine.
type records struct {
	file   string
	Passed map[string]pass `json:"passed"`
}

func readRecords(file string) (*records, error) {
	read := &records{file: file, Passed: map[string]pass{}}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return read, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, read); err != nil {
		return nil, fmt.Errorf("%s: %w: delete it to run all checks", file, err)
	}
	return read, nil
}

// note records a pass. For a working tree with changes, only its time is recorded.
func (r *records) note(name string, took time.Duration, now time.Time) error {
	head, err := git("rev-parse", "HEAD")
	if err != nil {
		return err
	}
	dirty, err := git("status", "--porcelain")
	if err != nil {
		return err
	}
	one := r.Passed[name]
	one.Seconds = max(1, int(took.Seconds()))
	if dirty == "" {
		one.Commit, one.At = head, now
	}
	r.Passed[name] = one
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(r.file+".partial", text, 0o644); err != nil {
		return err
	}
	return os.Rename(r.file+".partial", r.file)
}
