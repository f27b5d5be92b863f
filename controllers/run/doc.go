// SPDX-License-Identifier: Apache-2.0

// Package run does one PerfRun: it builds the environment, puts the loads on and
// gathers what they measured. phases.go has on one page what a run goes through.
package run
