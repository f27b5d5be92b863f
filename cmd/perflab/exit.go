// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"perflab.dev/perflab/internal/importers"
	"perflab.dev/perflab/internal/inference/audit"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/evidence"
)

// Exit codes, for scripts: each has the same meaning in all commands.
const (
	exitFailed         = 1
	exitInvalid        = 2
	exitSlips          = 3
	exitStalled        = 4
	exitNotEquivalent  = 5
	exitRegression     = 6
	exitDigestMismatch = 7
	exitNoChain        = 8
	exitTimeout        = 9
)

// exits are the codes with their meanings and errors.
var exits = []struct {
	code    int
	meaning string
	errors  []error
}{
	{0, "success", nil},
	{exitFailed, "failed: bad flag, file or cluster", nil},
	{exitInvalid, "invalid input", []error{errInvalid, errUnusable, errNoExperiment, comparison.ErrRows, audit.ErrRows, importers.ErrFile, importers.ErrRecord, report.ErrInput, evidence.ErrManifest}},
	{exitSlips, "published deltas do not follow from the numbers (audit --fail)", []error{errSlips}},
	{exitStalled, "the experiment is stalled: manual action required (run, status --watch)", []error{errStalled}},
	{exitNotEquivalent, "the baselines are not shown to be equivalent (compare)", []error{errNotEquivalent}},
	{exitRegression, "an arm is worse than the baseline (--fail-on)", []error{errRegression}},
	{exitDigestMismatch, "the records do not match their digests (verify)", []error{errDigestMismatch}},
	{exitNoChain, "there are no digests (verify)", []error{evidence.ErrNoChain, errNoDigests}},
	{exitTimeout, "timed out waiting for the experiment (run, status --watch with --timeout)", []error{errTimeout}},
}

// exitCode is the code of the first meaning that matches.
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
