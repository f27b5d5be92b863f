// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"perflab.dev/perflab/internal/audit"
	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/elsewhere"
	"perflab.dev/perflab/internal/evidence"
	"perflab.dev/perflab/internal/report"
)

// Exit codes, for scripts: each has one meaning in all commands.
const (
	exitFailed     = 1
	exitInvalid    = 2
	exitSlips      = 3
	exitStalled    = 4
	exitUnlike     = 5
	exitRegression = 6
	exitBroken     = 7
	exitNoChain    = 8
	exitTimeout    = 9
)

// exits are the codes with their meanings, and the errors that end with them.
var exits = []struct {
	code    int
	meaning string
	errors  []error
}{
	{0, "it is done", nil},
	{exitFailed, "it could not be done: an option, a file or the cluster is in the way", nil},
	{exitInvalid, "what was read can't be used: the cluster would refuse it, or it is not what it should be", []error{errInvalid, errUnusable, errNoExperiment, comparison.ErrRows, audit.ErrRows, elsewhere.ErrFile, elsewhere.ErrRecord, report.ErrInput, evidence.ErrManifest}},
	{exitSlips, "published numbers don't follow (audit --fail)", []error{errSlips}},
	{exitStalled, "the experiment is stalled: manual action required (run, status --watch)", []error{errStalled}},
	{exitUnlike, "two experiments' baselines could not be shown to be alike (compare)", []error{errUnlike}},
	{exitRegression, "an arm is worse than the baseline (--fail-on)", []error{errRegression}},
	{exitBroken, "what was recorded is not what it was (verify)", []error{errBroken}},
	{exitNoChain, "nobody kept digests of what was recorded (verify)", []error{evidence.ErrNoChain, errUnproved}},
	{exitTimeout, "the experiment was not over in time (run, status --watch with --timeout)", []error{errTimeout}},
}

// exitCode is that of the first meaning an error has.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	for _, one := range exits {
		for _, known := range one.errors {
			if errors.Is(err, known) {
				return one.code
			}
		}
	}
	return exitFailed
}

// exitHelp lists the codes for --help.
func exitHelp() string {
	var text strings.Builder
	text.WriteString("Exit codes, the same in all commands:\n")
	for _, one := range exits {
		fmt.Fprintf(&text, "  %d  %s\n", one.code, one.meaning)
	}
	return text.String()
}
