// SPDX-License-Identifier: Apache-2.0

// Package experiment plans the runs of a PerfExperiment, starts one after the other, makes
// artifacts from their results, and finally deletes the environment.
package experiment
