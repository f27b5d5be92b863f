// SPDX-License-Identifier: Apache-2.0

package exit

import "errors"

// ErrOption means that the value of a flag is invalid.
var ErrOption = errors.New("invalid option")

// ErrInvalid means that the cluster would refuse a manifest.
var ErrInvalid = errors.New("the manifest is invalid")

// ErrUnusable means that no command can read a file, whatever its content.
var ErrUnusable = errors.New("the file is unusable")

// ErrNoExperiment means that files have no experiment to plan or to run.
var ErrNoExperiment = errors.New("the files have no PerfExperiment: add one with -f experiment.yaml")

// ErrFormat means that a command does not have the output format.
var ErrFormat = errors.New("unknown output format")

// ErrSlips means that a delta does not follow, with --fail.
var ErrSlips = errors.New("published deltas do not follow from the numbers next to them")

// ErrRegression means that an arm or a release is worse, with --fail-on.
var ErrRegression = errors.New("an arm is worse than the baseline")

// ErrStalled means that an experiment needs manual action.
var ErrStalled = errors.New("the experiment is stalled: manual action required")

// ErrTimeout means that --timeout has passed.
var ErrTimeout = errors.New("timed out")

// ErrNotEquivalent means that two experiments can't be compared, because their
// baselines are not shown to be equivalent.
var ErrNotEquivalent = errors.New("the baselines are not shown to be equivalent, so no arms are compared")

// ErrNoDigests means that no digests were recorded, because PerfLab did not
// measure the experiment.
var ErrNoDigests = errors.New("no digests were recorded")

// ErrDigestMismatch means that a record differs from its digest.
var ErrDigestMismatch = errors.New("the digests do not match")
