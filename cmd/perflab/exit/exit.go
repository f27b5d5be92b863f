// SPDX-License-Identifier: Apache-2.0

// Package exit maps the errors of commands to exit codes.
package exit

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
	Failed         = 1
	Invalid        = 2
	Slips          = 3
	Stalled        = 4
	NotEquivalent  = 5
	Regression     = 6
	DigestMismatch = 7
	NoChain        = 8
	Timeout        = 9
)

// exits are the codes with their meanings and errors.
var exits = []struct {
	code    int
	meaning string
	errors  []error
}{
	{0, "success", nil},
	{Failed, "failed: bad flag, file or cluster", nil},
	{Invalid, "invalid input", []error{ErrInvalid, ErrUnusable, ErrNoExperiment, comparison.ErrRows, audit.ErrRows, importers.ErrFile, importers.ErrRecord, report.ErrInput, evidence.ErrManifest}},
	{Slips, "published deltas do not follow from the numbers (audit --fail)", []error{ErrSlips}},
	{Stalled, "the experiment is stalled: manual action required (run, status --watch)", []error{ErrStalled}},
	{NotEquivalent, "the baselines are not shown to be equivalent (compare)", []error{ErrNotEquivalent}},
	{Regression, "an arm is worse than the baseline (--fail-on)", []error{ErrRegression}},
	{DigestMismatch, "the records do not match their digests (verify)", []error{ErrDigestMismatch}},
	{NoChain, "there are no digests (verify)", []error{evidence.ErrNoChain, ErrNoDigests}},
	{Timeout, "timed out waiting for the experiment (run, status --watch with --timeout)", []error{ErrTimeout}},
}

// Code is the code of the first meaning that matches.
func Code(err error) int {
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
	return Failed
}

// Help lists the codes for --help.
func Help() string {
	var text strings.Builder
	text.WriteString("Exit codes, the same in all commands:\n")
	for _, one := range exits {
		fmt.Fprintf(&text, "  %d  %s\n", one.code, one.meaning)
	}
	return text.String()
}
