// SPDX-License-Identifier: Apache-2.0

// Package controllers reconciles PerfExperiments and PerfRuns. A reconciler
// is a short list of steps; steps gather facts in a scope that lives for one
// pass, and one function per kind turns the facts into status, written once
// per pass. The operator keeps nothing between passes: the cluster is the
// memory, and it may be killed at any line.
package controllers
