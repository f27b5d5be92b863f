// SPDX-License-Identifier: Apache-2.0

// Package view serves the live page of a running experiment: its progress, its current run and
// its results so far, and the report after it completes. Pure functions build the page from a
// Snapshot. The handlers answer GET and HEAD, change nothing, and show only what experiments
// and runs contain.
package view
