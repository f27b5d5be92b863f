// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"slices"

	"sigs.k8s.io/yaml"
)

// tier determines when a check runs.
type tier string

const (
	// tierTest is for checks that need no cluster and take seconds to minutes: make test
	// and every landing run them.
	tierTest tier = "test"
	// tierLanding is for checks that every landing runs as well.
	tierLanding tier = "landing"
	// tierTurn is for slow checks: a landing runs those that it may have broken and those with the
	// oldest run.
	tierTurn tier = "turn"
)

// check is a command that must succeed.
type check struct {
	Name string `json:"name"`
	// Run is the command, for bash.
	Run string `json:"run"`
	// Protects is what could break unnoticed without the check.
	Protects string `json:"protects"`
	Tier     tier   `json:"tier"`
	// Seconds is how long it takes on two idle cores with warm caches, for planning until
	// it has run here.
	Seconds int `json:"seconds"`
	// Own are the files whose change runs the check at once: paths from the root, of
	// files or directories.
	Own []string `json:"own,omitempty"`
	// Packages are go list patterns of the main module. A change of a dependency,
	// including those of tests, can break the check.
	Packages []string `json:"packages,omitempty"`
	// Alone is for checks that measure, or that load the whole machine.
	Alone bool `json:"alone,omitempty"`
}

// promise is one of the project's promises, with its tests by tier.
type promise struct {
	Promise string   `json:"promise"`
	Test    []string `json:"test,omitempty"`
	Landing []string `json:"landing,omitempty"`
	Turn    []string `json:"turn,omitempty"`
}

// catalogue is the file that lists all checks and promises.
type catalogue struct {
	Checks   []check   `json:"checks"`
	Promises []promise `json:"promises"`
}

func readCatalogue(file string) (*catalogue, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	read := &catalogue{}
	if err := yaml.UnmarshalStrict(text, read); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for i, one := range read.Checks {
		switch {
		case one.Name == "" || one.Run == "" || one.Protects == "" || one.Seconds == 0:
			return nil, fmt.Errorf("%s: check %d %q lacks name, run, protects or seconds", file, i, one.Name)
		case !slices.Contains([]tier{tierTest, tierLanding, tierTurn}, one.Tier):
			return nil, fmt.Errorf("%s: check %q has the tier %q: write test, landing or turn", file, one.Name, one.Tier)
		case slices.ContainsFunc(read.Checks[:i], func(other check) bool { return other.Name == one.Name }):
			return nil, fmt.Errorf("%s: two checks are called %q", file, one.Name)
		}
	}
	return read, nil
}
