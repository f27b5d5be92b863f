// SPDX-License-Identifier: Apache-2.0

// Package run executes a PerfRun: it provisions the environment, runs the loads and collects
// the results. phases.go lists the steps of a run on one page.
package run
