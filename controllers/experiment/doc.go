// SPDX-License-Identifier: Apache-2.0

// Package experiment plans the runs of a PerfExperiment, starts one after the
// other, sums up what they gave, and takes the environment down in the end.
package experiment
